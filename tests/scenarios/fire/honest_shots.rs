//! Fire rules do not refuse the shots of honest players, even under latency and frame hitches.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    core::Tick,
    link_conditioner::LinkPreset,
    prelude::*,
    weapons::{FireRules, ShotRefusal, WeaponEvent},
};
use unlag_examples::{
    app::ServerOptions,
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
    weapon_set::WeaponSet,
};

use super::{ClientShotLog, ServerShotLog, add_periodic_reloads, client_of, record_shots};
use crate::{own_id, seconds, start};

#[derive(Debug, Default)]
struct FightResult {
    rounds: usize,
    deaths: usize,
    reloads: u64,
    refused: Vec<(ShotRefusal, NetId, Tick)>,
    /// Shots that left from farther away than the rules tolerate: their shooter had been pushed, or
    /// extrapolated for lack of its moves, and had not received the correction yet.
    out_of_tolerance: usize,
}

/// Number of deaths and of started reloads.
#[derive(Resource, Default)]
struct LifeCounts {
    deaths: usize,
    reloads: u64,
}

fn count_lives(
    mut lived: ResMut<LifeCounts>,
    mut died: MessageReader<Died>,
    mut steps: MessageReader<bevy_unlag::core::StepEvent<Soldier>>,
) {
    lived.deaths += died.read().count();
    let loads = |step: &&bevy_unlag::core::StepEvent<Soldier>| {
        matches!(step.event, bevy_unlag::core::ExtendedEvent::Extension(WeaponEvent::Reloading { .. }))
    };
    lived.reloads += steps.read().filter(loads).count() as u64;
}

/// A fight of four players on Unreal's bad link, who run, jump, turn, crouch, reload, switch weapons, die and
/// respawn.
fn fight(seed: u64, time: f64, rules: FireRules) -> FightResult {
    fight_with(seed, rules, |game| game.fight(time))
}

/// [`fight`] with a custom course of the match.
fn fight_with(seed: u64, rules: FireRules, fight: impl FnOnce(&mut Match)) -> FightResult {
    let conditions = LinkPreset::named("Bad (UE)").expect("a built-in preset").conditions();
    let server = ServerOptions { weapon_set: WeaponSet::All, ..ServerOptions::default() };
    let mut game = start(MatchOptions { players: 4, conditions, seed, server, ..MatchOptions::default() });
    record_shots(&mut game);
    game.server.insert_resource(rules).init_resource::<LifeCounts>();
    game.server.add_systems(Update, count_lives);
    game.clients.iter_mut().for_each(add_periodic_reloads);
    fight(&mut game);
    game.run(seconds(2.0));
    let report = game.report();
    println!("seed {seed}:\n{}", report.table());

    let mut fought = FightResult::default();
    for i in 0..game.clients.len() {
        let id = own_id(&mut game.clients[i]);
        let world = game.server.world();
        for (shot, fired) in &game.clients[i].world().resource::<ClientShotLog>().fired {
            let Some((_, state)) = world.resource::<ServerShotLog>().left.get(&(id.0, *shot)) else {
                continue;
            };
            let off = fired.from - CapsuleModel::eye(world.resource::<CapsuleConfig>(), &state.body);
            let near = Vec2::new(off.x, off.z).length() <= rules.eye_tolerance;
            fought.out_of_tolerance += usize::from(!near || off.y.abs() > rules.eye_height_tolerance);
        }
    }
    let refused: Vec<_> = game.server.world().resource::<ServerShotLog>().refused().collect();
    for ((id, shot), why, at) in refused {
        let client = client_of(&mut game, id);
        let shown = game.clients[client].world().resource::<ClientShotLog>().fired.contains_key(&shot.0);
        println!("  {id:?} {shot:?}: {why:?} at {at:?}, shown {shown}");
        fought.refused.push((why, id, shot));
    }
    let world = game.server.world();
    fought.rounds = world.resource::<ServerShotLog>().left.len();
    let lived = world.resource::<LifeCounts>();
    (fought.deaths, fought.reloads) = (lived.deaths, lived.reloads);
    println!("  {fought:?}");
    fought
}

fn assert_no_honest_shot_is_refused(seeds: &[u64]) {
    let (mut rounds, mut out_of_tolerance) = (0, 0);
    for &seed in seeds {
        let fought = fight(seed, 60.0, FireRules::default());
        assert!(fought.rounds > 800 && fought.deaths > 20 && fought.reloads > 25, "{fought:?}");
        assert_eq!(fought.refused, [], "seed {seed}");
        (rounds, out_of_tolerance) = (rounds + fought.rounds, out_of_tolerance + fought.out_of_tolerance);
    }
    // A pawn pushed by a rocket shoots from its old place for one round trip.
    assert!(out_of_tolerance * 100 <= rounds, "{out_of_tolerance} of {rounds}");
}

#[test]
fn honest_shots_are_never_refused_on_unreals_bad_link() {
    assert_no_honest_shot_is_refused(&[1]);
}

#[test]
#[ignore = "long: two more minutes of play"]
fn honest_shots_are_never_refused_in_other_fights() {
    assert_no_honest_shot_is_refused(&[5, 8]);
}

#[test]
#[ignore = "long: three fights"]
fn clients_with_hitches_have_at_most_2_aim_and_5_dead_refusals_per_fight() {
    let mut rounds = 0;
    for (seed, hand) in [(3, 15.0), (4, 25.0), (5, 40.0)] {
        let fought = fight_with(seed, FireRules::default(), |game| {
            for client in &mut game.clients {
                client.world_mut().resource_mut::<ScriptedPlayer>().turn_rate = hand;
            }
            game.set_firing(true);
            for k in 0..40 {
                game.run(seconds(1.0));
                // Up to a quarter of a second, in which a fast player turns far.
                game.stall_client(k % 4, seconds(0.05 + 0.05 * (k % 5) as f64));
            }
            game.set_firing(false);
        });
        rounds += fought.rounds;
        let count = |why| fought.refused.iter().filter(|(refused, ..)| *refused == why).count();
        println!("turn rate {hand}: {} of {} refused", fought.refused.len(), fought.rounds);
        // A client that hitches while its pawn dies learns of the death after the trade window, and fires a
        // few shots until then.
        assert!(count(ShotRefusal::Dead) <= 5, "{:?}", fought.refused);
        assert_eq!(
            fought.refused.len(),
            count(ShotRefusal::Dead) + count(ShotRefusal::Aim),
            "{:?}",
            fought.refused
        );
        assert!(count(ShotRefusal::Aim) <= 2, "{:?}", fought.refused);
    }
    assert!(rounds > 1_000, "{rounds}");
}

#[test]
#[ignore = "long: a control of three fights"]
fn fire_rules_without_latency_tolerance_refuse_many_honest_shots() {
    let count = |rules: FireRules, why: ShotRefusal| {
        fight(1, 30.0, rules).refused.iter().filter(|(refused, ..)| *refused == why).count()
    };
    let dead = count(FireRules { trade_window: Duration::ZERO, ..FireRules::default() }, ShotRefusal::Dead);
    assert!(dead >= 5, "only {dead} shots of dead pawns were refused");
    let aims =
        count(FireRules { max_turn: 200.0, aim_tolerance: 1.0, ..FireRules::default() }, ShotRefusal::Aim);
    assert!(aims >= 20, "only {aims} fast turns were refused");
}
