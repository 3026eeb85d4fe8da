//! Authority of the server: it simulates every move itself and trusts no claim.

use bevy::math::Vec3;
use bevy_unlag_core::{BitReader, BitWriter, CurrentTick, Tick, Wire};
use bevy_unlag_prediction::{CorrectionCause, MovePacket, StateCheck};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use crate::client_server::common::*;

/// Forges the check of a packet so that it claims another result.
fn claim_to_be_elsewhere(bytes: &mut Vec<u8>) {
    let mut packet =
        MovePacket::<WalkerInput>::read(&mut BitReader::new(bytes)).expect("a packet of the client");
    let dream = WalkerState { at: Vec3::new(0.4, 0.0, 0.7), ..WalkerState::default() };
    packet.check = StateCheck::of::<Walker>(&dream, Tick(u32::from(packet.newest)), packet.check.is_coarse());
    let mut w = BitWriter::default();
    packet.write(&mut w);
    *bytes = w.finish();
}

#[test]
fn server_results_do_not_depend_on_forged_checks() {
    let run = |forge: Option<fn(&mut Vec<u8>)>| {
        let mut pair = Pair::new(1, LinkProfile::late(0.05));
        pair.play(zigzag);
        pair.run(1.0);
        pair.forge = forge;
        pair.run(5.0);
        let corrected: u32 = pair.server.stats().by_cause.iter().sum();
        (pair.log.server, corrected)
    };
    let (honest, start) = run(None);
    let (forged, corrected) = run(Some(claim_to_be_elsewhere));
    assert!(honest.len() > 300 && corrected > start + 30, "{corrected}");
    assert_eq!(honest.len(), forged.len());
    assert!(
        honest.iter().all(|(tick, made)| forged.get(tick) == Some(made)),
        "the server's results have the same bits"
    );
}

/// Changes the client's state once. Returns the number of corrections.
fn corrected_after(tolerance: f32, change: impl Fn(&mut WalkerState)) -> u64 {
    let mut pair = Pair::new(1, LinkProfile::late(0.05)).tuned(|config| config.tolerance = tolerance);
    pair.play(zigzag);
    pair.run(2.0);
    change(&mut pair.client.edit::<WalkerState>());
    pair.run(1.0);
    pair.corrections()
}

#[test]
fn error_is_corrected_once_only_beyond_the_tolerance() {
    let moved = |by: f32| move |place: &mut WalkerState| place.at.z += by;
    assert_eq!(corrected_after(0.0173, moved(0.012)), 0);
    assert_eq!(corrected_after(0.0173, moved(0.023)), 1);
    assert_eq!(corrected_after(0.1, moved(0.09)), 0, "the tolerance is a setting");
    assert_eq!(corrected_after(0.1, moved(0.12)), 1);
    assert_eq!(
        corrected_after(0.0173, |place| place.at += Vec3::new(0.012, 0.0, 0.016)),
        1,
        "the distance counts all axes"
    );
}

#[test]
fn displacement_of_any_distance_is_corrected_within_400_ms() {
    for by in [0.5, 1.0, 2.0, 4.0, 6.0, 10.0, 128.0, 255.0] {
        for phase in 0..4 {
            let mut pair = Pair::new(1, LinkProfile::AVERAGE);
            pair.play(zigzag);
            pair.run(2.0 + f64::from(phase) * DT);
            pair.server.edit::<WalkerState>().at.x += by;
            let from = pair.seconds();
            pair.run(2.5);
            let seconds_to_convergence = pair.log.seconds_to_convergence(from);
            assert!(
                seconds_to_convergence < 0.4,
                "a pawn that was moved by {by} m is corrected after {seconds_to_convergence} s"
            );
        }
    }
}

#[test]
fn difference_of_kind_is_corrected_at_equal_position() {
    let mut pair = Pair::new(1, LinkProfile::late(0.05));
    pair.run(2.0);
    pair.client.edit::<WalkerState>().shots += 1;
    pair.run(1.0);
    assert_eq!(pair.mine().shots, 0);
    assert_eq!(pair.corrections(), 1, "{:?}", pair.client.stats());
}

#[test]
fn correction_restores_all_predicted_state() {
    let mut pair = Pair::new(2, LinkProfile { loss: 0.1, ..LinkProfile::AVERAGE });
    pair.play(|tick| match tick {
        100..600 if tick % 53 == 9 => WalkerInput::EAST.with(WalkerInput::BLINK | WalkerInput::FIRE),
        100..600 => zigzag(tick).with(if tick % 90 < 40 { WalkerInput::RUN } else { 0 }),
        _ => WalkerInput::NOTHING,
    });
    pair.run(3.0);
    *pair.client.edit::<WalkerState>() = WalkerState {
        at: Vec3::new(9.0, 0.0, 1.0),
        shots: 77,
        blink_cooldown: 200,
        blinks: 9,
        running: true,
        ..WalkerState::default()
    };
    pair.run(9.0);
    let comparable = |place: WalkerState| WalkerState { steps: 0, ..place };
    assert_eq!(comparable(pair.mine()), comparable(pair.theirs()));
    assert!(pair.theirs().shots > 3 && pair.theirs().blinks > 3, "{:?}", pair.theirs());
}

