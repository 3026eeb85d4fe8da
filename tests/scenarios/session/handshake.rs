//! Handshake errors of incompatible clients and servers.

use core::time::Duration;

use bevy::time::TimeUpdateStrategy;
use bevy_rapier3d::prelude::{Collider, RigidBody};
use bevy_unlag::net::{JoinConfig, PROTOCOL_VERSION, ProtocolVersion, SessionConfig, SetupRule};
use lightyear::prelude::{
    AppChannelExt, AppComponentExt, AppMessageExt, ChannelMode, ChannelSettings, NetworkDirection,
    NetworkTarget, Replicate,
};
use serde::{Deserialize, Serialize};
use unlag_examples::{app, connection as links};

use super::*;
use crate::captured_log::logged;

fn late_joiner(game: &mut Match) -> usize {
    let late = game.join().expect("a token");
    record_session_events(&mut game.clients[late]);
    late
}

#[test]
fn different_tuning_or_level_is_reported_or_refused_according_to_the_setup_rule() {
    for (rule, found) in [
        (SetupRule::Warn, SetupDifference::Configuration),
        (SetupRule::Refuse, SetupDifference::Configuration),
        (SetupRule::Warn, SetupDifference::Level),
        (SetupRule::Refuse, SetupDifference::Level),
    ] {
        let mut game =
            start_recorded(MatchOptions { players: 2, conditions: average(), ..MatchOptions::default() });
        game.server.world_mut().resource_mut::<SessionConfig>().setup = rule;
        let late = late_joiner(&mut game);
        let world = game.clients[late].world_mut();
        if found == SetupDifference::Level {
            let wall =
                (RigidBody::Fixed, Collider::cuboid(1.0, 2.0, 0.2), Transform::from_xyz(3.0, 1.0, 9.0));
            world.spawn(wall);
        } else {
            world.resource_mut::<CapsuleConfig>().max_walk_speed += 0.5;
        }
        game.run(seconds(4.0));
        assert_eq!(session_log(&game.clients[late]).setup, [found], "{rule:?}");
        let refused = rule == SetupRule::Refuse;
        assert_eq!(is_connected(&mut game.clients[late]), !refused, "{rule:?} {found:?}");
        let expected: &[_] = if refused { &[KickReason::Setup(found)] } else { &[] };
        assert_eq!(session_log(&game.clients[late]).kicked, expected, "{rule:?}");
        assert_eq!(
            pawns(&mut game.server).len(),
            3,
            "the pawn of a refused client must stay for the grace time"
        );
        for client in 0..2 {
            let session_log = session_log(&game.clients[client]);
            assert!(session_log.setup.is_empty() && session_log.kicked.is_empty(), "{session_log:?}");
        }
    }
}

#[test]
fn missing_collider_is_explained_to_developers_on_both_sides() {
    for is_missing in [true, false] {
        let lines = logged(|| {
            let mut game =
                start_recorded(MatchOptions { players: 1, conditions: average(), ..MatchOptions::default() });
            let late = late_joiner(&mut game);
            let wall =
                (RigidBody::Fixed, Collider::cuboid(1.0, 2.0, 0.2), Transform::from_xyz(3.0, 1.0, 9.0));
            // In the control on the server and on both clients.
            for (number, app) in game.apps_mut().enumerate() {
                if !is_missing || number <= late {
                    app.world_mut().spawn(wall.clone());
                }
            }
            game.run(seconds(4.0));
        });
        let advice = "spawn the same colliders on both sides";
        // The client of before has sent its setup without the wall, which the server has by the time it arrives.
        for (target, of) in [
            ("WARN bevy_unlag_lightyear::session::handshake: ", ""),
            ("WARN bevy_unlag::setup: ", " client=2 "),
        ] {
            let is_told =
                |line: &&String| line.starts_with(target) && line.contains(of) && line.contains(advice);
            let told = lines.iter().filter(is_told).count();
            assert_eq!(told, usize::from(is_missing), "{target}: {lines:#?}");
        }
    }
}

