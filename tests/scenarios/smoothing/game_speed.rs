//! Slow motion and pauses of the whole game.

use bevy::prelude::*;
use bevy_unlag::{
    link_conditioner::LinkConditions,
    net::GameSpeed,
    prediction::{CorrectionCause, TimeDiscrepancy},
    prelude::*,
    smoothing::{PlayoutClocks, SmoothingStats},
};
use unlag_examples::stepped_match::{Match, MatchOptions};

use super::{
    observation::{self, DrawnFrame, Report, drawn_frames, quantile, report},
    pairs, start_tour,
};
use crate::{link_150, seconds, start, stats};

/// Speeds of the game, each with its duration in seconds.
const SPEEDS: [(f32, f64); 3] = [(0.3, 2.0), (0.0, 1.0), (1.0, 4.0)];
/// Frame time of the clients in seconds, and the speed of the fastest fall in the level in metres per second.
const FRAME: f32 = 1.0 / 60.0;
const TOP_SPEED: f32 = 8.0;

/// A link without loss, on which every announcement arrives with the snapshots.
fn link() -> LinkConditions {
    LinkConditions { loss: 0.0, ..link_150() }
}

/// Sets the speed of the game on the server, and with `everywhere` also on all clients at the same moment.
fn set_speed(game: &mut Match, speed: f32, everywhere: bool) {
    game.server.insert_resource(GameSpeed(speed));
    for client in game.clients.iter_mut().filter(|_| everywhere) {
        client.insert_resource(GameSpeed(speed));
    }
}

/// Corrections of each client, except for those that contact with another pawn has caused.
fn corrections(game: &mut Match) -> Vec<u64> {
    let count = |client: &mut App| {
        let stats = stats(client);
        stats.corrections - u64::from(stats.corrections_of(CorrectionCause::OtherPawn))
    };
    game.clients.iter_mut().map(count).collect()
}

/// Detections and withheld moves of each pawn on the server.
fn detections(game: &mut Match) -> Vec<(u16, u64)> {
    let world = game.server.world_mut();
    let mut pawns = world.query::<(&TimeDiscrepancy, &PredictionStats)>();
    pawns.iter(world).map(|(account, stats)| (account.detected, stats.withheld)).collect()
}

/// Snaps and jumps of the playout clock on each client, and its delay in milliseconds.
fn playout(game: &Match) -> Vec<(u64, u64, f32)> {
    let read = |client: &App| {
        let stats = client.world().resource::<SmoothingStats>();
        let clock = client.world().resource::<PlayoutClocks>().primary().expect("remote pawns are drawn");
        (stats.snaps, clock.jumps(), stats.delay_ms)
    };
    game.clients.iter().map(read).collect()
}

/// The largest step of a pawn from one frame to the next in a span of the client's clock, in metres.
fn largest_step(frames: &[DrawnFrame], from: f64, to: f64) -> f32 {
    let within = frames.windows(2).filter(|pair| pair[0].now >= from && pair[1].now <= to);
    within.map(|pair| pair[1].place.distance(pair[0].place)).fold(0.0, f32::max)
}