/// Fails if the server accepts a position that the model does not.
#[test]
fn end_position_within_tolerance_is_accepted_if_configured() {
    let run = |accept: f32, by: f32, wall: Option<f32>| {
        let mut pair =
            Pair::new(1, LinkProfile::late(0.05)).tuned(|config| config.accept_client_position = accept);
        pair.server.res_mut::<WalkerWorld>().wall = wall;
        pair.client.res_mut::<WalkerWorld>().wall = wall.map(|wall| wall + 1.0);
        pair.run(2.0);
        pair.client.edit::<WalkerState>().at.x += by;
        pair.run(1.0);
        (pair.corrections(), pair.server.stats().accepted > 0, pair.theirs().at.x)
    };
    assert_eq!(run(0.0, 0.04, None), (1, false, 0.0), "off by default");
    let (corrections, accepted, x) = run(0.1, 0.04, None);
    assert!((corrections, accepted) == (0, true) && (x - 0.04).abs() < 0.005, "{corrections} {accepted} {x}");
    assert_eq!(run(0.1, 0.14, None), (1, false, 0.0), "too far");
    assert_eq!(run(0.1, 0.04, Some(0.0)), (1, false, 0.0), "a wall is in the way");
}

#[test]
fn moves_far_from_the_server_tick_are_not_run_and_start_a_new_epoch() {
    for leap in [1_000, -1_000, 100_000] {
        let mut pair = Pair::new(1, LinkProfile::late(0.05));
        pair.play(zigzag);
        pair.run(2.0);
        let there = pair.client.tick().offset(leap);
        pair.client.app.insert_resource(CurrentTick(there));
        let steps = pair.theirs().steps;
        pair.run(0.2);
        assert!(pair.theirs().steps < steps + 16, "none of these moves was run");
        pair.run(2.0);
        let from = pair.seconds();
        pair.run(3.0);
        assert!(pair.server.tick().since(pair.client.tick()).abs() < 32, "{leap}");
        assert_eq!(
            (pair.log.seconds_to_convergence(from), pair.log.largest_error(from)),
            (0.0, 0.0),
            "{leap}"
        );
    }
}

#[test]
fn delay_of_moves_grows_with_the_latency_of_the_uplink() {
    let mut pair = Pair::new(1, LinkProfile::late(0.05));
    pair.run(3.0);
    let before = pair.server.stats().delay;
    pair.up.profile.delay += 0.15;
    pair.run(3.0);
    let grown = pair.server.stats().delay - before;
    assert!((9..=12).contains(&grown), "{grown} ticks for 0.15 s");
}

#[test]
fn random_bytes_are_rejected_on_both_sides() {
    let mut pair = Pair::new(2, LinkProfile::PERFECT);
    pair.play(zigzag);
    pair.run(1.0);
    let mut rng = SmallRng::seed_from_u64(99);
    for round in 0..2_000 {
        let bytes: Vec<u8> = (0..rng.random_range(0..80)).map(|_| rng.random()).collect();
        let _ = MovePacket::<WalkerInput>::read(&mut BitReader::new(&bytes));
        let _ = bevy_unlag_prediction::MoveAck::<WalkerState, Push>::read(&mut BitReader::new(&bytes));
        pair.server.edit::<bevy_unlag_prediction::IncomingMoves>().deliver(bytes.clone());
        pair.client.edit::<bevy_unlag_prediction::IncomingMoveAcks>().deliver(bytes);
        if round % 16 == 0 {
            pair.run(DT);
        }
    }
    assert!(pair.theirs().at.is_finite() && pair.mine().at.is_finite());
    assert!(pair.server.stats().malformed > 100);
}

#[test]
fn initial_state_is_not_counted_as_correction() {
    let mut pair = Pair::new(1, LinkProfile::BAD);
    pair.server.edit::<WalkerState>().at = Vec3::new(40.0, 0.0, 3.0);
    pair.play(zigzag);
    pair.run(5.0);
    assert_eq!(pair.client.stats().corrections_of(CorrectionCause::InitialState), 0);
    assert_eq!(pair.corrections(), 0, "{:?}", pair.client.stats());
    assert!(pair.mine().at.x > 30.0);
}
