//! Server pushes, which are applied within a move of the owner and cause no correction.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    movement::{CapsulePush, MovementMode},
    prediction::{MoveTrace, PredictionConfig},
};
use unlag_examples::teleport::{ClientServerPair, TeleportOptions};

/// Seconds between the newest received move and the push: 12 ticks, which cover a round trip of 100 ms.
const LEAD: f32 = 12.0 / 64.0;

/// Starts a pair with a round trip of 100 ms, whose pawn walks for two seconds.
fn start(push_lead: f32, loss: f32, seed: u64) -> ClientServerPair {
    let prediction = PredictionConfig { push_lead, ..PredictionConfig::default() };
    let mut pair =
        ClientServerPair::start(&TeleportOptions { prediction, loss, seed, ..TeleportOptions::default() });
    pair.run(Duration::from_secs(2));
    assert_eq!(pair.stats().corrections, 0, "corrections before any push: {:?}", pair.stats());
    pair
}

fn pushes() -> [CapsulePush; 3] {
    [
        CapsulePush::Launch(Vec3::new(0.0, 6.0, 8.0)),
        CapsulePush::Shove(Vec3::new(0.0, 0.0, 9.0)),
        CapsulePush::Teleport(Vec3::new(4.0, 0.03, 12.0)),
    ]
}

fn positions(pair: &ClientServerPair) -> [Vec3; 2] {
    [pair.owner_state(), pair.server_state()].map(|state| state.expect("a state").body.position)
}

/// The largest distance between the owner's first result of a move and the server's, in metres.
fn apart_at_equal_moves(pair: &ClientServerPair) -> f32 {
    let trace =
        |app: &App, pawn| app.world().get::<MoveTrace>(pawn).expect("traced from the start").0.clone();
    let (owner, server) = (trace(&pair.client, pair.own), trace(&pair.server, pair.pawn));
    let of_server: std::collections::HashMap<u32, Vec3> =
        server.into_iter().map(|(tick, place)| (tick.0, place)).collect();
    let pairs = owner.iter().filter_map(|(tick, place)| Some((place, of_server.get(&tick.0)?)));
    pairs.map(|(owner, server)| owner.distance(*server)).fold(0.0, f32::max)
}

/// Lets the pawns come to rest, then asserts that both have moved back by at least `metres` and agree.
fn assert_moved_and_agrees(pair: &mut ClientServerPair, before: [Vec3; 2], metres: f32, what: CapsulePush) {
    pair.release_movement();
    pair.run(Duration::from_secs(1));
    let now = positions(pair);
    let [owner, server] = [0, 1].map(|side| now[side].z - before[side].z);
    assert!(owner > metres && server > metres, "{what:?}: moved {owner} m and {server} m");
    assert!((owner - server).abs() < 1e-4, "{what:?}: moved {owner} m and {server} m");
}

#[test]
fn pushes_with_enough_lead_cause_no_correction_and_no_replay() {
    for what in pushes() {
        let mut pair = start(LEAD, 0.0, 7);
        let before = positions(&pair);
        pair.push(what);
        pair.run(Duration::from_secs(2));
        assert_moved_and_agrees(&mut pair, before, 0.5, what);
        let stats = pair.stats();
        assert_eq!((stats.corrections, stats.late_pushes, stats.replayed), (0, 0, 0), "{what:?}: {stats:?}");
        assert!(apart_at_equal_moves(&pair) < 1e-4, "{what:?}: {} m", apart_at_equal_moves(&pair));
    }
}

/// Pushes a pawn with too little lead for its owner, and asserts that the owner replays it without a
/// correction.
fn assert_replayed_without_correction(lead: f32) {
    for what in pushes() {
        let mut pair = start(lead, 0.0, 7);
        let before = positions(&pair);
        pair.push(what);
        pair.run(Duration::from_secs(2));
        assert_moved_and_agrees(&mut pair, before, 0.5, what);
        let stats = pair.stats();
        assert!(stats.replayed > 0, "the push arrived in time: {stats:?}");
        assert_eq!(stats.corrections, 0, "lead {lead}, {what:?}: {stats:?}");
    }
}

#[test]
fn pushes_that_arrive_late_are_replayed_without_a_correction() {
    assert_replayed_without_correction(PredictionConfig::default().push_lead);
}

