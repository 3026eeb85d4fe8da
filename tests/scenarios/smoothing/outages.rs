//! Spells without a word.

use bevy::prelude::*;
use bevy_unlag::{prelude::*, smoothing::SmoothingStats};
use unlag_examples::lockstep::Match;

use super::{eyes, everybody, preset, tourists};
use crate::{hold_still, own_id, seconds};

fn set(game: &mut Match, client: usize, change: impl Fn(&mut NetSim)) {
    let world = game.clients[client].world_mut();
    world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| change(&mut sim));
}

fn stats(app: &App) -> SmoothingStats {
    *app.world().resource::<SmoothingStats>()
}


fn trace(game: &Match, i: usize, id: NetId, from: f64, what: &str) {
    let seen = eyes::seen(&game.clients[i], id, from);
    let step = seen.windows(2).map(|p| p[1].place.distance(p[0].place)).fold(0.0, f32::max);
    let beyond = seen.iter().map(|s| s.time().1).fold(0.0, f32::max);
    let dark: Vec<f32> = seen.windows(2).filter(|p| p[1].time().1 > 16.0 && p[0].time().1 > 16.0).map(|p| p[1].place.distance(p[0].place)).collect();
    println!("{what}: client {i} sees {id:?}: largest step {step:.3}, beyond {beyond:.1} ticks; dark {} frames max {:.4}", dark.len(), dark.iter().copied().fold(0.0, f32::max));
    for p in seen.windows(2) {
        let step = p[1].place.distance(p[0].place);
        if step > 0.2 {
            let t = |s: &eyes::Sight| eyes::truth(&game.server, id, s.time().0).map(|t| t.0);
            println!("   {:.3}: step {step:.3} truth step {:?} offsets {:.3} {:.3} {:?} -> {:?}", p[1].now - from, t(&p[1]).zip(t(&p[0])).map(|(a, b)| a.distance(b)), p[0].place.distance(p[0].pose), p[1].place.distance(p[1].pose), p[0].stamp, p[1].stamp);
        }
    }
}

#[test]
fn explore() {
    let usual = preset("Average (UE)");
    for (what, time) in [("both", 2.0), ("both", 1.0), ("both", 0.25), ("down", 1.0), ("down", 2.0), ("up", 1.0)] {
        for seed in 1..4 {
            let mut game = tourists(3, usual, seed);
            game.run(seconds(1.0));
            let id = own_id(&mut game.clients[0]);
            let dark = LinkConditions { loss: 1.0, ..usual };
            for client in 0..3 {
                set(&mut game, client, |sim| match what {
                    "both" => sim.set(dark),
                    "down" if client == 1 => sim.down = dark,
                    "up" if client == 0 => sim.up = dark,
                    _ => (),
                });
            }
            let from = eyes::now(&game.clients[1]);
            game.run(seconds(time));
            (0..3).for_each(|client| set(&mut game, client, |sim| sim.set(usual)));
            game.run(seconds(3.0));
            trace(&game, 1, id, from, &format!("{what} {time} seed {seed}"));
            println!("   {:?}", stats(&game.clients[1]));
        }
    }
}
