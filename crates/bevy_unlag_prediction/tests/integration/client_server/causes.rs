//! Causes of corrections.

use bevy_unlag_prediction::{CorrectionCause, PredictionDebug};

use crate::client_server::common::*;

fn walking(seed: u64, profile: LinkProfile) -> Pair {
    let mut pair = Pair::new(seed, profile);
    pair.play(zigzag);
    pair.run(2.0);
    pair
}

#[test]
fn lost_moves_cause_a_correction_by_missing_moves() {
    let mut pair = walking(1, LinkProfile::AVERAGE);
    pair.up.cut = true;
    pair.run(0.7);
    pair.up.cut = false;
    pair.run(2.0);
    pair.assert_only_cause(CorrectionCause::MissingMoves);
}

#[test]
fn server_stall_causes_a_correction_by_server_stall() {
    let mut pair = walking(1, LinkProfile::AVERAGE);
    pair.server.hitch(1.2);
    // More packets arrive meanwhile than the link buffers.
    pair.up.cut = true;
    pair.run(1.2);
    pair.up.cut = false;
    pair.run(3.0);
    pair.assert_only_cause(CorrectionCause::ServerStall);
}

#[test]
fn client_hitch_causes_a_correction_by_client_hitch() {
    let mut pair = walking(1, LinkProfile::AVERAGE);
    pair.client.hitch(0.8);
    pair.run_client_frame();
    // The packets after the hitch are lost as well, so that the server has to extrapolate.
    pair.up.cut = true;
    pair.run(0.5);
    pair.up.cut = false;
    pair.run(2.0);
    pair.assert_only_cause(CorrectionCause::ClientHitch);
}

#[test]
fn fast_clock_causes_corrections_by_clock() {
    let mut pair = walking(1, LinkProfile::late(0.05));
    (pair.client.clock, pair.steers) = (1.5, false);
    pair.play(|_| WalkerInput::EAST);
    pair.run(4.0);
    pair.assert_only_cause(CorrectionCause::ClientClock);
}

#[test]
fn displaced_other_pawn_causes_corrections_by_other_pawn() {
    let mut pair = walking(1, LinkProfile::AVERAGE);
    let ahead = pair.mine().at + bevy::math::Vec3::X * 3.0;
    pair.client.res_mut::<WalkerWorld>().other = Some(ahead);
    pair.server.res_mut::<WalkerWorld>().other = Some(ahead + bevy::math::Vec3::X * 0.2);
    pair.play(|_| WalkerInput::EAST);
    pair.run(3.0);
    pair.assert_only_cause(CorrectionCause::OtherPawn);
}

#[test]
fn state_changed_on_the_server_is_a_server_change() {
    let mut pair = walking(1, LinkProfile::AVERAGE);
    pair.server.edit::<WalkerState>().at.z += 0.5;
    pair.run(1.0);
    pair.assert_only_cause(CorrectionCause::ServerChange);
}

#[test]
fn different_speed_causes_corrections_by_configuration() {
    let mut pair = walking(1, LinkProfile::AVERAGE);
    pair.server.res_mut::<WalkerConfig>().speed = 5.5;
    pair.run(2.0);
    pair.assert_only_cause(CorrectionCause::Configuration);
}

#[test]
fn different_wall_causes_corrections_by_terrain() {
    let mut pair = walking(1, LinkProfile::AVERAGE);
    pair.server.res_mut::<WalkerWorld>().wall = Some(8.0);
    pair.play(|_| WalkerInput::EAST);
    pair.run(4.0);
    pair.assert_only_cause(CorrectionCause::Terrain);
}

#[test]
fn impure_step_causes_corrections_by_unknown() {
    let mut pair = walking(1, LinkProfile::AVERAGE);
    pair.client.res_mut::<WalkerConfig>().is_impure = true;
    pair.run(2.0);
    pair.assert_only_cause(CorrectionCause::Unknown);
}

#[test]
fn forced_corrections_are_counted_as_forced() {
    let mut pair = walking(1, LinkProfile::AVERAGE);
    pair.server.res_mut::<PredictionDebug>().force_corrections = 0.1;
    pair.run(2.0);
    let stats = pair.server.stats();
    assert!(stats.corrections_of(CorrectionCause::Forced) > 3, "{stats:?}");
}
