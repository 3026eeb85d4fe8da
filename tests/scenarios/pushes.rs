//! What the server does to a pawn happens in a move of its owner's: nobody is corrected.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    movement::{CapsulePush, MovementMode},
    prediction::{CorrectionCause, MoveTrace, PredictionConfig},
};
use unlag_examples::teleport::{ClientServerPair, TeleportOptions};

/// Ticks from the newest move heard to the push that cover a round trip of 100 ms.
const LEAD: u32 = 12;

/// 100 ms of round trip, walked in for two seconds.
fn start(push_lead: u32, loss: f32, seed: u64) -> ClientServerPair {
    let prediction = PredictionConfig { push_lead, ..PredictionConfig::default() };
    let mut pair =
        ClientServerPair::start(&TeleportOptions { prediction, loss, seed, ..TeleportOptions::default() });
    pair.run(Duration::from_secs(2));
    assert_eq!(pair.stats().corrections, 0, "before any push: {:?}", pair.stats());
    pair
}

fn pushes() -> [CapsulePush; 3] {
    [
        CapsulePush::Launch(Vec3::new(0.0, 6.0, 8.0)),
        CapsulePush::Shove(Vec3::new(0.0, 0.0, 9.0)),
        CapsulePush::Teleport(Vec3::new(4.0, 0.03, 12.0)),
    ]
}

fn at(pair: &ClientServerPair) -> [Vec3; 2] {
    [pair.owner_state(), pair.server_state()].map(|state| state.expect("a state").body.position)
}

/// The largest distance between the two sides' results of one move, in metres, as the owner first
/// made it.
fn apart_at_equal_moves(pair: &ClientServerPair) -> f32 {
    let trace =
        |app: &App, pawn| app.world().get::<MoveTrace>(pawn).expect("traced from the start").0.clone();
    let (owner, server) = (trace(&pair.client, pair.own), trace(&pair.server, pair.pawn));
    let of_server: std::collections::HashMap<u32, Vec3> =
        server.into_iter().map(|(tick, place)| (tick.0, place)).collect();
    let pairs = owner.iter().filter_map(|(tick, place)| Some((place, of_server.get(&tick.0)?)));
    pairs.map(|(owner, server)| owner.distance(*server)).fold(0.0, f32::max)
}

/// Lets the pawns come to rest: both have moved back by this much at least, and agree.
fn assert_moved_and_agrees(pair: &mut ClientServerPair, before: [Vec3; 2], metres: f32, what: CapsulePush) {
    pair.release_movement();
    pair.run(Duration::from_secs(1));
    let now = at(pair);
    let [owner, server] = [0, 1].map(|side| now[side].z - before[side].z);
    assert!(owner > metres && server > metres, "{what:?}: moved {owner} m and {server} m");
    assert!((owner - server).abs() < 1e-4, "{what:?}: moved {owner} m and {server} m");
}

#[test]
fn knock_backs_and_launches_that_the_owner_knows_in_time_are_no_surprise() {
    for what in pushes() {
        let mut pair = start(LEAD, 0.0, 7);
        let before = at(&pair);
        pair.push(what);
        pair.run(Duration::from_secs(2));
        assert_moved_and_agrees(&mut pair, before, 0.5, what);
        let stats = pair.stats();
        assert_eq!((stats.corrections, stats.late_pushes, stats.replayed), (0, 0, 0), "{what:?}: {stats:?}");
        assert!(apart_at_equal_moves(&pair) < 1e-4, "{what:?}: {} m", apart_at_equal_moves(&pair));
    }
}

/// Pushes a pawn whose owner cannot know in time, and says how: no error, and made good by a replay.
fn assert_late_and_no_error(lead: u32) {
    for what in pushes() {
        let mut pair = start(lead, 0.0, 7);
        let before = at(&pair);
        pair.push(what);
        pair.run(Duration::from_secs(2));
        assert_moved_and_agrees(&mut pair, before, 0.5, what);
        let stats = pair.stats();
        assert!(stats.replayed > 0, "the owner knew in time: {stats:?}");
        assert_eq!(stats.corrections, 0, "lead {lead}, {what:?}: {stats:?}");
    }
}

