//! Silence and stalls in the middle of a fight: rows F12, F13, F17 and F18.

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use unlag_examples::{app::ServerOptions, stepped_match::MatchOptions, weapon_set::WeaponSet};

use super::{preset, trial::Trial};
use crate::fire::Noted;

/// The average link, on which nothing is lost by chance.
fn usual() -> LinkConditions {
    LinkConditions { loss: 0.0, ..preset("Average (UE)") }
}

const DARK: LinkConditions = LinkConditions { loss: 1.0, ..LinkConditions::PERFECT };
/// Its round trip at the most.
const ROUND_TRIP: f64 = 0.12;

/// Four who fight.
fn fight(what: &str, seed: u64, weapon_set: WeaponSet) -> Trial {
    let server = ServerOptions { weapon_set, ..default() };
    let options = MatchOptions { players: 4, conditions: usual(), seed, server, ..default() };
    let mut trial = Trial::new(what, options);
    trial.game.set_firing(true);
    trial.run(5.0);
    trial
}

fn set(trial: &mut Trial, up: LinkConditions, down: LinkConditions) {
    for client in &mut trial.game.clients {
        let world = client.world_mut();
        world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| (sim.up, sim.down) = (up, down));
    }
}

fn ways(up: bool, down: bool) -> &'static str {
    match (up, down) {
        (true, true) => "both ways",
        (true, false) => "up",
        _ => "down",
    }
}

fn silence(trial: &mut Trial, time: f64, up: bool, down: bool) {
    let dark = |dark| if dark { DARK } else { usual() };
    set(trial, dark(up), dark(down));
    trial.run(time);
    set(trial, usual(), usual());
}

/// `T_conv` of a tour.
fn back(time: f64, up: bool, down: bool, seed: u64) -> f64 {
    let what = format!("{time} s of silence {}", ways(up, down));
    let mut tour = Trial::tour(&what, 2, usual(), seed);
    silence(&mut tour, time, up, down);
    let from = tour.clocks();
    tour.run(4.0);
    let back = tour.back(&from);
    println!("{what}, seed {seed}: back after {back:.3} s");
    tour.check();
    back
}

/// A fight in which that happens three times; every shot is accounted for.
fn fought(time: f64, up: bool, down: bool, seed: u64) {
    let what = format!("a fight with {time} s of silence {}", ways(up, down));
    let mut trial = fight(&what, seed, WeaponSet::All);
    for _ in 0..3 {
        silence(&mut trial, time, up, down);
        trial.run(2.0);
    }
    trial.game.set_firing(false);
    trial.run(3.0);
    let rounds = trial.game.server.world().resource::<Noted>().left.len();
    println!("{what}: {rounds} rounds");
    assert!(rounds > 40, "{rounds} rounds");
    trial.check();
}

#[test]
fn f12_after_silence_both_ways_owners_are_back_and_every_shot_is_accounted_for() {
    for time in [0.25, 1.0, 2.0] {
        for seed in [1, 2] {
            let back = back(time, true, true, seed);
            assert!(back <= ROUND_TRIP + 0.25, "{back} s after {time} s of silence, seed {seed}");
        }
        fought(time, true, true, 2);
    }
}

#[test]
fn f13_after_silence_one_way_owners_are_back_and_every_shot_is_accounted_for() {
    for (up, down) in [(true, false), (false, true)] {
        let back = back(1.0, up, down, 3);
        assert!(back <= ROUND_TRIP + 0.25, "{back} s");
        fought(1.0, up, down, 3);
    }
}

/// Moves that the server runs from now on: when the first one runs, in seconds, up to a second.
fn until_moves_run(trial: &mut Trial) -> f64 {
    let run = |trial: &mut Trial| -> Vec<u64> {
        let world = trial.game.server.world_mut();
        let mut pawns = world.query::<(&NetId, &PredictionStats)>();
        let mut all: Vec<_> = pawns.iter(world).map(|(id, stats)| (*id, stats.moves)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, moves)| moves).collect()
    };
    let before = run(trial);
    for step in 1..=100 {
        trial.run(0.01);
        if run(trial).iter().zip(&before).all(|(now, before)| now > before) {
            return f64::from(step) * 0.01;
        }
    }
    f64::INFINITY
}

#[test]
fn f17_and_f18_a_server_that_stood_still_takes_moves_again_and_gives_no_kills_away() {
    for (stall, most) in [(0.15, 0), (1.2, 2), (2.5, 2)] {
        let what = format!("a server that stands still for {stall} s");
        let mut tour = Trial::tour(&what, 2, usual(), 4);
        let before = tour.corrections();
        tour.game.stall_server(crate::seconds(stall));
        tour.run(stall);
        let from = tour.clocks();
        let again = until_moves_run(&mut tour);
        tour.run(4.0);
        let (corrections, back) = (tour.most_since(&before), tour.back(&from));
        println!("{what}: moves run after {again:.2} s, back after {back:.3} s, {corrections} corrections");
        assert!(again <= 0.5, "{again} s until moves run");
        assert!(corrections <= most, "{corrections} corrections");
        assert!(back <= ROUND_TRIP + 0.5, "{back} s");
        tour.check();

        let mut trial = fight(&what, 5, WeaponSet::default());
        for _ in 0..6 {
            trial.game.stall_server(crate::seconds(stall));
            trial.run(stall + 2.0);
        }
        trial.game.set_firing(false);
        trial.run(3.0);
        let total = trial.game.report().total();
        println!("{total:?}");
        // A hit that no screen has shown would be a free one.
        let drawn = total.drawn_of_confirmed().unwrap_or(0.0);
        assert!(total.confirmed > 20 && drawn >= 98.0, "{drawn} % of {} hits were seen", total.confirmed);
        trial.check();
    }
}
