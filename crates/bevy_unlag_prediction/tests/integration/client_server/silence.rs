//! Silence of the client, the link or the server, and the recovery from it.

use bevy_unlag_core::Tick;
use bevy_unlag_prediction::PredictionStats;

use crate::client_server::common::*;

fn walking(seed: u64) -> Pair {
    let mut pair = Pair::new(seed, LinkProfile::AVERAGE);
    pair.play(zigzag);
    pair.run(4.0);
    pair
}

/// Longest round trip on these links, in seconds.
const RTT: f64 = 0.12;

fn assert_converges_within(pair: &mut Pair, seconds: f64) {
    let back = pair.seconds();
    pair.run(4.0);
    let seconds_to_convergence = pair.log.seconds_to_convergence(back);
    assert!(
        seconds_to_convergence <= seconds,
        "converged after {seconds_to_convergence} s, {:?}",
        pair.client.stats()
    );
    assert_eq!(pair.account().detected, 0);
}

#[test]
fn silent_pawn_is_extrapolated_with_neutral_input_until_forced_update() {
    let mut pair = walking(1).tuned(|config| config.forced_update = 2.0);
    pair.play(|_| WalkerInput::EAST);
    pair.run(1.0);
    pair.up.cut = true;
    let (steps, extrapolated_moves) = (pair.theirs().steps, pair.server.stats().extrapolated_moves);
    pair.run(0.25);
    assert_eq!(
        pair.server.stats().extrapolated_moves,
        extrapolated_moves,
        "a quarter of a second does not count as silence"
    );
    pair.run(1.0);
    let place = pair.theirs();
    assert!((50..66).contains(&(place.steps - steps)), "{} steps", place.steps - steps);
    assert_eq!(place.walk, bevy::math::Vec3::ZERO, "the input is neutral");
    pair.run(5.0);
    let extrapolated_moves = pair.server.stats().extrapolated_moves - extrapolated_moves;
    assert_eq!(extrapolated_moves, 128, "two seconds of ticks");
    let steps = pair.theirs().steps - place.steps;
    assert!((310..=330).contains(&steps), "{steps} steps in five seconds: the simulation continues");
    pair.up.cut = false;
    assert_converges_within(&mut pair, RTT + 0.25);
}

