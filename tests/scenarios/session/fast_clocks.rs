//! Reports about clients whose clock runs too fast.

use bevy_unlag::{
    net::{FastClock, FastClockRecord, FastClockRule, FastClockStats, GameSpeed},
    prediction::ClockSteering,
};
use lightyear::prelude::{PeerId, server::ClientOf};
use unlag_examples::{app::ServerOptions, stepped_match::MatchOptions};

use super::*;
use crate::captured_log::logged;

/// Reports that the server has written.
#[derive(Resource, Default)]
struct Reports(Vec<FastClock>);

/// Starts a match of two players on a good link, in which the first player's clock runs at `speed`.
fn start_with_fast_clock(speed: f32, fast_clocks: FastClockRule) -> Match {
    let conditions = LinkPreset::named("Good broadband").expect("a built-in preset").conditions();
    let server = ServerOptions { fast_clocks, ..default() };
    let mut game = start_recorded(MatchOptions { players: 2, conditions, server, ..default() });
    game.server.init_resource::<Reports>().add_systems(
        Last,
        |mut found: MessageReader<FastClock>, mut reports: ResMut<Reports>| {
            reports.0.extend(found.read());
        },
    );
    game.run(seconds(5.0));
    let client = game.clients[0].world_mut();
    client.resource_mut::<PredictionConfig>().steer_clock = false;
    client.insert_resource(ClockSteering::default());
    client.resource_mut::<GameSpeed>().0 = speed;
    game
}

fn reports(game: &Match) -> &[FastClock] {
    &game.server.world().resource::<Reports>().0
}

#[test]
fn clock_at_twice_the_speed_is_reported_in_log_messages_and_counters() {
    let mut game = start_with_fast_clock(2.0, FastClockRule::Report);
    let log = logged(|| game.run(seconds(70.0)));
    let found = reports(&game);
    assert!(found.len() > 10, "{} reports", found.len());
    for (before, report) in found.iter().enumerate() {
        assert_eq!((report.peer, report.detections as usize), (PeerId::Netcode(1), before + 1));
    }
    let last = found.last().expect("there are reports");
    assert!((1.8..2.2).contains(&last.speed) && last.ahead > 50.0, "{last:?}");
    let (link, count) = (last.link, found.len());
    let stats = *game.server.world().resource::<FastClockStats>();
    assert_eq!((stats.detections, stats.clients, stats.kicked), (count as u64, 1, 0));
    let record = game.server.world().get::<FastClockRecord>(link).expect("the link stays");
    assert_eq!(record.detections as usize, count);
    let world = game.server.world_mut();
    let named = world.query_filtered::<&FastClockRecord, With<ClientOf>>().iter(world).count();
    assert_eq!(named, 1, "the other player is not accused");
    let lines: Vec<_> =
        log.iter().filter(|line| line.starts_with("WARN ") && line.contains("clock")).collect();
    assert_eq!(lines.len(), 2, "one line a minute: {lines:?}");
    assert!(lines.iter().all(|line| line.contains("client=1 ") && line.contains("speed=")), "{lines:?}");
}

#[test]
fn clock_15_percent_fast_is_reported_within_seconds_and_again() {
    let mut game = start_with_fast_clock(1.15, FastClockRule::Report);
    game.run(seconds(10.0));
    let soon = reports(&game).len();
    assert!(soon > 0, "no report within 10 s");
    game.run(seconds(50.0));
    let found = reports(&game);
    assert!(found.len() > soon + 5, "{} reports in a minute", found.len());
    assert!(found.iter().all(|report| report.peer == PeerId::Netcode(1)), "{found:?}");
    let last = found.last().expect("there are reports");
    assert!((1.1..1.2).contains(&last.speed) && (7.0..10.0).contains(&last.ahead), "{last:?}");
    assert_eq!(game.server.world().resource::<FastClockStats>().clients, 1);
}

#[test]
fn client_with_a_fast_clock_is_kicked_with_the_reason_if_the_rule_says_so() {
    let mut game = start_with_fast_clock(2.0, FastClockRule::Kick { detections: 3 });
    game.run(seconds(20.0));
    assert_eq!(reports(&game).len(), 3);
    assert_eq!(game.server.world().resource::<FastClockStats>().kicked, 1);
    assert_eq!(session_log(&game.clients[0]).kicked, [KickReason::FastClock]);
    assert!(!game.is_playing(0) && game.is_playing(1));
}

/// Control of the tests above.
#[test]
fn honest_clock_is_not_reported() {
    for (speed, time) in [(1.0, 15.0), (1.005, 60.0)] {
        let mut game = start_with_fast_clock(speed, FastClockRule::Kick { detections: 1 });
        game.run(seconds(time));
        assert_eq!(reports(&game), [], "at {speed}");
        assert!(game.is_playing(0));
    }
}
