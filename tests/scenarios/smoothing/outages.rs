//! Spells without a word.

use bevy::prelude::*;
use bevy_unlag::{prelude::*, smoothing::SmoothingStats};
use unlag_examples::stepped_match::Match;

use super::{
    eyes::{self, Sight},
    pairs, preset, tourists,
};
use crate::{hold_still, own_id, seconds, state};

/// Average, but what is lost is lost by the test.
fn usual() -> LinkConditions {
    LinkConditions { loss: 0.0, ..preset("Average (UE)") }
}

fn dark() -> LinkConditions {
    LinkConditions { loss: 1.0, ..usual() }
}

fn link(game: &mut Match, client: usize, change: impl Fn(&mut NetSim)) {
    let world = game.clients[client].world_mut();
    world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| change(&mut sim));
}

fn snaps(app: &App) -> u64 {
    app.world().resource::<SmoothingStats>().snaps
}

fn step(pair: &[Sight]) -> f32 {
    pair[1].place.distance(pair[0].place)
}

/// The names of the pawns that an app has.
fn names(app: &mut App) -> Vec<NetId> {
    let world = app.world_mut();
    let mut names: Vec<_> = world.query::<&NetId>().iter(world).copied().collect();
    names.sort_unstable();
    names
}

/// Whoever is drawn beyond what is known is carried on for 250 ms, 3/4 of that way at the most, and
/// then stands.
fn assert_carried_on_and_held(seen: &[Sight], what: &str) {
    let beyond = |sight: &Sight| sight.time().1;
    let held: Vec<_> =
        seen.windows(2).filter(|pair| beyond(&pair[0]) >= 16.0 && beyond(&pair[1]) > 16.0).collect();
    assert!(held.len() > 30, "{what}: the outage was too short to stand: {} frames", held.len());
    assert!(held.iter().all(|pair| step(pair) < 0.001), "{what}: what is held slides");
    let begin = seen.iter().position(|sight| beyond(sight) > 0.5).expect("it is carried on");
    let carried = seen[begin].place.distance(held[0][0].place);
    // Nobody falls faster than that here.
    assert!(carried < 8.0 * 0.25, "{what}: carried on for {carried} m");
}

#[test]
fn after_two_seconds_of_silence_everybody_is_seen_where_they_are() {
    let (mut longest, mut largest) = (0.0f64, 0.0f32);
    for seed in [1, 2] {
        let mut game = tourists(3, usual(), seed);
        game.run(seconds(1.0));
        let before = names(&mut game.server);
        let from: Vec<_> = game.clients.iter().map(eyes::now).collect();
        game.set_conditions(dark());
        game.run(seconds(2.0));
        game.set_conditions(usual());
        game.run(seconds(4.0));
        for (client, id) in pairs(&mut game) {
            let seen = eyes::seen(&game.clients[client], id, from[client]);
            assert_carried_on_and_held(&seen, &format!("{id:?} seen by client {client}, seed {seed}"));
            largest = seen.windows(2).map(step).fold(largest, f32::max);
            let dark = |sight: &&Sight| sight.time().1 > 16.0;
            let end = seen.iter().rfind(dark).expect("it was dark").now;
            let back = eyes::back(&seen, end, |sight| sight.place.distance(sight.pose) > 0.05);
            longest = longest.max(back - from[client] - 2.0);
        }
        for client in &mut game.clients {
            assert_eq!(names(client), before, "pawns came or went");
            hold_still(client);
        }
        game.run(seconds(2.0));
        let from: Vec<_> = game.clients.iter().map(eyes::now).collect();
        game.run(seconds(1.0));
        for (client, id) in pairs(&mut game) {
            let seen = eyes::seen(&game.clients[client], id, from[client]);
            let place = state(&mut game.server, id).body.position;
            let off = seen.iter().map(|sight| sight.place.distance(place)).fold(0.0, f32::max);
            assert!(!seen.is_empty() && off < 0.005, "client {client} sees {id:?} {off} m beside its place");
        }
    }
    println!("within 5 cm {longest:.3} s after the outage; the largest step is {largest:.2} m");
    // The way down, and half a second to come over.
    assert!(longest < 0.6, "astray for {longest} s");
    assert!(largest < 1.5, "a pop of {largest} m");
}

#[test]
fn a_second_without_news_is_carried_on_held_and_recovered_from_without_a_snap() {
    for seed in [1, 2, 3] {
        let mut game = tourists(3, usual(), seed);
        game.run(seconds(1.0));
        let from = eyes::now(&game.clients[1]);
        link(&mut game, 1, |sim| sim.down = dark());
        game.run(seconds(1.0));
        link(&mut game, 1, |sim| sim.down = usual());
        game.run(seconds(3.0));
        for (_, id) in pairs(&mut game).into_iter().filter(|(client, _)| *client == 1) {
            let seen = eyes::seen(&game.clients[1], id, from);
            assert_carried_on_and_held(&seen, &format!("{id:?}, seed {seed}"));
            let largest = seen.windows(2).map(step).fold(0.0, f32::max);
            println!("{id:?}, seed {seed}: the largest step is {largest:.2} m");
            assert!(largest < 0.5, "a snap of {largest} m");
            let late = seen.iter().filter(|sight| sight.now > from + 1.0 + 0.8);
            assert!(late.clone().all(|sight| sight.place.distance(sight.pose) < 0.05), "it never comes over");
        }
        assert_eq!(snaps(&game.clients[1]), 0);
    }
}

#[test]
fn who_falls_silent_is_seen_to_stop() {
    for seed in [1, 2, 3] {
        let mut game = tourists(3, usual(), seed);
        game.run(seconds(1.0));
        let id = own_id(&mut game.clients[0]);
        let from = eyes::now(&game.clients[1]);
        link(&mut game, 0, |sim| sim.up = dark());
        game.run(seconds(1.5));
        link(&mut game, 0, |sim| sim.up = usual());
        game.run(seconds(3.0));
        let seen = eyes::seen(&game.clients[1], id, from);
        let speed = |pair: &[Sight]| step(pair) / (pair[1].now - pair[0].now) as f32;
        let between =
            |a: f64, b: f64| seen.windows(2).filter(move |pair| (from + a..from + b).contains(&pair[1].now));
        assert!(between(0.0, 0.1).all(|pair| speed(pair) > 1.0), "seed {seed}: it runs before");
        // What was sent arrives and waits its turn, 45 and 80 ms, and is seen 45 and 80 ms later; a copy
        // goes on for 125 ms and brakes, until the server gives up waiting after 250 ms.
        let moving = between(0.0, 1.5).rfind(|pair| speed(pair) > 0.5);
        let moving = moving.map_or(0.0, |pair| pair[1].now - from);
        let back = between(0.25, 1.5).map(step).fold(0.0, f32::max);
        println!("seed {seed}: it stands after {moving:.3} s; what the copy takes back is {back:.2} m");
        assert!(moving < 0.55, "seed {seed}: it still moves after {moving} s");
        // At 3 m/s. One that walked on for those 250 ms would be twice as far.
        assert!(back < 0.24, "seed {seed}: the copy went {back} m too far");
        // And then it goes on.
        assert!(between(2.5, 4.5).any(|pair| speed(pair) > 1.0), "seed {seed}: it never moves again");
    }
}
