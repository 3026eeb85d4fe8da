use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{CurrentTick, Tick};
use bevy_unlag_rewind::Team;

use super::*;
use crate::{verdict::TargetCount, weapon::WeaponId};

const TICK: Duration = Duration::from_nanos(15_625_000);

#[derive(Resource, Default)]
struct Received {
    died: Vec<Died>,
    due: Vec<Entity>,
}

fn server() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, HealthPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
        .insert_resource(Time::<Fixed>::from_duration(TICK))
        .init_resource::<Received>()
        .add_systems(
            Update,
            |mut died: MessageReader<Died>,
             mut due: MessageReader<RespawnDue>,
             mut seen: ResMut<Received>| {
                seen.died.extend(died.read());
                seen.due.extend(due.read().map(|due| due.pawn));
            },
        );
    app.finish();
    app.cleanup();
    app.update();
    app
}

fn player(app: &mut App) -> Entity {
    app.world_mut().spawn((Health::default(), PlayerScore::default())).id()
}

fn shot(shooter: Entity, target: Entity, amount: f32) -> Damage {
    Damage {
        shooter,
        target,
        weapon: WeaponId(3),
        shot: Tick(9),
        amount,
        hits: TargetCount::default(),
        point: Vec3::Y,
        direction: Vec3::X,
        throw: Vec3::ZERO,
    }
}

fn ticks_pass(app: &mut App, ticks: i32) {
    for _ in 0..ticks {
        app.update();
    }
}

fn score(app: &App, pawn: Entity) -> (u16, u16) {
    let score = app.world().get::<PlayerScore>(pawn).expect("a score");
    (score.kills, score.deaths)
}

fn health(app: &App, pawn: Entity) -> f32 {
    app.world().get::<Health>(pawn).expect("health").current
}

fn seen(app: &App) -> &Received {
    app.world().resource::<Received>()
}

fn hurt(app: &mut App, damage: impl IntoIterator<Item = Damage>) {
    for damage in damage {
        app.world_mut().write_message(damage);
    }
    app.update();
}

#[test]
fn pawn_without_health_dies_exactly_once() {
    let mut app = server();
    let (one, other) = (player(&mut app), player(&mut app));
    hurt(&mut app, [shot(one, other, 60.0)]);
    assert_eq!(health(&app, other), 40.0);
    assert!(seen(&app).died.is_empty());
    // More than enough damage, twice in one tick, and again when it is dead.
    hurt(&mut app, [shot(one, other, 60.0), shot(one, other, 50.0)]);
    hurt(&mut app, [shot(one, other, 60.0), shot(one, other, -60.0)]);
    app.update();
    let [death] = seen(&app).died[..] else { panic!("{:?}", seen(&app).died) };
    assert_eq!((death.victim, death.killer, death.team_kill), (other, Some(one), false));
    assert_eq!(death.cause, DeathCause::Shot(shot(one, other, 60.0)), "the hardest blow");
    assert_eq!((score(&app, one), score(&app, other)), ((1, 0), (0, 1)));
    assert_eq!(health(&app, other), 0.0, "dead pawns are not healed");
    assert!(app.world().entity(other).contains::<Dead>());
}

#[test]
fn players_who_kill_each_other_in_one_tick_both_die_and_both_score() {
    for order in [[0, 1], [1, 0]] {
        let mut app = server();
        let players = [player(&mut app), player(&mut app)];
        hurt(&mut app, order.map(|by| shot(players[by], players[1 - by], 100.0)));
        app.update();
        assert_eq!(seen(&app).died.len(), 2);
        for pawn in players {
            assert_eq!(score(&app, pawn), (1, 1));
        }
        // A kill by a shot fired before the shooter's death counts as well.
        let third = player(&mut app);
        hurt(&mut app, [shot(players[0], third, 100.0)]);
        assert_eq!(score(&app, players[0]), (2, 1));
    }
}

#[test]
fn killer_does_not_depend_on_the_order_of_a_ticks_damage() {
    let mut killers = Vec::new();
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2]] {
        let mut app = server();
        let victim = player(&mut app);
        let shooters = [player(&mut app), player(&mut app), player(&mut app)];
        let amounts = [40.1, 40.1, 30.3];
        hurt(&mut app, order.map(|by| shot(shooters[by], victim, amounts[by])));
        app.update();
        killers.push((seen(&app).died[0].killer, health(&app, victim)));
    }
    assert!(killers[0].0.is_some() && killers.iter().all(|killer| *killer == killers[0]), "{killers:?}");
}

#[test]
fn healing_is_capped_and_applied_together_with_damage() {
    let mut app = server();
    let (one, other) = (player(&mut app), player(&mut app));
    hurt(&mut app, [shot(one, other, 30.0)]);
    hurt(&mut app, [shot(one, other, -90.0)]);
    assert_eq!(health(&app, other), 100.0);
    for blows in [[-50.0, 120.0], [120.0, -50.0]] {
        hurt(&mut app, blows.map(|amount| shot(one, other, amount)));
        assert_eq!(health(&app, other), 30.0, "{blows:?}");
        hurt(&mut app, [shot(one, other, -100.0)]);
    }
    hurt(&mut app, [shot(one, other, f32::NAN), shot(one, other, f32::NEG_INFINITY)]);
    assert_eq!(health(&app, other), 100.0, "invalid amounts are ignored");
}

