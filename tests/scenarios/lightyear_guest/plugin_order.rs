//! Order of lightyear's plugins, the game's protocol and the suite.

use std::{env, process::Command};

use bevy_unlag::net::ProtocolMismatch;
use serde::{Deserialize, Serialize};

use super::*;

/// A component of the game's own.
#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Flag(u32);

/// Reports of the handshake.
#[derive(Resource, Default)]
struct Mismatches(Vec<String>);

/// Place of the game's own protocol, on the server and on the client.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Protocol {
    BeforeSuite,
    AfterSuite,
}

/// Plays a lightyear game and returns the flags that the client knows, and what its handshake reported.
fn play_with_protocol(on_server: Protocol, on_client: Protocol) -> (Vec<Flag>, Vec<String>) {
    let register = |app: &mut App| {
        app.component::<Flag>().replicate();
    };
    let (mut server, mut client) = lightyear_apps();
    for (app, place) in [(&mut server, on_server), (&mut client, on_client)] {
        if place == Protocol::BeforeSuite {
            register(app);
        }
    }
    add_suite(&mut server, &mut client);
    for (app, place) in [(&mut server, on_server), (&mut client, on_client)] {
        if place == Protocol::AfterSuite {
            register(app);
        }
    }
    server.add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Flag(7), Replicate::to_clients(NetworkTarget::All)));
    });
    client.init_resource::<Mismatches>().add_systems(
        Last,
        |mut found: MessageReader<ProtocolMismatch>, mut mismatches: ResMut<Mismatches>| {
            mismatches.0.extend(found.read().map(ToString::to_string));
        },
    );
    let mut game = run_four_seconds(server, client);
    let world = game.clients[0].world_mut();
    let flags = world.query::<&Flag>().iter(world).cloned().collect();
    (flags, world.resource::<Mismatches>().0.clone())
}

#[test]
fn protocol_of_the_game_may_come_before_or_after_the_suite() {
    for place in [Protocol::BeforeSuite, Protocol::AfterSuite] {
        assert_eq!(play_with_protocol(place, place), (vec![Flag(7)], vec![]), "{place:?}");
    }
    // But at the same place on both sides.
    let (flags, mismatches) = play_with_protocol(Protocol::BeforeSuite, Protocol::AfterSuite);
    assert!(flags.is_empty(), "{flags:?}");
    assert!(mismatches.len() == 1 && mismatches[0].contains("install the same build"), "{mismatches:?}");
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
