//! A correction says why.

use bevy_unlag_prediction::{CorrectionCause, PredictionDebug};

use crate::common::*;

fn walking(seed: u64, weather: Weather) -> Pair {
    let mut pair = Pair::new(seed, weather);
    pair.play(zigzag);
    pair.run(2.0);
    pair
}

#[test]
fn moves_that_never_came_are_missing() {
    let mut pair = walking(1, Weather::AVERAGE);
    pair.up.cut = true;
    pair.run(0.7);
    pair.up.cut = false;
    pair.run(2.0);
    pair.assert_only(CorrectionCause::MissingMoves);
}

#[test]
fn a_stall_of_the_server_is_the_servers() {
    let mut pair = walking(1, Weather::AVERAGE);
    pair.server.hitch(1.2);
    // What arrives meanwhile is more than its link keeps.
    pair.up.cut = true;
    pair.run(1.2);
    pair.up.cut = false;
    pair.run(3.0);
    pair.assert_only(CorrectionCause::ServerStall);
}

#[test]
fn a_hitch_of_the_client_is_the_clients() {
    let mut pair = walking(1, Weather::AVERAGE);
    pair.client.hitch(0.8);
    pair.run_client_frame();
    // What it says afterwards is lost, too: the server has to go on without it.
    pair.up.cut = true;
    pair.run(0.5);
    pair.up.cut = false;
    pair.run(2.0);
    pair.assert_only(CorrectionCause::ClientHitch);
}

#[test]
fn a_clock_that_is_too_fast_is_the_clocks() {
    let mut pair = walking(1, Weather::late(0.05));
    (pair.client.clock, pair.steers) = (1.5, false);
    pair.play(|_| Wish::EAST);
    pair.run(4.0);
    pair.assert_only(CorrectionCause::Clock);
}

#[test]
fn a_pawn_that_is_seen_elsewhere_is_the_other_pawns() {
    let mut pair = walking(1, Weather::AVERAGE);
    let ahead = pair.mine().at + bevy::math::Vec3::X * 3.0;
    pair.client.res_mut::<Ground>().other = Some(ahead);
    pair.server.res_mut::<Ground>().other = Some(ahead + bevy::math::Vec3::X * 0.2);
    pair.play(|_| Wish::EAST);
    pair.run(3.0);
    pair.assert_only(CorrectionCause::OtherPawn);
}

#[test]
fn a_state_that_somebody_changed_is_a_push() {
    let mut pair = walking(1, Weather::AVERAGE);
    pair.server.edit::<Place>().at.z += 0.5;
    pair.run(1.0);
    pair.assert_only(CorrectionCause::ServerPush);
}

#[test]
fn another_tuning_is_the_configurations() {
    let mut pair = walking(1, Weather::AVERAGE);
    pair.server.res_mut::<Pace>().speed = 5.5;
    pair.run(2.0);
    pair.assert_only(CorrectionCause::Configuration);
}

#[test]
fn another_level_is_the_terrains() {
    let mut pair = walking(1, Weather::AVERAGE);
    pair.server.res_mut::<Ground>().wall = Some(8.0);
    pair.play(|_| Wish::EAST);
    pair.run(4.0);
    pair.assert_only(CorrectionCause::Terrain);
}

#[test]
fn a_step_that_is_not_pure_is_nobodys() {
    let mut pair = walking(1, Weather::AVERAGE);
    pair.client.res_mut::<Pace>().cheats = true;
    pair.run(2.0);
    pair.assert_only(CorrectionCause::Unknown);
}

#[test]
fn a_correction_that_a_test_asked_for_says_so() {
    let mut pair = walking(1, Weather::AVERAGE);
    pair.server.res_mut::<PredictionDebug>().force_corrections = 0.1;
    pair.run(2.0);
    let stats = pair.server.stats();
    assert!(stats.corrections_of(CorrectionCause::Forced) > 3, "{stats:?}");
}