#[test]
fn different_protocol_version_is_refused_with_the_side_to_update() {
    for (version, line) in [(99, "update the server"), (3, "update this client")] {
        let mut game =
            start_recorded(MatchOptions { players: 1, conditions: average(), ..MatchOptions::default() });
        let late = late_joiner(&mut game);
        game.clients[late].insert_resource(ProtocolVersion(version));
        game.run(seconds(3.0));
        let [mismatch] = session_log(&game.clients[late]).protocol[..] else {
            panic!("the client received no protocol mismatch")
        };
        assert_eq!(mismatch, ProtocolMismatch { server: PROTOCOL_VERSION, client: version });
        assert!(mismatch.to_string().ends_with(line), "{mismatch}");
        assert!(!is_connected(&mut game.clients[late]));
        assert!(game.is_playing(0));
    }
}

#[test]
fn client_of_another_rate_is_refused_unless_it_allows_it() {
    let usual = SimulationRate::default();
    let slower = SimulationRate { snapshot_ticks: 6, ..usual };
    for (rate, allow_other_rates, stays) in
        [(slower, false, false), (slower, true, true), (usual, false, true)]
    {
        let mut game =
            start_recorded(MatchOptions { players: 1, conditions: average(), ..MatchOptions::default() });
        let late = late_joiner(&mut game);
        game.clients[late].insert_resource(rate).insert_resource(JoinConfig { allow_other_rates });
        game.run(seconds(3.0));
        assert_eq!(is_connected(&mut game.clients[late]), stays, "{rate:?}, allowed: {allow_other_rates}");
        assert!(game.is_playing(0));
    }
}

#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Hat(u8);
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Taunt(u8);
struct Megaphone;

/// Registers a further component, message or channel, which the other end lacks.
fn register_extra(app: &mut App, what: usize) {
    match what {
        0 => drop(app.component::<Hat>().replicate()),
        1 => drop(app.register_message::<Taunt>().add_direction(NetworkDirection::Bidirectional)),
        _ => {
            let settings = ChannelSettings { mode: ChannelMode::UnorderedUnreliable, ..default() };
            app.add_channel::<Megaphone>(settings).add_direction(NetworkDirection::Bidirectional);
        }
    }
}

fn run(apps: &mut [&mut App], time: Duration) {
    for _ in 0..(time.as_nanos() / app::TICK.as_nanos()) {
        apps.iter_mut().for_each(|app| app.update());
    }
}

#[test]
fn different_build_of_the_same_version_is_refused_without_a_panic() {
    for what in 0..3 {
        for at_the_server in [true, false] {
            let mut server = app::server(app::ServerOptions::default());
            let client = |seed| app::scripted_client(seed, default());
            let (mut other, mut same) = (client(1), client(2));
            if at_the_server {
                register_extra(&mut server, what);
                register_extra(&mut same, what);
                server.world_mut().spawn((Hat(3), Replicate::to_clients(NetworkTarget::All)));
            } else {
                register_extra(&mut other, what);
            }
            for app in [&mut server, &mut other, &mut same] {
                app.insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK));
                record_session_events(app);
            }
            let listener = links::listen_in_process(&mut server);
            bevy_unlag_testkit::finish(&mut server);
            for (id, app) in [(1, &mut other), (2, &mut same)] {
                links::join(&mut server, listener, app, id, NetSim::new(id)).expect("a token");
                bevy_unlag_testkit::finish(app);
            }
            run(&mut [&mut server, &mut other, &mut same], seconds(3.0));
            let [mismatch] = session_log(&other).protocol[..] else {
                panic!("{what} at the server: {at_the_server}: {:?}", session_log(&other).protocol)
            };
            assert!(mismatch.to_string().contains("another build"), "{mismatch}");
            assert!(!is_connected(&mut other), "the client must disconnect");
            assert!(
                is_connected(&mut same) && own_pawns(&mut same) == 1,
                "the matching client must stay connected"
            );
            assert!(session_log(&same).protocol.is_empty());
        }
    }
}