#[test]
fn knock_backs_that_the_owner_hears_of_too_late_are_no_errors() {
    assert_late_and_no_error(PredictionConfig::default().push_lead);
}

#[test]
fn knock_backs_that_the_server_does_at_once_are_no_errors() {
    for lead in [1, 0] {
        assert_late_and_no_error(lead);
    }
}

#[test]
fn knock_backs_that_come_late_on_a_lossy_link_are_no_errors() {
    for seed in 1..21 {
        let mut pair = start(PredictionConfig::default().push_lead, 0.2, seed);
        let before = at(&pair);
        let what = CapsulePush::Launch(Vec3::new(0.0, 6.0, 8.0));
        pair.push(what);
        pair.run(Duration::from_secs(2));
        assert_moved_and_agrees(&mut pair, before, 0.5, what);
        assert_eq!(pair.stats().corrections, 0, "seed {seed}: {:?}", pair.stats());
    }
}

#[test]
fn knock_backs_on_a_lossy_link_are_no_errors() {
    for seed in 1..6 {
        for what in pushes() {
            let mut pair = start(LEAD, 0.1, seed);
            let before = at(&pair);
            pair.push(what);
            pair.run(Duration::from_secs(2));
            assert_moved_and_agrees(&mut pair, before, 0.5, what);
            assert_eq!(pair.stats().corrections, 0, "seed {seed}, {what:?}: {:?}", pair.stats());
        }
    }
}

#[test]
fn a_launch_that_is_written_into_the_state_is_corrected_and_says_why() {
    let mut pair = start(LEAD, 0.0, 7);
    let before = at(&pair);
    pair.write_on_server(|state| state.launch(Vec3::new(0.0, 6.0, 8.0)));
    pair.run(Duration::from_secs(2));
    assert_moved_and_agrees(&mut pair, before, 0.5, CapsulePush::Launch(Vec3::ZERO));
    let stats = pair.stats();
    assert!(stats.corrections > 0, "{stats:?}");
    assert_eq!(u64::from(stats.corrections_of(CorrectionCause::ServerPush)), stats.corrections, "{stats:?}");
    assert!(apart_at_equal_moves(&pair) > 0.2, "the owner was wrong for a round trip");
}

#[test]
fn a_launched_pawn_falls_on_both_sides() {
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
fn a_conveyor_of_eight_shoves_a_second_corrects_nobody() {
    let mut pair = start(LEAD, 0.0, 7);
    let before = at(&pair);
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
fn a_conveyor_that_shoves_in_every_tick_corrects_nobody() {
    let mut pair = start(LEAD, 0.0, 7);
    let before = at(&pair);
    for _ in 0..128 {
        pair.push(CapsulePush::Shove(Vec3::Z * 0.5));
        pair.frame();
    }
    pair.run(Duration::from_secs(1));
    assert_moved_and_agrees(&mut pair, before, 2.0, CapsulePush::Shove(Vec3::Z));
    assert_eq!(pair.stats().corrections, 0, "{:?}", pair.stats());
}

#[test]
fn a_push_during_an_outage_happens_on_both_sides() {
    for what in pushes() {
        let mut pair = start(LEAD, 0.0, 7);
        let before = at(&pair);
        pair.pipe.up.loss = 1.0;
        pair.run(Duration::from_millis(800));
        pair.push(what);
        pair.run(Duration::from_millis(400));
        let pushed = at(&pair)[1].z - before[1].z;
        assert!(pushed > 0.1, "{what:?}: a silent client's pawn is pushed, too, not {pushed} m");
        pair.pipe.up.loss = 0.0;
        pair.run(Duration::from_secs(2));
        assert_moved_and_agrees(&mut pair, before, 0.1, what);
    }
}
