//! Clock drift between client and server, and wrapping of all counters.

use bevy::prelude::*;
use bevy_unlag_core::Tick;

use crate::client_server::common::*;

#[test]
fn steering_keeps_clocks_of_half_a_percent_drift_within_16_ticks() {
    for clock in [0.995, 1.005] {
        let mut pair = Pair::new(1, LinkProfile::AVERAGE);
        pair.client.clock = clock;
        pair.play(circle);
        pair.run(5.0);
        let behind = |pair: &Pair| pair.server.tick().since(pair.client.tick());
        let began = behind(&pair);
        for _ in 0..20 {
            pair.run(10.0);
            let off = (behind(&pair) - began).abs();
            assert!(off <= 16, "a clock of {clock} is off by {off} ticks after {} s", pair.seconds());
        }
        let (client, server) = (pair.client.stats(), pair.server.stats());
        assert_eq!(
            (client.corrections, server.withheld, pair.account().detected),
            (0, 0, 0),
            "{clock}: {client:?}"
        );
        assert!(server.extrapolated_moves == 0, "{clock}: {server:?}");
        let made = &pair.log.client;
        assert!(
            made.windows(2).all(|two| two[1].tick.since(two[0].tick) == 1),
            "the ticks of moves are consecutive"
        );
    }
}

#[test]
fn clock_without_steering_drifts_by_more_than_24_ticks_in_100_s() {
    // Control: without steering the previous test would fail.
    let mut pair = Pair::new(1, LinkProfile::AVERAGE);
    (pair.client.clock, pair.steers) = (0.995, false);
    pair.run(5.0);
    let behind = |pair: &Pair| pair.server.tick().since(pair.client.tick());
    let began = behind(&pair);
    pair.run(100.0);
    assert!(behind(&pair) - began > 24);
}

#[test]
fn steered_clock_4_percent_fast_is_not_detected() {
    let mut pair = Pair::new(1, LinkProfile::AVERAGE);
    pair.client.clock = 1.04;
    pair.play(zigzag);
    pair.run(60.0);
    let honest = pair.account().detected;
    assert_eq!(honest, 0, "steered: {:?}", pair.account());
}

/// Runs all kinds of events in a world that starts at a tick. Returns both final states, the number of
/// corrections, the number of outcomes and the distance of the two ticks.
fn run_world_from(began: Tick) -> (WalkerState, WalkerState, u64, u64, i32) {
    let profile = LinkProfile { loss: 0.1, duplication: 0.2, ..LinkProfile::AVERAGE };
    let mut pair = Pair::of(began, 3, profile);
    pair.play(|tick| match tick {
        ..1_500 if tick % 101 == 50 => WalkerInput::EAST.with(WalkerInput::BLINK | WalkerInput::FIRE),
        ..1_500 => zigzag(tick),
        _ => WalkerInput::NOTHING,
    });
    pair.run(8.0);
    pair.push(Push::Shove(3));
    pair.run(1.0);
    pair.server.edit::<WalkerState>().at.z += 1.3;
    pair.run(1.0);
    pair.cut(true);
    pair.run(0.6);
    pair.cut(false);
    pair.run(3.0);
    pair.server.hitch(1.2);
    pair.run(20.0);
    let outcomes = pair.seen().outcomes.len() as u64;
    let apart = pair.server.tick().since(pair.client.tick());
    (pair.mine(), pair.theirs(), pair.corrections(), outcomes, apart)
}

#[test]
fn wrapping_counters_change_no_result() {
    let usual = run_world_from(Tick(0));
    assert_eq!((usual.0.at, usual.0.blinks, usual.0.shots), (usual.1.at, usual.1.blinks, usual.1.shots));
    assert!(usual.1.shots > 8 && usual.4.abs() < 32, "{usual:?}");
    for began in [u32::MAX - 300, (1 << 31) - 100, 65_000, u32::MAX - 10_000, u32::MAX] {
        // The number of an epoch depends on its first tick; the result does not.
        assert_eq!(run_world_from(Tick(began)), usual, "a world that began at {began}");
    }
}

#[test]
fn pawn_is_published_at_any_tick() {
    for began in [0, u32::MAX - 10_000, (1 << 31) + 5, u32::MAX - 100] {
        let mut pair: Pair = Pair::of(Tick(began), 9, LinkProfile::AVERAGE);
        pair.play(circle);
        pair.run(5.0);
        let (tick, at) = *pair.log.shown.last().expect("a state is published");
        assert!((0..4).contains(&pair.server.tick().since(tick)), "published as of {tick:?} from {began}");
        assert!(at != Vec3::ZERO, "the pawn moves from {began}");
    }
}

#[test]
fn new_epoch_starts_over_a_long_link_with_duplicates() {
    // A round trip of more than a second with 50 % duplicates, and then a silence that ends the epoch.
    let profile = LinkProfile { duplication: 0.5, ..LinkProfile::late(0.6) };
    let mut pair = Pair::new(3, profile).tuned(|config| config.forced_update = 1.0);
    pair.play(circle);
    pair.run(6.0);
    pair.cut(true);
    pair.run(4.0);
    pair.cut(false);
    pair.run(5.0);
    let steps = pair.server.stats().moves;
    pair.run(4.0);
    let made = pair.server.stats().moves - steps;
    assert!((200..300).contains(&made), "{made} moves in four seconds");
}

#[test]
fn loss_is_measured_across_wraps_of_the_sequence_number() {
    let mut pair = Pair::new(4, LinkProfile { loss: 0.1, ..LinkProfile::AVERAGE });
    pair.play(circle);
    // 256 packets take four seconds.
    for _ in 0..10 {
        pair.run(4.0);
        let measured = pair.server.stats().loss;
        assert!((0.02..0.25).contains(&measured), "{measured}");
    }
    assert_eq!(pair.corrections(), 0);
}

#[test]
fn duplicates_do_not_hide_loss() {
    let mut pair = Pair::new(4, LinkProfile { loss: 0.2, duplication: 0.5, ..LinkProfile::AVERAGE });
    pair.play(circle);
    pair.run(20.0);
    let measured = pair.server.stats().loss;
    assert!((0.13..0.3).contains(&measured), "{measured} instead of 0.2");
}
