//! An ability that the server may refuse: a blink of ten metres. Four ways to implement it, three of which
//! fail, and the outcome messages for the owner.

use bevy_unlag_core::VisualOffset;
use bevy_unlag_prediction::{CorrectionCause, MoveOutcome, PredictionDebug};

use crate::client_server::common::*;

/// Blinks in these ticks and walks otherwise.
fn blinks_at(ticks: &'static [u32]) -> impl Fn(u32) -> WalkerInput + Send + Sync + 'static {
    |tick| if ticks.contains(&tick) { WalkerInput::EAST.with(WalkerInput::BLINK) } else { zigzag(tick) }
}

const EVERY_SECOND: &[u32] = &[150, 214, 278, 342, 406, 470, 534, 598];

/// Returns the owner's outcome messages about blinks: tick of the move, whether the client blinked, whether
/// the server did.
fn outcomes_of(pair: &Pair) -> Vec<(u32, bool, bool)> {
    let tell = |outcome: &MoveOutcome<Walker>| (outcome.tick.0, outcome.event.is_some(), outcome.succeeded);
    let mut outcomes_of: Vec<_> = pair.seen().outcomes.iter().map(tell).collect();
    outcomes_of.sort_unstable();
    outcomes_of
}

fn blink_events(side: &Side) -> usize {
    side.res::<MessageLog<Walker>>().events.iter().filter(|event| event.event == WalkerEvent::Blink).count()
}

#[test]
fn blink_on_the_client_only_is_corrected() {
    let mut pair = Pair::new(1, LinkProfile::AVERAGE);
    pair.play(zigzag);
    pair.run(2.0);
    pair.client.edit::<WalkerState>().at.x += Walker::BLINK;
    pair.run(1.0);
    assert_eq!(pair.corrections(), 1);
    let error = pair.seen().corrections[0].error;
    assert!((error - Walker::BLINK).abs() < 0.01, "{error} m");
    assert_eq!(pair.log.seconds_to_convergence(pair.seconds() - 0.5), 0.0);
}

#[test]
fn blink_on_the_server_only_takes_a_round_trip_and_counts_as_a_server_change() {
    let mut pair = Pair::new(1, LinkProfile::late(0.15));
    pair.play(zigzag);
    pair.run(2.0);
    let before = pair.mine().at.x;
    let asked = pair.seconds();
    // The request takes half the round trip, the correction the other half.
    pair.run(0.15);
    pair.server.edit::<WalkerState>().at.x += Walker::BLINK;
    while pair.mine().at.x < before + 5.0 {
        pair.run_client_frame();
        assert!(pair.seconds() < asked + 1.0, "the blink never arrived");
    }
    assert!(pair.seconds() - asked > 0.3, "the blink arrived without a round trip");
    let changes = pair.client.stats().server_changes();
    assert_eq!((pair.corrections(), changes, blink_events(&pair.client)), (0, 1, 0), "and no event");
    pair.assert_only_cause(CorrectionCause::ServerChange);
}

#[test]
fn blink_on_both_sides_beside_the_moves_is_lost_in_a_correction() {
    let mut pair = Pair::new(1, LinkProfile::late(0.15));
    pair.play(zigzag);
    pair.run(2.0);
    // Another correction is under way when the player blinks.
    pair.server.edit::<WalkerState>().at.z += 0.5;
    pair.run(0.1);
    pair.client.edit::<WalkerState>().at.x += Walker::BLINK;
    let blinked = pair.mine().at.x;
    pair.run(0.14);
    assert!(pair.mine().at.x < blinked - 5.0, "the correction undoes the blink");
    pair.server.edit::<WalkerState>().at.x += Walker::BLINK;
    pair.run(1.0);
    assert!(pair.client.stats().server_changes() >= 2, "another change restores it");
}

#[test]
fn blink_in_a_move_survives_loss_and_corrections_and_takes_effect_once() {
    for seed in 1..6 {
        let mut pair = Pair::new(seed, LinkProfile { loss: 0.1, ..LinkProfile::late(0.15) });
        pair.server.res_mut::<PredictionDebug>().force_corrections = 0.3;
        pair.play(blinks_at(EVERY_SECOND));
        pair.run(2.0);
        for _ in 0..8 {
            pair.server.edit::<WalkerState>().at.z += 0.3;
            pair.run(1.0);
        }
        pair.run(2.0);
        assert_eq!((blink_events(&pair.client), blink_events(&pair.server)), (8, 8), "seed {seed}");
        assert_eq!((pair.mine().blinks, pair.theirs().blinks), (8, 8));
        assert!(pair.client.stats().replayed > 100);
        let all: Vec<_> = EVERY_SECOND.iter().map(|tick| (*tick, true, true)).collect();
        assert_eq!(outcomes_of(&pair), all, "seed {seed}");
    }
}

#[test]
fn teleport_is_neither_eased_nor_counted_as_correction() {
    let mut pair = Pair::new(1, LinkProfile::AVERAGE);
    pair.play(blinks_at(EVERY_SECOND));
    pair.run(2.0);
    // The client does not know that the blink is possible and receives it in a correction.
    pair.client.res_mut::<WalkerWorld>().no_blink = true;
    for _ in 0..64 {
        pair.run_client_frame();
        assert_eq!(pair.client.get::<VisualOffset>().offset, bevy::math::Vec3::ZERO);
    }
    assert!(pair.mine().blinks == 1 && pair.mine().at.x > 8.0, "{:?}", pair.mine());
    assert_eq!(pair.corrections(), 0);
}

#[test]
fn owner_is_notified_once_of_success() {
    for seed in 1..6 {
        let mut pair = Pair::new(seed, LinkProfile { loss: 0.1, duplication: 0.25, ..LinkProfile::AVERAGE });
        pair.play(blinks_at(EVERY_SECOND));
        pair.run(11.0);
        let all: Vec<_> = EVERY_SECOND.iter().map(|tick| (*tick, true, true)).collect();
        assert_eq!(outcomes_of(&pair), all, "seed {seed}");
    }
}

#[test]
fn owner_is_notified_once_of_refusal() {
    for seed in 1..6 {
        let mut pair = Pair::new(seed, LinkProfile { loss: 0.1, duplication: 0.25, ..LinkProfile::AVERAGE });
        pair.server.res_mut::<WalkerWorld>().no_blink = true;
        pair.play(blinks_at(EVERY_SECOND));
        pair.run(11.0);
        let none: Vec<_> = EVERY_SECOND.iter().map(|tick| (*tick, true, false)).collect();
        assert_eq!(outcomes_of(&pair), none, "seed {seed}");
        assert_eq!((pair.mine().blinks, pair.theirs().blinks), (0, 0));
    }
}

#[test]
fn owner_is_notified_of_a_blink_that_only_the_server_made() {
    let mut pair = Pair::new(3, LinkProfile { loss: 0.1, ..LinkProfile::AVERAGE });
    pair.client.res_mut::<WalkerWorld>().no_blink = true;
    pair.play(blinks_at(EVERY_SECOND));
    pair.run(11.0);
    let all: Vec<_> = EVERY_SECOND.iter().map(|tick| (*tick, false, true)).collect();
    assert_eq!(outcomes_of(&pair), all);
}

#[test]
fn owner_is_notified_of_the_true_outcome_after_an_outage_of_either_direction() {
    let run = |up: bool, forced: f32| {
        let mut pair = Pair::new(3, LinkProfile::AVERAGE);
        pair.server.res_mut::<PredictionDebug>().force_corrections = forced;
        pair.play(blinks_at(&[150]));
        pair.run(2.0);
        (pair.up.cut, pair.down.cut) = (up, !up);
        pair.run(1.2);
        pair.cut(false);
        pair.run(2.0);
        assert_eq!(outcomes_of(&pair).len(), 1, "{:?}", outcomes_of(&pair));
        (outcomes_of(&pair)[0], pair.theirs().blinks)
    };
    assert_eq!(run(true, 0.0), ((150, true, false), 0), "the move never arrived");
    assert_eq!(run(false, 0.0), ((150, true, true), 1), "the move arrived and its acknowledgement was late");
    assert_eq!(run(false, 1.0), ((150, true, true), 1), "the same with corrections");
}
