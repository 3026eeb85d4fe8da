//! Setup diagnostics: each mistake in an app's setup is reported in one line, and a healthy app has none.

use bevy::{ecs::error::FallbackErrorHandler, time::TimeUpdateStrategy};
use bevy_unlag::{
    core::{SetupDiagnostics, SetupIssue},
    movement::{KartModel, KartPlugin, MovementPlugin},
    net::{GameSpeed, NetModelPlugin, UnlagServerNetPlugin},
    prediction::PredictionPlugin,
    smoothing::PathRecordingPlugin,
};
use unlag_examples::{app, connection};

use super::*;

/// A mistake and its log line.
type ReportedIssue = (SetupIssue, String);

fn reported_issues(app: &App) -> Vec<ReportedIssue> {
    app.world().resource::<SetupDiagnostics>().all().to_vec()
}

/// Runs a server and a client for four seconds, with `change` applied to the client before it starts and
/// `every_frame` after each of its frames. Returns the findings of the server and of the client.
fn run_pair(
    options: app::ServerOptions,
    change: impl FnOnce(&mut App),
    every_frame: fn(&mut World),
) -> (Vec<ReportedIssue>, Vec<ReportedIssue>) {
    let mut server = app::server(options);
    let mut client = app::scripted_client(3, Default::default());
    for app in [&mut server, &mut client] {
        app.insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK));
    }
    change(&mut client);
    let listener = connection::listen_in_process(&mut server);
    bevy_unlag_testkit::finish(&mut server);
    connection::join(&mut server, listener, &mut client, 1, NetSim::new(1)).expect("a token");
    bevy_unlag_testkit::finish(&mut client);
    for _ in 0..64 * 4 {
        server.update();
        client.update();
        every_frame(client.world_mut());
    }
    (reported_issues(&server), reported_issues(&client))
}

fn issues(reported: &[ReportedIssue]) -> Vec<SetupIssue> {
    reported.iter().map(|(issue, _)| *issue).collect()
}

#[test]
fn healthy_match_has_no_setup_issues_on_any_link_or_stall() {
    let bad = LinkConditions { loss: 0.2, duplication: 0.1, ..link_150() };
    for conditions in [LinkConditions::PERFECT, bad] {
        let mut game = start(MatchOptions { players: 3, conditions, host: true, ..default() });
        game.fight(6.0);
        game.stall_client(0, seconds(0.3));
        game.run(seconds(1.0));
        game.stall_server(seconds(1.2));
        game.run(seconds(1.0));
        game.stall_client(1, seconds(2.0));
        game.fight(6.0);
        assert_eq!(reported_issues(&game.server), []);
        for client in &game.clients {
            assert_eq!(reported_issues(client), []);
        }
    }
}

#[test]
fn fixed_timestep_other_than_the_tick_is_reported() {
    let sixty = |app: &mut App| {
        app.add_systems(Startup, |mut commands: Commands| {
            commands.insert_resource(Time::<Fixed>::from_hz(60.0));
        });
    };
    let (server, client) = run_pair(default(), sixty, |_| ());
    assert_eq!(issues(&server), []);
    assert!(issues(&client).contains(&SetupIssue::TickRate), "{client:?}");
    let message = &client[0].1;
    assert!(
        message.contains("16.667 ms")
            && message.contains("15.625 ms")
            && message.contains("UnlagClientPlugins"),
        "{message}"
    );
}

#[test]
fn virtual_time_changed_by_another_system_is_reported() {
    let slow = |app: &mut App| {
        app.add_systems(Update, |mut time: ResMut<Time<Virtual>>, mut frame: Local<u32>| {
            *frame += 1;
            if *frame == 100 {
                time.set_relative_speed(0.5);
            }
        });
    };
    let (_, client) = run_pair(default(), slow, |_| ());
    assert_eq!(issues(&client), [SetupIssue::GameSpeedOverridden]);
    let (_, client) = run_pair(default(), |app| app.world_mut().resource_mut::<GameSpeed>().0 = 0.5, |_| ());
    assert_eq!(issues(&client), [], "a change through `GameSpeed` must not be reported");
}

#[test]
fn virtual_time_paused_by_another_system_is_reported_during_a_connection_only() {
    let pause = |app: &mut App| {
        app.add_systems(Update, |mut time: ResMut<Time<Virtual>>, mut frame: Local<u32>| {
            *frame += 1;
            if *frame == 200 {
                time.pause();
            }
        });
    };
    let (_, client) = run_pair(default(), pause, |_| ());
    let [(SetupIssue::GameSpeedOverridden, sentence)] = &client[..] else { panic!("{client:?}") };
    assert!(sentence.contains("paused") && sentence.contains("GameSpeed to 0"), "{sentence}");

    let mut alone = app::scripted_client(3, default());
    alone.insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK));
    pause(&mut alone);
    bevy_unlag_testkit::finish(&mut alone);
    for _ in 0..400 {
        alone.update();
    }
    assert_eq!(reported_issues(&alone), [], "a menu may pause");
}

#[test]
fn pawn_transform_written_by_another_system_is_reported_unless_disabled() {
    let fall = |world: &mut World| {
        for mut at in world.query_filtered::<&mut Transform, With<LocalControl>>().iter_mut(world) {
            at.translation.y -= 0.5;
        }
    };
    let (_, client) = run_pair(default(), |_| (), fall);
    assert_eq!(issues(&client), [SetupIssue::ContestedPawn]);
    let switched_off = |app: &mut App| app.world_mut().resource_mut::<SetupDiagnostics>().enabled = false;
    let (_, client) = run_pair(default(), switched_off, fall);
    assert_eq!(issues(&client), []);
}

#[test]
fn app_without_an_error_handler_is_reported() {
    let without = |app: &mut App| {
        app.world_mut().remove_resource::<FallbackErrorHandler>();
    };
    let (server, client) = run_pair(default(), without, |_| ());
    assert_eq!(issues(&server), []);
    assert_eq!(issues(&client), [SetupIssue::NoErrorHandler]);
    assert!(client[0].1.contains("set_error_handler"), "{client:?}");
}

#[test]
fn server_without_rewind_records_the_paths_that_it_publishes() {
    let mut app = bevy_unlag_testkit::headless_app();
    app.add_plugins((
        UnlagServerNetPlugin::default(),
        NetModelPlugin::<KartModel>::default(),
        MovementPlugin,
        KartPlugin,
        PredictionPlugin::<KartModel>::default(),
    ));
    assert!(!app.is_plugin_added::<PathRecordingPlugin<KartModel>>(), "the app may still add it");
    bevy_unlag_testkit::finish(&mut app);
    assert!(app.is_plugin_added::<PathRecordingPlugin<KartModel>>());
    app.update();
}
