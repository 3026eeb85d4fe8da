//! High ping warning on a link whose latency rises.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    link_conditioner::LinkConditions,
    prelude::*,
    rewind::HighPing,
    weapons::{HideHighPing, HighPingWarning, ShowHighPing},
};
use unlag_examples::stepped_match::{Match, MatchOptions};

use crate::{hold_still, seconds, start};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// High ping messages that the user interface received.
#[derive(Resource, Default)]
struct WarningLog {
    shown: Vec<ShowHighPing>,
    hidden: u32,
}

fn record_warnings(
    mut warning_counts: ResMut<WarningLog>,
    mut shown: MessageReader<ShowHighPing>,
    mut hidden: MessageReader<HideHighPing>,
) {
    warning_counts.shown.extend(shown.read().copied());
    warning_counts.hidden += hidden.read().count() as u32;
}

fn link(round_trip: u64) -> LinkConditions {
    LinkConditions { latency: MS(round_trip / 2), jitter: MS(4), ..LinkConditions::PERFECT }
}

fn start_match() -> Match {
    let mut game = start(MatchOptions { players: 1, conditions: link(40), ..MatchOptions::default() });
    hold_still(&mut game.clients[0]);
    game.clients[0].init_resource::<WarningLog>().add_systems(Update, record_warnings);
    game.run(seconds(5.0));
    game
}

fn warning_counts(game: &Match) -> (usize, u32) {
    let warning_counts = game.clients[0].world().resource::<WarningLog>();
    (warning_counts.shown.len(), warning_counts.hidden)
}

/// Fails if the warning is not hidden after the link has recovered.
#[test]
fn high_ping_warning_is_shown_once_with_its_limits_and_hidden_after_recovery() {
    let mut game = start_match();
    let rule = HighPing { fade_from: MS(150), stop_at: MS(300) };
    game.clients[0].world_mut().resource_mut::<RewindLimits>().high_ping = Some(rule);
    assert_eq!(warning_counts(&game), (0, 0), "40 ms must not cause a warning");
    game.set_conditions(link(400));
    game.run(seconds(20.0));
    assert_eq!(warning_counts(&game).0, 1);
    // The link recovers before the next check.
    game.set_conditions(link(40));
    game.run(seconds(45.0));
    assert_eq!(warning_counts(&game), (1, 1), "the warning must be shown once and hidden once");
    let shown = game.clients[0].world().resource::<WarningLog>().shown[0];
    assert_eq!((shown.limit, shown.rewind), (MS(150), Some(rule)));
    assert!((MS(380)..MS(520)).contains(&shown.round_trip), "{shown:?}");
    let warning = *game.clients[0].world().resource::<HighPingWarning>();
    assert!(!warning.is_shown() && warning.round_trip().is_some_and(|trip| trip < MS(100)), "{warning:?}");
}

#[test]
fn high_ping_warning_repeats_on_a_slow_link_and_never_appears_on_a_fast_one() {
    let mut game = start_match();
    game.run(seconds(50.0));
    assert_eq!(warning_counts(&game), (0, 0));
    game.set_conditions(link(400));
    game.run(seconds(60.0));
    let (shown, hidden) = warning_counts(&game);
    assert!(
        (2..=4).contains(&shown) && (shown as u32 - 1..=shown as u32).contains(&hidden),
        "shown {shown} times, hidden {hidden} times"
    );
}
