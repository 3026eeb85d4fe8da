//! Pawns at other rates than most, and a screen on the server.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag::{net::UpdateInterval, prelude::*, weapons::ShotFired};
use unlag_examples::{
    lockstep::{Match, MatchOptions},
    script::Script,
};

use super::eyes::{self, quantile, report};
use crate::{link_150, own_id, seconds, start};

/// Rounds by the player that the screen showed them hitting: how many, and how many of those the
/// server confirmed.
#[derive(Resource, Default)]
struct Hits {
    open: HashMap<u32, (NetId, HitGroup)>,
    by_target: HashMap<NetId, (u32, u32)>,
}

fn count(
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut hits: ResMut<Hits>,
) {
    let hits = &mut *hits;
    for shot in fired.read() {
        if let Some(hit) = shot.drawn {
            hits.open.insert(shot.shot, (hit.target, hit.group));
            hits.by_target.entry(hit.target).or_default().0 += 1;
        }
    }
    for verdict in verdicts.read() {
        let Some((drawn, group)) = hits.open.remove(&verdict.shot) else { continue };
        if verdict.result == (ShotResult::Hit { target: drawn, group }) {
            hits.by_target.entry(drawn).or_default().1 += 1;
        }
    }
}

fn every_six_ticks(game: &mut Match, players: usize) -> Vec<NetId> {
    let ids: Vec<_> = game.clients.iter_mut().take(players).map(own_id).collect();
    let world = game.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    let rare: Vec<_> = pawns.iter(world).filter(|(_, id)| ids.contains(id)).map(|(pawn, _)| pawn).collect();
    assert_eq!(rare.len(), players);
    rare.into_iter().for_each(|pawn| _ = world.entity_mut(pawn).insert(UpdateInterval(6)));
    ids
}

#[test]
fn a_shot_at_a_pawn_of_a_lower_rate_is_judged_as_it_was_drawn() {
    for rare in [1, 3, 4, 6] {
        let options =
            MatchOptions { players: 6, conditions: link_150(), seed: 11, ..MatchOptions::default() };
        let mut game = start(options);
        let ids = every_six_ticks(&mut game, rare);
        for client in &mut game.clients {
            client.init_resource::<Hits>().add_systems(Update, count);
        }
        game.run(seconds(3.0));
        game.fight(if rare == 1 { 60.0 } else { 30.0 });
        let (mut drawn, mut confirmed) = (0, 0);
        for client in &game.clients {
            let hits = &client.world().resource::<Hits>().by_target;
            for (d, c) in ids.iter().filter_map(|id| hits.get(id)) {
                (drawn, confirmed) = (drawn + d, confirmed + c);
            }
        }
        let all = game.report();
        println!("{rare} of 6: {confirmed} of {drawn} confirmed = {:.3} %; all together {:.3} %\n{}", f64::from(confirmed) * 100.0 / f64::from(drawn), all.agreement(), all.table());
    }
}

#[test]
fn a_host_sees_its_players_glide() {
    for (name, rare) in [("LAN", 0), ("Average (UE)", 0), ("Bad (UE)", 0), ("LAN", 2)] {
        let conditions = LinkPreset::named(name).expect("a preset of ours").conditions();
        let mut game = start(MatchOptions { players: 2, host: true, conditions, ..MatchOptions::default() });
        for (seed, client) in (0..).zip(&mut game.clients) {
            client.world_mut().insert_resource(Script::touring(seed));
        }
        every_six_ticks(&mut game, rare);
        game.run(seconds(8.0));
        eyes::open(&mut game);
        game.run(seconds(30.0));
        for id in [0, 1].map(|i| own_id(&mut game.clients[i])) {
            let seen = eyes::seen(&game.server, id, 0.0);
            let all = report(&game.server, id, &seen);
            println!("alive sights {} truths {}", seen.len(), seen.iter().filter(|s| eyes::truth(&game.server, id, s.time().0).is_some()).count());
            println!("{:?}", seen.iter().filter(|s| eyes::truth(&game.server, id, s.time().0).is_none()).take(5).collect::<Vec<_>>());
            println!("{name} {rare} rare: {id:?} {} frames, error p50 {:.4} p99 {:.4} max {:.4}; steps p99 {:.4} p999 {:.4} max {:.4}; {} freezes max {:.3}, {} beyond",
            all.errors.len(), quantile(&all.errors, 0.5), quantile(&all.errors, 0.99), quantile(&all.errors, 1.0),
            quantile(&all.steps, 0.99), quantile(&all.steps, 0.999), quantile(&all.steps, 1.0),
            all.freezes.len(), quantile(&all.freezes, 1.0), all.beyond);
        }
    }
}
