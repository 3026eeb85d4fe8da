//! Pawns with reduced update rates, and remote pawns on the screen of a listen server host.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag::{
    core::Tick,
    link_conditioner::LinkPreset,
    net::UpdateInterval,
    prelude::*,
    weapons::{ShotFired, ShotResult},
};
use unlag_examples::{
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
};

use super::observation::{self, Report, quantile, report};
use crate::{link_150, own_id, seconds, start};

/// Per target, the number of hits that the screen showed, and of those that the server confirmed.
#[derive(Resource, Default)]
struct Hits {
    open: HashMap<Tick, (NetId, HitGroup)>,
    by_target: HashMap<NetId, (u32, u32)>,
}

fn count(
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut hits: ResMut<Hits>,
) {
    let hits = &mut *hits;
    for shot in fired.read() {
        if let Some(hit) = shot.drawn() {
            hits.open.insert(shot.round.shot, (hit.target, hit.group));
            hits.by_target.entry(hit.target).or_default().0 += 1;
        }
    }
    for verdict in verdicts.read() {
        let Some((drawn, group)) = hits.open.remove(&verdict.shot) else { continue };
        if verdict.result == ShotResult::Hit([(drawn, group)].into_iter().collect()) {
            hits.by_target.entry(drawn).or_default().1 += 1;
        }
    }
}

fn update_every_six_ticks(game: &mut Match, players: usize) -> Vec<NetId> {
    let ids: Vec<_> = game.clients.iter_mut().take(players).map(own_id).collect();
    let world = game.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    let rare: Vec<_> = pawns.iter(world).filter(|(_, id)| ids.contains(id)).map(|(pawn, _)| pawn).collect();
    assert_eq!(rare.len(), players);
    rare.into_iter().for_each(|pawn| _ = world.entity_mut(pawn).insert(UpdateInterval(6)));
    ids
}

/// Runs a fight of six players, of whom `rare` are updated every 6 ticks. Returns the hits on those that
/// screens showed, how many of them the server confirmed, and the agreement of all shots in percent.
fn fight(rare: usize, time: f64) -> (u32, u32, f64) {
    let options = MatchOptions { players: 6, conditions: link_150(), seed: 11, ..MatchOptions::default() };
    let mut game = start(options);
    let ids = update_every_six_ticks(&mut game, rare);
    for client in &mut game.clients {
        client.init_resource::<Hits>().add_systems(Update, count);
    }
    game.run(seconds(3.0));
    game.fight(time);
    let hits = game.clients.iter().map(|client| &client.world().resource::<Hits>().by_target);
    let of_rare = hits.flat_map(|hits| ids.iter().filter_map(|id| hits.get(id)));
    let (drawn, confirmed) = of_rare.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (drawn, confirmed, game.report().agreement())
}

fn assert_drawn_hits_are_confirmed(rare: usize, time: f64) {
    let (drawn, confirmed, agreement) = fight(rare, time);
    println!("{rare} of 6: {confirmed} of {drawn} confirmed; all shots {agreement:.2} %");
    assert!(drawn >= 200, "{rare} of 6: only {drawn} drawn hits");
    assert!(f64::from(confirmed) >= 0.99 * f64::from(drawn), "{rare} of 6: {confirmed} of {drawn}");
    assert!(agreement >= 99.0, "{rare} of 6: {agreement} %");
}

#[test]
fn drawn_hits_on_pawns_with_lower_update_rates_are_confirmed() {
    assert_drawn_hits_are_confirmed(4, 45.0);
}

// A few slowly updated pawns, and so many that a ray passes more of them than a shot can list.
#[test]
#[ignore = "long: two minutes of play"]
fn drawn_hits_on_few_and_many_pawns_with_lower_update_rates_are_confirmed() {
    assert_drawn_hits_are_confirmed(2, 80.0);
    assert_drawn_hits_are_confirmed(6, 36.0);
}

#[test]
fn remote_pawns_move_smoothly_on_the_hosts_screen() {
    for (name, rare) in [("LAN", 0), ("Average (UE)", 0), ("Bad (UE)", 0), ("Average (UE)", 2)] {
        let conditions = LinkPreset::named(name).expect("a built-in preset").conditions();
        let mut game = start(MatchOptions { players: 2, host: true, conditions, ..MatchOptions::default() });
        for (seed, client) in (0..).zip(&mut game.clients) {
            client.world_mut().insert_resource(ScriptedPlayer::touring(seed));
        }
        game.server.world_mut().insert_resource(ScriptedPlayer::idle());
        update_every_six_ticks(&mut game, rare);
        game.run(seconds(8.0));
        observation::start_recording(&mut game);
        game.run(seconds(15.0));
        let mut all = Report::default();
        for id in [0, 1].map(|i| own_id(&mut game.clients[i])) {
            all.merge(report(&game.server, id, &observation::drawn_frames(&game.server, id, 0.0)));
        }
        println!("{name}, {rare} with an update every 6 ticks: {all}");
        assert!(all.steps.len() > 1_500, "{all}");
        assert!(quantile(&all.steps, 0.99) < 0.03, "{name}, {rare}: {all}");
        assert!(quantile(&all.errors, 0.99) < 0.05, "{name}, {rare}: {all}");
        assert!(quantile(&all.freezes, 1.0) < 0.1, "{name}, {rare}: {all}");
    }
}