#[test]
fn immediate_pushes_are_replayed_without_a_correction() {
    for lead in [1.0 / 64.0, 0.0] {
        assert_replayed_without_correction(lead);
    }
}

#[test]
fn late_pushes_on_a_lossy_link_cause_no_correction() {
    for seed in 1..21 {
        let mut pair = start(PredictionConfig::default().push_lead, 0.2, seed);
        let before = positions(&pair);
        let what = CapsulePush::Launch(Vec3::new(0.0, 6.0, 8.0));
        pair.push(what);
        pair.run(Duration::from_secs(2));
        assert_moved_and_agrees(&mut pair, before, 0.5, what);
        assert_eq!(pair.stats().corrections, 0, "seed {seed}: {:?}", pair.stats());
    }
}

#[test]
fn pushes_with_enough_lead_on_a_lossy_link_cause_no_correction() {
    for seed in 1..6 {
        for what in pushes() {
            let mut pair = start(LEAD, 0.1, seed);
            let before = positions(&pair);
            pair.push(what);
            pair.run(Duration::from_secs(2));
            assert_moved_and_agrees(&mut pair, before, 0.5, what);
            assert_eq!(pair.stats().corrections, 0, "seed {seed}, {what:?}: {:?}", pair.stats());
        }
    }
}

#[test]
fn launch_written_into_the_state_arrives_late_as_a_server_change() {
    let mut pair = start(LEAD, 0.0, 7);
    let before = positions(&pair);
    pair.write_on_server(|state| state.launch(Vec3::new(0.0, 6.0, 8.0)));
    pair.run(Duration::from_secs(2));
    assert_moved_and_agrees(&mut pair, before, 0.5, CapsulePush::Launch(Vec3::ZERO));
    let stats = pair.stats();
    assert!(stats.server_changes() > 0 && stats.corrections == 0, "{stats:?}");
    assert!(apart_at_equal_moves(&pair) > 0.2, "the owner must differ for a round trip");
}

#[test]
fn launched_pawn_is_falling_on_owner_and_server() {
    let mut pair = start(LEAD, 0.0, 7);
    pair.push(CapsulePush::Launch(Vec3::Y * 6.0));
    let mut flown = [false; 2];
    for _ in 0..96 {
        pair.frame();
        let states = [pair.owner_state(), pair.server_state()];
        for (flown, state) in flown.iter_mut().zip(states) {
            *flown |= state.is_some_and(|state| state.body.mode == MovementMode::Falling);
        }
    }
    assert_eq!(flown, [true; 2]);
}

#[test]
fn conveyor_with_8_shoves_per_second_causes_no_corrections() {
    let mut pair = start(LEAD, 0.0, 7);
    let before = positions(&pair);
    for _ in 0..16 {
        pair.push(CapsulePush::Shove(Vec3::Z * 3.0));
        pair.run(Duration::from_millis(125));
    }
    pair.run(Duration::from_secs(1));
    assert_moved_and_agrees(&mut pair, before, 2.0, CapsulePush::Shove(Vec3::Z));
    let stats = pair.stats();
    assert_eq!((stats.corrections, stats.late_pushes), (0, 0), "{stats:?}");
}

#[test]
fn conveyor_with_a_shove_per_tick_causes_no_corrections() {
    let mut pair = start(LEAD, 0.0, 7);
    let before = positions(&pair);
    for _ in 0..128 {
        pair.push(CapsulePush::Shove(Vec3::Z * 0.5));
        pair.frame();
    }
    pair.run(Duration::from_secs(1));
    assert_moved_and_agrees(&mut pair, before, 2.0, CapsulePush::Shove(Vec3::Z));
    assert_eq!(pair.stats().corrections, 0, "{:?}", pair.stats());
}

#[test]
fn push_during_an_uplink_outage_is_applied_on_both_sides() {
    for what in pushes() {
        let mut pair = start(LEAD, 0.0, 7);
        let before = positions(&pair);
        pair.pipe.up.loss = 1.0;
        pair.run(Duration::from_millis(800));
        pair.push(what);
        pair.run(Duration::from_millis(400));
        let pushed = positions(&pair)[1].z - before[1].z;
        assert!(pushed > 0.1, "{what:?}: the silent client's pawn was pushed only {pushed} m");
        pair.pipe.up.loss = 0.0;
        pair.run(Duration::from_secs(2));
        assert_moved_and_agrees(&mut pair, before, 0.1, what);
    }
}
