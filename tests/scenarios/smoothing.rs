//! Others glide: what players see of each other through bad links and outages.

mod eyes;
mod outages;
mod rates;

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use unlag_examples::{
    lockstep::{Match, MatchOptions},
    script::Script,
};

use crate::{own_id, seconds, start};
use eyes::{Report, quantile, report, seen};

fn preset(name: &str) -> LinkConditions {
    LinkPreset::named(name).expect("a preset of ours").conditions()
}

/// Some who run over everything and shoot nobody; their clocks have learnt the link.
fn tourists(players: u64, conditions: LinkConditions, seed: u64) -> Match {
    let options = MatchOptions { players, conditions, seed, fps: 60.0, ..MatchOptions::default() };
    let mut game = start(options);
    for (seed, client) in (0..).zip(&mut game.clients) {
        client.world_mut().insert_resource(Script::touring(seed));
    }
    game.run(seconds(8.0));
    eyes::open(&mut game);
    game
}

/// What everybody sees of everybody else.
fn everybody(game: &mut Match, from: f64) -> Report {
    let ids: Vec<_> = game.clients.iter_mut().map(own_id).collect();
    let mut all = Report::default();
    for (i, client) in game.clients.iter().enumerate() {
        for (j, id) in ids.iter().enumerate() {
            if i != j {
                all.take(report(&game.server, *id, &seen(client, *id, from)));
            }
        }
    }
    all
}

#[test]
fn on_bad_links_others_glide_where_the_server_has_them() {
    for name in ["Perfect"] {
        let mut all = Report::default();
        let begin = std::time::Instant::now();
        for seed in 1..4 {
            let mut game = tourists(3, preset(name), seed);
            game.run(seconds(40.0));
            for c in &mut game.clients { let w = c.world_mut(); for s in w.query::<&NetSim>().iter(w) { println!("{:?} / {:?}", s.down_counters(), s.up_counters()); } }
            all.take(everybody(&mut game, 0.0));
        }
        { let mut f = all.freezes.clone(); f.sort_by(f64::total_cmp); println!("{f:.2?}"); }
        println!("{name}: {} frames, error p50 {:.4} p99 {:.4} p999 {:.4} max {:.4}; steps p99 {:.4} p999 {:.4} max {:.4}; {} freezes p50 {:.3} p99 {:.3} max {:.3}, {} beyond; {:?}",
            all.errors.len(), quantile(&all.errors, 0.5), quantile(&all.errors, 0.99), quantile(&all.errors, 0.999), quantile(&all.errors, 1.0),
            quantile(&all.steps, 0.99), quantile(&all.steps, 0.999), quantile(&all.steps, 1.0),
            all.freezes.len(), quantile(&all.freezes, 0.5), quantile(&all.freezes, 0.99), quantile(&all.freezes, 1.0), all.beyond, begin.elapsed());
    }
}
