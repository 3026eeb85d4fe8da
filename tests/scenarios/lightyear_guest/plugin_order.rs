//! Order of lightyear's plugins, the game's protocol and the suite.

use std::{env, process::Command};

use bevy_unlag::{
    core::{SetupDiagnostics, SetupIssue},
    net::ProtocolMismatch,
};
use serde::{Deserialize, Serialize};

use super::*;

/// A component of the game's own.
#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Flag(u32);

/// A message of the game's own.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Shout(u32);

/// A channel of the game's own.
struct ShoutChannel;

fn component(app: &mut App) {
    app.component::<Flag>().replicate();
}

fn message(app: &mut App) {
    app.register_message::<Shout>().add_direction(NetworkDirection::Bidirectional);
}

fn channel(app: &mut App) {
    let settings = ChannelSettings { mode: ChannelMode::UnorderedUnreliable, ..default() };
    app.add_channel::<ShoutChannel>(settings).add_direction(NetworkDirection::Bidirectional);
}

fn protocol(app: &mut App) {
    component(app);
    message(app);
    channel(app);
}

/// Reports of the handshake.
#[derive(Resource, Default)]
struct Mismatches(Vec<String>);

/// Place of the game's own protocol, on the server and on the client.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Protocol {
    BeforeLightyear,
    BeforeSuite,
    AfterSuite,
}

/// A lightyear game with a protocol of its own, and a server that sends a flag.
fn play_with_protocol(register: fn(&mut App), on_server: Protocol, on_client: Protocol) -> SteppedApps {
    let mut apps = [headless_app(), headless_app()];
    let register_at = |apps: &mut [App; 2], place: Protocol| {
        for (app, own) in apps.iter_mut().zip([on_server, on_client]) {
            if own == place {
                register(app);
            }
        }
    };
    register_at(&mut apps, Protocol::BeforeLightyear);
    apps[0].add_plugins(ServerPlugins { tick_duration: TICK });
    apps[1].add_plugins(ClientPlugins { tick_duration: TICK });
    register_at(&mut apps, Protocol::BeforeSuite);
    let [server, client] = &mut apps;
    add_suite(server, client);
    register_at(&mut apps, Protocol::AfterSuite);
    let [mut server, mut client] = apps;
    server.add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Flag(7), Replicate::to_clients(NetworkTarget::All)));
    });
    client.init_resource::<Mismatches>().add_systems(
        Last,
        |mut found: MessageReader<ProtocolMismatch>, mut mismatches: ResMut<Mismatches>| {
            mismatches.0.extend(found.read().map(ToString::to_string));
        },
    );
    run_four_seconds(server, client)
}

/// Flags that the client knows.
fn flags(game: &mut SteppedApps) -> Vec<Flag> {
    let world = game.clients[0].world_mut();
    world.query::<&Flag>().iter(world).cloned().collect()
}

fn mismatches(game: &SteppedApps) -> &[String] {
    &game.clients[0].world().resource::<Mismatches>().0
}

/// Reports of the client's diagnostics about registrations.
fn registrations(game: &SteppedApps) -> Vec<String> {
    let all = game.clients[0].world().resource::<SetupDiagnostics>().all();
    let found = all.iter().filter(|(issue, _)| *issue == SetupIssue::Registrations);
    found.map(|(_, sentence)| sentence.clone()).collect()
}

#[test]
fn protocol_of_the_game_may_come_before_or_after_the_suite() {
    for place in [Protocol::BeforeSuite, Protocol::AfterSuite] {
        let mut game = play_with_protocol(protocol, place, place);
        assert_eq!(flags(&mut game), [Flag(7)], "{place:?}");
        assert!(mismatches(&game).is_empty(), "{place:?}: {:?}", mismatches(&game));
        assert!(registrations(&game).is_empty(), "{place:?}: {:?}", registrations(&game));
    }
    // But at the same place on both sides.
    let mut game = play_with_protocol(component, Protocol::BeforeSuite, Protocol::AfterSuite);
    let (flags, mismatches) = (flags(&mut game), mismatches(&game));
    assert!(flags.is_empty(), "{flags:?}");
    assert!(mismatches.len() == 1 && mismatches[0].contains("install the same build"), "{mismatches:?}");
}

#[test]
fn messages_and_channels_may_come_before_lightyears_plugins_on_both_sides() {
    let register: fn(&mut App) = |app| {
        message(app);
        channel(app);
    };
    let mut game = play_with_protocol(register, Protocol::BeforeLightyear, Protocol::BeforeLightyear);
    assert!(mismatches(&game).is_empty(), "{:?}", mismatches(&game));
    assert!(registrations(&game).is_empty(), "{:?}", registrations(&game));
    assert_no_corrections(&mut game);
}

/// Against two mutations: without `missing_hello::client_plugin` in `session.rs`, and without
/// `missing_hello::report` in `receive_hello` of `session/handshake.rs`.
#[test]
fn registration_before_the_suite_on_one_side_only_is_explained_in_one_sentence() {
    let kinds: [(&str, fn(&mut App)); 3] =
        [("component", component), ("message", message), ("channel", channel)];
    let (before, after) = (Protocol::BeforeSuite, Protocol::AfterSuite);
    for (kind, register) in kinds {
        for (on_server, on_client) in [(before, after), (after, before)] {
            let mut game = play_with_protocol(register, on_server, on_client);
            let said = registrations(&game);
            assert_eq!(said.len(), 1, "{kind} {on_server:?} on the server: {said:?}");
            assert!(said[0].contains("on both sides before the suite's plugins"), "{}", said[0]);
            assert_eq!(flags(&mut game), [], "{kind} {on_server:?} on the server");
        }
    }
}

/// Set in the process that adds plugins in the wrong order.
const WRONG_ORDER: &str = "UNLAG_TEST_WRONG_ORDER";

#[test]
fn lightyears_plugins_after_the_suite_are_explained_in_one_sentence() {
    let mut app = headless_app();
    match env::var(WRONG_ORDER).as_deref() {
        Ok("client") => {
            app.add_plugins(UnlagClientPlugins::default()).add_plugins(ClientPlugins { tick_duration: TICK });
        }
        Ok("server") => {
            app.add_plugins(UnlagServerPlugins::default()).add_plugins(ServerPlugins { tick_duration: TICK });
        }
        // Control: another panic, in an app to which lightyear's plugins were not added by the suite.
        Ok(_) => {
            app.add_plugins(ClientPlugins { tick_duration: TICK }).add_plugins(UnlagClientPlugins::default());
            panic!("another reason");
        }
        Err(_) => {
            for (side, plugins, expected) in [
                ("client", "ClientPlugins to before UnlagClientPlugins", true),
                ("server", "ServerPlugins to before UnlagServerPlugins", true),
                ("neither", "Plugins to before Unlag", false),
            ] {
                let name = "lightyear_guest::plugin_order::\
                            lightyears_plugins_after_the_suite_are_explained_in_one_sentence";
                let child = Command::new(env::current_exe().expect("this test"))
                    .args(["--exact", name, "--nocapture"])
                    .env(WRONG_ORDER, side)
                    .output()
                    .expect("the test can start itself");
                let text = String::from_utf8_lossy(&child.stderr);
                assert!(!child.status.success() && text.contains("panicked"), "{side}: {text}");
                let said = text.lines().filter(|line| line.contains(plugins)).count();
                assert_eq!(said, usize::from(expected), "{side}: {text}");
            }
        }
    }
}
