//! Debug switches that leave out a part of prediction show what the part is for.

use bevy_unlag_core::{DrawnPose, VisualOffset};
use bevy_unlag_prediction::{PredictionDebug, SavedMoves};

use crate::client_server::common::*;

/// Walks along a line.
fn ahead(_: u32) -> WalkerInput {
    WalkerInput { x: 100, z: 0, buttons: 0 }
}

#[test]
fn pawn_without_prediction_is_drawn_where_the_server_has_confirmed_it() {
    let behind = |draw_acknowledged: bool| {
        let mut pair = Pair::new(1, LinkProfile::late(0.08));
        pair.client.res_mut::<PredictionDebug>().draw_acknowledged = draw_acknowledged;
        pair.play(ahead);
        pair.run(4.0);
        assert_eq!(pair.corrections(), 0);
        let drawn = pair.client.get::<DrawnPose>().pose.position;
        let moves = pair.client.get::<SavedMoves<Walker>>().len();
        (pair.mine().at.distance(drawn), moves)
    };
    let (at_once, _) = behind(false);
    let (late, moves) = behind(true);
    assert!(moves >= 10, "{moves} moves under way");
    assert!(late > at_once + 0.3, "{at_once} m, {late} m");
}

#[test]
fn correction_without_replay_throws_the_pawn_back() {
    let largest_offset = |skip_replay: bool| {
        let mut pair = Pair::new(1, LinkProfile::late(0.08));
        pair.client.res_mut::<PredictionDebug>().skip_replay = skip_replay;
        pair.server.res_mut::<PredictionDebug>().force_corrections = 0.1;
        // Straight on, a pawn that was thrown back once would only lag from then on.
        pair.play(circle);
        pair.run(1.0);
        let mut largest = 0.0_f32;
        for _ in 0..120 {
            pair.run(1.0 / 60.0);
            largest = largest.max(pair.client.get::<VisualOffset>().offset.length());
        }
        largest
    };
    assert_eq!(largest_offset(false), 0.0, "the state of the correction was predicted");
    let thrown = largest_offset(true);
    assert!(thrown > 0.3, "{thrown} m");
}

#[test]
fn moves_that_are_sent_once_are_lost_with_their_packets() {
    let lost = |send_moves_once: bool| {
        let mut pair = Pair::new(3, LinkProfile { loss: 0.1, ..LinkProfile::late(0.05) });
        pair.client.res_mut::<PredictionDebug>().send_moves_once = send_moves_once;
        pair.play(circle);
        pair.run(20.0);
        pair.server.stats().extrapolated_moves
    };
    assert_eq!(lost(false), 0);
    let lost = lost(true);
    assert!(lost > 60, "{lost} of about 1,280 moves");
}
