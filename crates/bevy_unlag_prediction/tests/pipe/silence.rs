//! Silence: of the client, of the link, of the server; and what it is like afterwards.

use bevy_unlag_core::Tick;
use bevy_unlag_prediction::PredictionStats;

use crate::common::*;

fn walking(seed: u64) -> Pair {
    let mut pair = Pair::new(seed, Weather::AVERAGE);
    pair.play(zigzag);
    pair.run(4.0);
    pair
}

/// The longest way there and back on these links, in seconds.
const RTT: f64 = 0.12;

fn assert_back_within(pair: &mut Pair, seconds: f64) {
    let back = pair.seconds();
    pair.run(4.0);
    let converged = pair.log.converged(back);
    assert!(converged <= seconds, "converged after {converged} s, {:?}", pair.client.stats());
    assert_eq!(pair.account().detected, 0);
}

#[test]
fn a_silent_clients_pawn_is_carried_on_for_a_while_and_lets_go_of_the_stick() {
    let mut pair = walking(1).tuned(|config| config.forced_update = 2.0);
    pair.play(|_| Wish::EAST);
    pair.run(1.0);
    pair.up.cut = true;
    let (steps, carried) = (pair.theirs().steps, pair.server.stats().carried);
    pair.run(0.25);
    assert_eq!(pair.server.stats().carried, carried, "a quarter of a second is no silence yet");
    pair.run(1.0);
    let place = pair.theirs();
    assert!((50..66).contains(&(place.steps - steps)), "{} steps", place.steps - steps);
    assert_eq!(place.walk, bevy::math::Vec3::ZERO, "nobody is at the controls");
    pair.run(5.0);
    let carried = pair.server.stats().carried - carried;
    assert_eq!(carried, 128, "two seconds and no more");
    let steps = pair.theirs().steps - place.steps;
    assert!((310..=330).contains(&steps), "{steps} steps in five seconds: what falls goes on falling");
    pair.up.cut = false;
    assert_back_within(&mut pair, RTT + 0.25);
}

#[test]
fn a_silent_pawn_covers_no_ground_and_gains_none() {
    for seconds in [0.2, 0.5, 1.0, 2.0] {
        let mut pair = walking(2);
        pair.play(|_| Wish::EAST);
        pair.run(1.0);
        let (before, from) = (pair.theirs().at.x, pair.seconds());
        pair.up.cut = true;
        pair.run(seconds);
        pair.up.cut = false;
        pair.run(2.0);
        let walked = f64::from(pair.theirs().at.x - before);
        let most = (pair.seconds() - from + 0.25) * 5.0;
        assert!(walked <= most, "{walked} m in {seconds} s of silence and two seconds");
    }
}

#[test]
fn an_outage_both_ways_is_over_a_round_trip_and_a_quarter_of_a_second_after_it() {
    for (seed, seconds) in [(1, 0.25), (2, 0.25), (3, 1.0), (4, 1.0), (5, 2.0), (6, 2.0)] {
        let mut pair = walking(seed);
        pair.cut(true);
        pair.run(seconds);
        pair.cut(false);
        assert_back_within(&mut pair, RTT + 0.25);
    }
}

#[test]
fn an_outage_of_one_way_is_over_as_soon() {
    for seed in 1..4 {
        let mut pair = walking(seed);
        pair.up.cut = true;
        pair.run(1.0);
        pair.up.cut = false;
        assert_back_within(&mut pair, RTT + 0.25);
        let corrections = pair.corrections();
        pair.down.cut = true;
        pair.run(1.0);
        pair.down.cut = false;
        assert_back_within(&mut pair, 0.0);
        assert_eq!(pair.corrections(), corrections, "answers can wait");
    }
}

#[test]
fn a_silence_longer_than_any_window_is_forgiven() {
    for seconds in [6.0, 20.0] {
        let mut pair = walking(7);
        pair.up.cut = true;
        pair.run(seconds);
        pair.up.cut = false;
        let steps = pair.theirs().steps;
        assert_back_within(&mut pair, 2.0 * RTT + 0.5);
        assert!(pair.theirs().steps > steps + 200, "{:?}", pair.theirs());
    }
}

