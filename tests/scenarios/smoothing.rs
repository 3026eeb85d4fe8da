//! Others glide: what players see of each other through bad links and outages.

mod eyes;
mod outages;
mod rates;

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use unlag_examples::{
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
};

use crate::{own_id, seconds, start};
use eyes::{Report, Sight, quantile, report, seen, truth};

fn preset(name: &str) -> LinkConditions {
    LinkPreset::named(name).expect("a preset of ours").conditions()
}

/// Some who run over everything and shoot nobody; their clocks have learnt the link.
fn tourists(players: u64, conditions: LinkConditions, seed: u64) -> Match {
    let options = MatchOptions { players, conditions, seed, fps: 60.0, ..MatchOptions::default() };
    let mut game = start(options);
    for (seed, client) in (0..).zip(&mut game.clients) {
        client.world_mut().insert_resource(ScriptedPlayer::touring(seed));
    }
    game.run(seconds(8.0));
    eyes::open(&mut game);
    game
}

/// What everybody sees of everybody else: clients and whom they see.
fn pairs(game: &mut Match) -> Vec<(usize, NetId)> {
    let ids: Vec<_> = game.clients.iter_mut().map(own_id).collect();
    let others = |i| ids.iter().enumerate().filter(move |(j, _)| *j != i).map(move |(_, id)| (i, *id));
    (0..ids.len()).flat_map(others).collect()
}

fn everybody(game: &mut Match) -> Report {
    let mut all = Report::default();
    for (client, id) in pairs(game) {
        all.take(report(&game.server, id, &seen(&game.clients[client], id, 0.0)));
    }
    all
}

#[test]
fn on_bad_links_others_glide_where_the_server_has_them() {
    for name in ["Average (UE)", "Bad (UE)"] {
        let mut all = Report::default();
        for seed in [1, 2] {
            let mut game = tourists(3, preset(name), seed);
            game.run(seconds(30.0));
            all.take(everybody(&mut game));
        }
        println!("{name}: {all}");
        assert!(quantile(&all.steps, 0.99) < 0.02, "{name}: frames step beside the server's: {all}");
        assert!(quantile(&all.errors, 0.99) < 0.05, "{name}: they are not where the server has them: {all}");
        assert!(quantile(&all.freezes, 1.0) < 0.15, "{name}: they stand: {all}");
    }
}

/// Every few seconds eight packets in a row are lost on the way down or up, 3 % of each way.
#[test]
fn bursts_of_eight_lost_packets_freeze_nobody() {
    let usual = LinkConditions { loss: 0.0, ..preset("Bursty") };
    let dark = LinkConditions { loss: 1.0, ..usual };
    let (mut all, mut bursts) = (Report::default(), 0);
    for seed in [1, 2] {
        let mut game = tourists(3, usual, seed);
        let way = |game: &mut Match, down: bool, conditions: LinkConditions| {
            for client in &mut game.clients {
                let world = client.world_mut();
                for mut sim in world.query::<&mut NetSim>().iter_mut(world) {
                    *(if down { &mut sim.down } else { &mut sim.up }) = conditions;
                }
            }
        };
        for burst in 0..24 {
            let down = burst % 2 == 0;
            let before = lost(&mut game, down);
            way(&mut game, down, dark);
            while lost(&mut game, down) < before + 8 {
                game.run(seconds(0.005));
            }
            way(&mut game, down, usual);
            // About 60 packets a second go each way.
            game.run(seconds(8.0 / 60.0 / 0.03 / 2.0 - 0.1));
            bursts += 2;
        }
        all.take(everybody(&mut game));
    }
    // A burst that freezes nobody is an event, too.
    all.freezes.resize(all.freezes.len().max(bursts * 3), 0.0);
    println!("bursts of 8: {all}");
    assert!(quantile(&all.freezes, 0.99) < 0.15, "{all}");
    assert!(quantile(&all.steps, 0.99) < 0.03, "{all}");
}

/// Packets that the first client's link has lost in one direction.
fn lost(game: &mut Match, down: bool) -> u64 {
    let world = game.clients[0].world_mut();
    let mut sims = world.query::<&NetSim>();
    let counters = sims.iter(world).map(|sim| if down { sim.down_counters() } else { sim.up_counters() });
    counters.map(|counters| counters.lost).sum()
}

#[test]
fn bursts_of_eight_on_average_freeze_few() {
    let (mut all, mut bursts) = (Report::default(), 0);
    for seed in [1, 2, 3] {
        let mut game = tourists(3, preset("Bursty"), seed);
        game.run(seconds(40.0));
        all.take(everybody(&mut game));
        // Two others stand when a client hears nothing.
        bursts += lost(&mut game, true) / 8 * 3 * 2;
    }
    let long = all.freezes.iter().filter(|time| **time >= 0.15).count();
    println!("Bursty: {bursts} bursts, {long} of 150 ms and more; {all}");
    // One in thirty is longer than half a second, and nobody can know.
    assert!(bursts > 80 && long as u64 * 20 < bursts, "{long} long freezes in {bursts} bursts: {all}");
    assert!(quantile(&all.steps, 0.99) < 0.08, "{all}");
}

/// Every 15 s the satellite changes: 100 ms more for 140 ms, in which a third is lost.
#[test]
fn a_change_of_the_satellite_hardly_shows() {
    const CHANGES: [f64; 3] = [15.0, 30.0, 45.0];
    let (mut all, mut longest) = (Report::default(), 0.0f64);
    for seed in [1, 2, 3] {
        let mut game = tourists(3, LinkConditions { loss: 0.0, ..preset("Starlink") }, seed);
        game.run(seconds(40.0));
        for (client, id) in pairs(&mut game) {
            let seen = seen(&game.clients[client], id, 0.0);
            let astray = |sight: &Sight| {
                let place = truth(&game.server, id, sight.time().0);
                place.is_some_and(|(place, _)| place.distance(sight.place) > 0.05)
            };
            longest =
                CHANGES.map(|at| eyes::back(&seen, at, astray) - at).into_iter().fold(longest, f64::max);
            all.take(report(&game.server, id, &seen));
        }
    }
    println!("Starlink: back after {longest:.3} s; {all}");
    assert!(quantile(&all.steps, 0.99) < 0.02, "{all}");
    assert!(quantile(&all.freezes, 1.0) < 0.15, "{all}");
    // 100 ms of those are the way that the last late packet takes.
    assert!(longest < 0.5, "{longest} s");
}