#[test]
fn last_attacker_gets_the_kill_for_a_fall_within_the_credit_time() {
    let rules = RespawnRules::default();
    let credit = ticks(rules.credit, TICK);
    assert_eq!(credit, 320);
    for (after, counts) in [(0, true), (credit - 1, true), (credit + 1, false)] {
        let mut app = server();
        let (one, other) = (player(&mut app), player(&mut app));
        hurt(&mut app, [shot(one, other, 10.0)]);
        // Damage to oneself neither gives nor takes credit.
        hurt(&mut app, [shot(other, other, 10.0)]);
        ticks_pass(&mut app, after - 1);
        app.world_mut().write_message(Hazard { target: other, amount: f32::INFINITY, cause: 7 });
        ticks_pass(&mut app, 2);
        let death = seen(&app).died[0];
        assert_eq!(death.cause, DeathCause::Hazard(7));
        assert_eq!(death.killer, counts.then_some(one), "{after} ticks after");
        assert_eq!(score(&app, one).0, u16::from(counts));
    }
}

#[test]
fn suicide_is_no_kill_unless_another_player_did_damage_before() {
    for helped in [false, true] {
        let mut app = server();
        let (one, other) = (player(&mut app), player(&mut app));
        let help = helped.then(|| shot(one, other, 5.0));
        hurt(&mut app, help.into_iter().chain([shot(other, other, 300.0)]));
        app.update();
        assert_eq!(seen(&app).died[0].killer, helped.then_some(one));
        assert_eq!(score(&app, other), (0, 1));
    }
}

#[test]
fn despawned_attacker_gets_no_kill() {
    let mut app = server();
    let (one, other) = (player(&mut app), player(&mut app));
    hurt(&mut app, [shot(one, other, 5.0)]);
    app.world_mut().despawn(one);
    hurt(&mut app, [shot(one, other, 5.0), shot(other, one, 5.0)]);
    app.world_mut().write_message(Hazard { target: other, amount: 300.0, cause: 0 });
    ticks_pass(&mut app, 2);
    assert_eq!(seen(&app).died[0].killer, None);
}

#[test]
fn team_damage_is_scaled_and_team_kills_do_not_score() {
    let mut app = server();
    let (one, friend) = (player(&mut app), player(&mut app));
    for pawn in [one, friend] {
        app.world_mut().entity_mut(pawn).insert(Team(2));
    }
    app.world_mut().resource_mut::<RespawnRules>().team_damage = 0.5;
    hurt(&mut app, [shot(one, friend, 100.0)]);
    assert_eq!(health(&app, friend), 50.0);
    assert_eq!(app.world().get::<LastAttacker>(friend), Some(&LastAttacker::default()));
    hurt(&mut app, [shot(one, one, 60.0)]);
    assert_eq!(health(&app, one), 40.0, "damage to oneself is not scaled");
    hurt(&mut app, [shot(one, friend, 100.0)]);
    app.update();
    let death = seen(&app).died[0];
    assert!(death.team_kill && death.killer == Some(one));
    assert_eq!((score(&app, one), score(&app, friend)), ((0, 0), (0, 1)));
}

#[test]
fn dead_pawn_respawns_when_placed_and_is_protected_for_2_s() {
    let mut app = server();
    let (one, other) = (player(&mut app), player(&mut app));
    hurt(&mut app, [shot(one, other, 100.0)]);
    let dead = *app.world().get::<Dead>(other).expect("dead");
    assert_eq!(dead.until.since(dead.since), 64);
    ticks_pass(&mut app, 63);
    assert!(seen(&app).due.is_empty());
    ticks_pass(&mut app, 30);
    assert_eq!(seen(&app).due, [other], "requested once");
    assert!(dead.is_due(app.world().resource::<CurrentTick>().0));
    app.world_mut().write_message(Respawn { pawn: other });
    app.update();
    assert!(!app.world().entity(other).contains::<Dead>());
    assert_eq!(health(&app, other), 100.0);
    // 2 s of protection; only infinite damage ignores it.
    for _ in 0..128 {
        hurt(&mut app, [shot(one, other, 80.0)]);
        assert_eq!(health(&app, other), 100.0);
    }
    hurt(&mut app, [shot(one, other, 80.0)]);
    assert_eq!(health(&app, other), 20.0);
    assert!(!app.world().entity(other).contains::<SpawnProtection>());
    app.world_mut().write_message(Respawn { pawn: other });
    app.update();
    app.world_mut().write_message(Hazard { target: other, amount: f32::INFINITY, cause: 1 });
    ticks_pass(&mut app, 2);
    assert_eq!(seen(&app).died.len(), 2);
    assert_eq!(seen(&app).died[1].killer, None, "attackers before the respawn get no credit");
    assert!(!app.world().entity(other).contains::<SpawnProtection>());
}

#[test]
fn zero_protection_time_lets_damage_through_after_a_respawn() {
    let mut app = server();
    app.world_mut().resource_mut::<RespawnRules>().protection = Duration::ZERO;
    let (one, other) = (player(&mut app), player(&mut app));
    app.world_mut().write_message(Respawn { pawn: other });
    app.update();
    hurt(&mut app, [shot(one, other, 80.0)]);
    assert_eq!(health(&app, other), 20.0);
}

#[test]
fn smallest_team_fills_teams_evenly() {
    let mut players = Vec::new();
    for _ in 0..9 {
        players.push(smallest_team(players.iter().copied(), 3));
    }
    for side in 0..3 {
        assert_eq!(players.iter().filter(|team| team.0 == side).count(), 3);
    }
    assert_eq!(smallest_team([Team(200)], 0), Team(0));
}
