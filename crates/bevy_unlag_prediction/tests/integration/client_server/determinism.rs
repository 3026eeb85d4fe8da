//! Determinism: equal runs have equal results.

use bevy_unlag_prediction::PredictionDebug;

use crate::client_server::common::*;

const ROUGH: LinkProfile = LinkProfile { loss: 0.1, ..LinkProfile::AVERAGE };

/// Runs a pair through all kinds of events until it comes to rest.
fn eventful(seed: u64, profile: LinkProfile) -> Pair {
    let mut pair = Pair::new(seed, profile);
    pair.play(|tick| match tick {
        ..1_000 if tick % 77 == 50 => WalkerInput::EAST.with(WalkerInput::BLINK | WalkerInput::FIRE),
        ..1_000 => zigzag(tick),
        _ => WalkerInput::NOTHING,
    });
    pair.run(4.0);
    pair.push(Push::Launch(6));
    pair.run(2.0);
    pair.server.edit::<WalkerState>().at.z += 1.3;
    pair.run(2.0);
    pair.cut(true);
    pair.run(0.7);
    pair.cut(false);
    pair.run(1.3);
    pair.server.hitch(0.9);
    pair.run(3.0);
    pair.client.hitch(0.4);
    pair.run(9.0);
    pair
}

#[test]
fn equal_seeds_give_equal_states() {
    for seed in 1..4 {
        assert_eq!(eventful(seed, ROUGH).log.hash, eventful(seed, ROUGH).log.hash);
    }
    assert_ne!(eventful(1, ROUGH).log.hash, eventful(2, ROUGH).log.hash, "the hash depends on the states");
}

#[test]
fn duplicated_packets_change_no_state() {
    for seed in 1..4 {
        for calm in [LinkProfile { jitter: 0.0, ..LinkProfile::AVERAGE }, ROUGH] {
            let (once, twice) =
                (eventful(seed, calm), eventful(seed, LinkProfile { duplication: 0.25, ..calm }));
            assert_eq!(once.log.hash, twice.log.hash, "seed {seed}, {calm:?}");
        }
    }
}

#[test]
fn loss_duplicates_and_reordering_change_no_result() {
    for seed in 1..6 {
        let run = |profile: LinkProfile| {
            let mut pair = Pair::new(seed, profile);
            pair.play(|tick| match tick {
                100..800 => circle(tick),
                _ => WalkerInput::NOTHING,
            });
            pair.run(16.0);
            assert_eq!(
                (pair.corrections(), pair.client.stats().malformed),
                (0, 0),
                "{:?}",
                pair.client.stats()
            );
            assert_eq!(WalkerState { steps: 0, ..pair.mine() }, WalkerState { steps: 0, ..pair.theirs() });
            (WalkerState { steps: 0, ..pair.theirs() }, pair.log.server)
        };
        let (rest, moves) = run(LinkProfile::late(0.08));
        let bad = LinkProfile {
            loss: 0.1,
            duplication: 0.25,
            reordering: 0.3,
            reorder_delay: 0.1,
            ..LinkProfile::late(0.08)
        };
        let (other_rest, other_moves) = run(bad);
        assert_eq!(rest, other_rest, "seed {seed}");
        let differ = moves.iter().filter(|(tick, made)| {
            tick.0 > 100 && other_moves.get(tick).is_some_and(|other| other.at != made.at)
        });
        assert_eq!(differ.count(), 0, "every move has the same result");
    }
}

#[test]
fn replay_of_each_move_has_the_same_result() {
    let mut pair = Pair::new(1, ROUGH);
    pair.client.res_mut::<PredictionDebug>().replay_every_move = true;
    pair.play(zigzag);
    pair.run(5.0);
    pair.push(Push::Shove(3));
    pair.server.edit::<WalkerState>().at.z += 1.3;
    pair.run(5.0);
    assert_eq!(pair.client.stats().nondeterministic_moves, 0);
}

#[test]
fn replay_of_each_move_detects_an_impure_step() {
    let mut pair = Pair::new(1, ROUGH);
    for side in [&mut pair.client, &mut pair.server] {
        side.res_mut::<WalkerConfig>().is_impure = true;
    }
    pair.client.res_mut::<PredictionDebug>().replay_every_move = true;
    pair.play(zigzag);
    pair.run(5.0);
    assert!(pair.client.stats().nondeterministic_moves > 100, "{:?}", pair.client.stats());
}

#[test]
fn packets_dropped_by_a_test_are_measured_and_cause_no_correction() {
    let mut pair = Pair::new(1, LinkProfile::late(0.05));
    pair.client.res_mut::<PredictionDebug>().drop_packets = 0.2;
    pair.play(circle);
    pair.run(20.0);
    let (client, server) = (pair.client.stats(), pair.server.stats());
    assert!((server.loss - 0.2).abs() < 0.05, "{server:?}");
    assert_eq!((client.corrections, server.extrapolated_moves), (0, 0), "{client:?}");
}