#[test]
fn silence_gains_no_distance() {
    for seconds in [0.2, 0.5, 1.0, 2.0] {
        let mut pair = walking(2);
        pair.play(|_| WalkerInput::EAST);
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
fn outage_of_both_directions_converges_within_rtt_plus_250_ms() {
    for (seed, seconds) in [(1, 0.25), (2, 0.25), (3, 1.0), (4, 1.0), (5, 2.0), (6, 2.0)] {
        let mut pair = walking(seed);
        pair.cut(true);
        pair.run(seconds);
        pair.cut(false);
        assert_converges_within(&mut pair, RTT + 0.25);
    }
}

#[test]
fn outage_of_one_direction_converges_within_rtt_plus_250_ms() {
    for seed in 1..4 {
        let mut pair = walking(seed);
        pair.up.cut = true;
        pair.run(1.0);
        pair.up.cut = false;
        assert_converges_within(&mut pair, RTT + 0.25);
        let corrections = pair.corrections();
        pair.down.cut = true;
        pair.run(1.0);
        pair.down.cut = false;
        assert_converges_within(&mut pair, 0.0);
        assert_eq!(pair.corrections(), corrections, "late acknowledgements cause no correction");
    }
}

#[test]
fn silence_of_20_s_converges_within_two_rtt_plus_500_ms() {
    for seconds in [6.0, 20.0] {
        let mut pair = walking(7);
        pair.up.cut = true;
        pair.run(seconds);
        pair.up.cut = false;
        let steps = pair.theirs().steps;
        assert_converges_within(&mut pair, 2.0 * RTT + 0.5);
        assert!(pair.theirs().steps > steps + 200, "{:?}", pair.theirs());
    }
}

#[test]
fn server_stall_of_150_ms_causes_no_correction() {
    for seed in 1..6 {
        let mut pair = walking(seed);
        for _ in 0..5 {
            pair.server.hitch(0.15);
            pair.run(1.7);
        }
        let stats = pair.client.stats();
        assert_eq!((stats.corrections, pair.server.stats().extrapolated_moves), (0, 0), "{stats:?}");
        assert_eq!(pair.log.largest_error(0.0), 0.0);
    }
}

#[test]
fn server_hitch_does_not_make_clients_count_as_silent() {
    // Packets in flight arrive a tenth of a second after the server is back.
    for hitch in [0.3, 0.6] {
        let mut pair = walking(3);
        pair.server.hitch(hitch);
        pair.up.cut = true;
        pair.run(hitch + 0.05);
        pair.up.cut = false;
        pair.run_server_frame();
        pair.run_server_frame();
        assert_eq!(pair.server.stats().extrapolated_moves, 0);
    }
}

#[test]
fn server_stall_of_2_5_s_converges_with_at_most_two_corrections() {
    for (seed, seconds) in [(1, 1.2), (2, 1.2), (3, 2.5), (4, 2.5), (5, 2.5)] {
        let mut pair = walking(seed);
        pair.server.hitch(seconds);
        pair.run(seconds);
        let (back, accepted) = (pair.seconds(), pair.server.stats().moves);
        pair.run(0.5);
        assert!(pair.server.stats().moves > accepted, "moves are run again");
        pair.run(3.5);
        let seconds_to_convergence = pair.log.seconds_to_convergence(back);
        assert!(
            seconds_to_convergence <= RTT + 0.5,
            "{seconds} s: converged after {seconds_to_convergence} s"
        );
        let stats = pair.client.stats();
        assert!(stats.corrections <= 2, "{seconds} s: {stats:?}");
        assert_eq!(pair.account().detected, 0);
    }
}

#[test]
fn slow_server_converges_after_its_recovery() {
    let mut pair = walking(6);
    // The server runs at 0.9 of the clients' speed for a minute: its frames are too long to catch up.
    pair.server.clock = 0.9;
    pair.run(60.0);
    pair.server.clock = 1.0;
    pair.run(10.0);
    let (from, steps) = (pair.seconds(), pair.theirs().steps);
    pair.run(4.0);
    assert_eq!(pair.log.seconds_to_convergence(from), 0.0);
    assert!((240..272).contains(&(pair.theirs().steps - steps)));
}

#[test]
fn client_hitch_converges_within_one_second() {
    for seconds in [0.25, 1.0, 5.0, 60.0] {
        let mut pair = walking(5);
        pair.client.hitch(seconds);
        pair.run(seconds);
        let back = pair.seconds();
        pair.run(4.0);
        let seconds_to_convergence = pair.log.seconds_to_convergence(back);
        assert!(seconds_to_convergence <= 1.0, "{seconds} s: converged after {seconds_to_convergence} s");
        let stats = pair.client.stats();
        assert!(stats.corrections <= 3, "{seconds} s: {stats:?}");
        assert_eq!(pair.account().detected, 0, "{seconds} s");
        assert!(pair.server.tick().since(pair.client.tick()).abs() < 32);
    }
}

#[test]
fn pawn_does_not_keep_walking_through_a_client_hitch() {
    let mut pair = walking(5);
    pair.play(|_| WalkerInput::EAST);
    pair.run(1.0);
    let before = pair.mine().at.x;
    pair.client.hitch(1.0);
    pair.run(1.0 + 2.0 * DT);
    // Bevy's clock simulates a quarter of a second; the moves of the rest have neutral input.
    let walked = pair.mine().at.x - before;
    assert!((1.0..1.8).contains(&walked), "{walked} m");
    pair.run(2.0);
    let made: Vec<Tick> = pair.log.client.iter().map(|made| made.tick).collect();
    assert!(made.windows(2).all(|two| two[1].since(two[0]) == 1), "every tick has a move");
}

#[test]
fn saved_moves_and_queue_stay_bounded_in_a_long_silence() {
    let mut pair = walking(8);
    pair.cut(true);
    pair.run(120.0);
    let stats: PredictionStats = pair.client.stats();
    assert_eq!(stats.unacknowledged_moves, bevy_unlag_prediction::SavedMoves::<Walker>::CAPACITY as u32);
    assert_eq!(pair.server.get::<bevy_unlag_prediction::MoveQueue<Walker>>().queued_moves(), 0);
    pair.cut(false);
    assert_converges_within(&mut pair, 2.0 * RTT + 0.5);
}