#[test]
fn remote_pawns_glide_through_slow_motion_and_a_pause() {
    for everywhere in [false, true] {
        let mut game = start_tour(3, link(), 1);
        game.run(seconds(1.0));
        let (before, corrected) = (playout(&game), corrections(&mut game));
        let began: Vec<f64> = game.clients.iter().map(observation::now).collect();
        for (speed, time) in SPEEDS {
            set_speed(&mut game, speed, everywhere);
            game.run(seconds(time));
            for client in &game.clients {
                assert_eq!(client.world().resource::<GameSpeed>().0, speed, "clients follow the server");
            }
            for ((snaps, jumps, delay), now) in before.iter().zip(playout(&game)) {
                assert_eq!((*snaps, *jumps), (now.0, now.1), "at speed {speed}, everywhere: {everywhere}");
                assert!((now.2 - delay).abs() < 40.0, "{delay} ms of delay became {} ms at {speed}", now.2);
            }
        }
        assert_eq!(corrections(&mut game), corrected, "everywhere: {everywhere}");
        assert!(detections(&mut game).iter().all(|found| *found == (0, 0)), "{:?}", detections(&mut game));
        let mut all = Report::default();
        for (client, id) in pairs(&mut game) {
            let (from, what) = (began[client], format!("{id:?} on client {client}"));
            let frames = drawn_frames(&game.clients[client], id, from);
            let longest = largest_step(&frames, from, from + 7.0);
            // A step up a stair of 0.2 m takes one frame.
            assert!(longest < TOP_SPEED * FRAME * 2.0, "{what}: a jump of {longest} m");
            let slow = largest_step(&frames, from + 0.3, from + 2.0);
            assert!(slow < TOP_SPEED * FRAME * 0.3 * 1.1 + 0.01, "{what}: {slow} m in slow motion");
            let paused = largest_step(&frames, from + 2.3, from + 3.0);
            assert!(paused < 0.005, "{what}: {paused} m in the pause");
            let again = largest_step(&frames, from + 4.0, from + 7.0);
            assert!(again > 3.0 * FRAME, "{what} does not run again: {again} m");
            all.merge(report(&game.server, id, &frames));
        }
        println!("everywhere: {everywhere}: {all}");
        assert!(quantile(&all.steps, 0.99) < 0.02, "frame steps differ from the server's: {all}");
        assert!(quantile(&all.errors, 0.99) < 0.05, "drawn positions differ from the server's: {all}");
    }
}

/// The control: a client that keeps its own speed.
#[test]
fn client_that_does_not_slow_down_is_detected() {
    let mut game = start_tour(2, link(), 1);
    for client in &mut game.clients {
        client.add_systems(PostUpdate, |mut speed: ResMut<GameSpeed>| speed.0 = 1.0);
    }
    set_speed(&mut game, 0.3, false);
    game.run(seconds(6.0));
    assert!(detections(&mut game).iter().all(|(detected, _)| *detected > 0), "{:?}", detections(&mut game));
}

#[test]
fn pauses_whose_announcement_is_lost_are_no_speed_hack() {
    let mut game = start_tour(2, LinkConditions { loss: 0.1, ..link_150() }, 3);
    for _ in 0..10 {
        set_speed(&mut game, 0.0, false);
        game.run(seconds(1.0));
        set_speed(&mut game, 1.0, false);
        game.run(seconds(1.5));
    }
    assert!(detections(&mut game).iter().all(|found| *found == (0, 0)), "{:?}", detections(&mut game));
    for client in &mut game.clients {
        let stats = stats(client);
        assert_eq!(stats.corrections_of(CorrectionCause::ClientClock), 0, "{stats:?}");
    }
}

#[test]
fn hits_in_slow_motion_and_around_pauses_agree() {
    let options = MatchOptions { players: 6, conditions: link(), seed: 11, ..MatchOptions::default() };
    let mut game = start(options);
    game.set_firing(true);
    for _ in 0..8 {
        for (speed, time) in [(0.3, 3.0), (1.0, 2.0), (0.0, 0.5), (1.0, 0.5)] {
            set_speed(&mut game, speed, false);
            game.run(seconds(time));
        }
    }
    game.set_firing(false);
    game.run(seconds(3.0));
    let report = game.report();
    let total = report.total();
    assert!(total.drawn > 100, "too few hits: {}", report.table());
    assert!(report.agreement() >= 98.0, "{}", report.table());
    assert_eq!(total.lost, 0, "{}", report.table());
}

#[test]
fn late_joiner_learns_the_speed_and_forgets_it_when_it_leaves() {
    let mut game = start_tour(2, link(), 1);
    set_speed(&mut game, 0.5, false);
    game.run(seconds(1.0));
    let late = game.join().expect("a token");
    game.run(seconds(4.0));
    let speed = |game: &Match| game.clients[late].world().resource::<GameSpeed>().0;
    assert_eq!(speed(&game), 0.5);
    assert!(game.is_playing(late), "it has a pawn");
    game.disconnect(late);
    game.run(seconds(0.5));
    assert_eq!(speed(&game), 1.0);
}