#[test]
fn a_short_stall_of_the_server_corrects_nobody() {
    for seed in 1..6 {
        let mut pair = walking(seed);
        for _ in 0..5 {
            pair.server.hitch(0.15);
            pair.run(1.7);
        }
        let stats = pair.client.stats();
        assert_eq!((stats.corrections, pair.server.stats().carried), (0, 0), "{stats:?}");
        assert_eq!(pair.log.largest_error(0.0), 0.0);
    }
}

#[test]
fn after_a_hitch_of_its_own_the_server_takes_nobody_for_silent() {
    // What is on its way arrives late by a tenth of a second when the server comes back.
    for hitch in [0.3, 0.6] {
        let mut pair = walking(3);
        pair.server.hitch(hitch);
        pair.up.cut = true;
        pair.run(hitch + 0.05);
        pair.up.cut = false;
        pair.run_server_frame();
        pair.run_server_frame();
        assert_eq!(pair.server.stats().carried, 0);
    }
}

#[test]
fn a_long_stall_of_the_server_is_over_soon_and_nobody_twitches() {
    for (seed, seconds) in [(1, 1.2), (2, 1.2), (3, 2.5), (4, 2.5), (5, 2.5)] {
        let mut pair = walking(seed);
        pair.server.hitch(seconds);
        pair.run(seconds);
        let (back, accepted) = (pair.seconds(), pair.server.stats().moves);
        pair.run(0.5);
        assert!(pair.server.stats().moves > accepted, "inputs are accepted again");
        pair.run(3.5);
        let converged = pair.log.converged(back);
        assert!(converged <= RTT + 0.5, "{seconds} s: converged after {converged} s");
        let stats = pair.client.stats();
        assert!(stats.corrections <= 2, "{seconds} s: {stats:?}");
        assert_eq!(pair.account().detected, 0);
    }
}

#[test]
fn a_server_that_lags_behind_and_recovers_moves_everyone_on() {
    let mut pair = walking(6);
    // Nine tenths of the clients' speed for a minute: frames longer than it can make up for.
    pair.server.clock = 0.9;
    pair.run(60.0);
    pair.server.clock = 1.0;
    pair.run(10.0);
    let (from, steps) = (pair.seconds(), pair.theirs().steps);
    pair.run(4.0);
    assert_eq!(pair.log.converged(from), 0.0);
    assert!((240..272).contains(&(pair.theirs().steps - steps)));
}

#[test]
fn a_hitch_of_the_client_is_over_within_a_second() {
    for seconds in [0.25, 1.0, 5.0, 60.0] {
        let mut pair = walking(5);
        pair.client.hitch(seconds);
        pair.run(seconds);
        let back = pair.seconds();
        pair.run(4.0);
        let converged = pair.log.converged(back);
        assert!(converged <= 1.0, "{seconds} s: converged after {converged} s");
        let stats = pair.client.stats();
        assert!(stats.corrections <= 3, "{seconds} s: {stats:?}");
        assert_eq!(pair.account().detected, 0, "{seconds} s");
        assert!(pair.server.tick().since(pair.client.tick()).abs() < 32);
    }
}

#[test]
fn a_hitch_is_no_reason_to_walk_on_blindly() {
    let mut pair = walking(5);
    pair.play(|_| Wish::EAST);
    pair.run(1.0);
    let before = pair.mine().at.x;
    pair.client.hitch(1.0);
    pair.run(1.0 + 2.0 * DT);
    // A quarter of a second is simulated, as Bevy's clock has it; the rest nobody was there for.
    let walked = pair.mine().at.x - before;
    assert!((1.0..1.8).contains(&walked), "{walked} m");
    pair.run(2.0);
    let made: Vec<Tick> = pair.log.client.iter().map(|made| made.tick).collect();
    assert!(made.windows(2).all(|two| two[1].since(two[0]) == 1), "every tick has its move");
}

#[test]
fn nothing_grows_in_a_long_silence() {
    let mut pair = walking(8);
    pair.cut(true);
    pair.run(120.0);
    let stats: PredictionStats = pair.client.stats();
    assert_eq!(stats.unanswered, bevy_unlag_prediction::SavedMoves::<Walker>::CAPACITY as u32);
    assert_eq!(pair.server.get::<bevy_unlag_prediction::MoveQueue<Walker>>().waiting(), 0);
    pair.cut(false);
    assert_back_within(&mut pair, 2.0 * RTT + 0.5);
}
