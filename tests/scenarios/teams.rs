//! Teams and friendly fire: the server's word on every machine.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    net::ReplicatedPawn,
    prelude::*,
    rewind::Team,
    smoothing::RecordTransform,
    weapons::{FireRules, FriendlyFire, ShotResult, TracerPath},
};

use crate::{
    seconds,
    shooting_range::{ShootingRange, pawn},
};

const SHOOTER: NetId = NetId(1);
const TARGET: NetId = NetId(2);
/// The target stands 8 m ahead of the shooter, the others beside them.
const PLACES: [Vec3; 4] = [
    Vec3::new(0.0, 0.05, 0.0),
    Vec3::new(0.0, 0.05, -8.0),
    Vec3::new(6.0, 0.05, -4.0),
    Vec3::new(-6.0, 0.05, -4.0),
];
/// From the shooter's eye to the target's chest.
const AHEAD: Vec3 = Vec3::new(0.0, -0.45, -8.0);

fn flat_level(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    });
}

fn set_team(range: &mut ShootingRange, id: NetId, team: Option<Team>) {
    let pawn = pawn(&mut range.server, id);
    let mut pawn = range.server.world_mut().entity_mut(pawn);
    match team {
        Some(team) => pawn.insert(team),
        None => pawn.remove::<Team>(),
    };
}

fn set_rule(range: &mut ShootingRange, rule: FriendlyFire) {
    range.server.world_mut().resource_mut::<FireRules>().friendly_fire = rule;
}

fn team(app: &mut App, id: NetId) -> Option<Team> {
    let pawn = pawn(app, id);
    app.world().get::<Team>(pawn).copied()
}

/// Result of a shot at the target's chest.
#[derive(Debug)]
struct Outcome {
    /// Pawn that it hit on the shooter's screen.
    drawn: Option<NetId>,
    /// Ends of the tracer on the shooter's screen and on a bystander's.
    ends: [Vec3; 2],
    result: ShotResult,
    damaged: Vec<NetId>,
}

fn shoot(range: &mut ShootingRange) -> Outcome {
    range.apps_mut().for_each(|app| drop(ShootingRange::take_log(app)));
    range.fire(0, AHEAD);
    let server = ShootingRange::take_log(&mut range.server);
    let own = ShootingRange::take_log(&mut range.clients[0]);
    let other = ShootingRange::take_log(&mut range.clients[2]);
    let ([fired], [verdict], [tracer]) = (&own.fired[..], &own.verdicts[..], &other.tracers[..]) else {
        panic!("{:?}, {:?}, {:?}", own.fired, own.verdicts, other.tracers)
    };
    let TracerPath::To(traced) = tracer.trail else { panic!("{tracer:?}") };
    Outcome {
        drawn: fired.drawn().map(|hit| hit.target),
        ends: [fired.rays[0].to, traced],
        result: verdict.result,
        damaged: server.damage.iter().map(|damage| damage.hits.target).collect(),
    }
}

/// Asserts that screen and server agree about a hit.
fn assert_hit(outcome: &Outcome, hit: bool) {
    assert_eq!(outcome.drawn, hit.then_some(TARGET), "{outcome:?}");
    assert_eq!(matches!(outcome.result, ShotResult::Hit(_)), hit, "{outcome:?}");
    assert!(hit || outcome.result == ShotResult::Miss, "{outcome:?}");
    assert_eq!(outcome.damaged.len(), usize::from(hit), "{outcome:?}");
}

#[test]
fn friendly_fire_rule_of_the_server_holds_on_the_shooters_screen() {
    let mut range = ShootingRange::start(flat_level, &PLACES, 3);
    set_team(&mut range, SHOOTER, Some(Team(1)));
    set_team(&mut range, TARGET, Some(Team(1)));
    // The last one again, so that each rule replaces another one.
    for rule in [FriendlyFire::Block, FriendlyFire::Damage, FriendlyFire::PassThrough, FriendlyFire::Damage] {
        set_rule(&mut range, rule);
        range.run(seconds(0.5));
        for (number, app) in range.apps_mut().enumerate() {
            assert_eq!(app.world().resource::<FireRules>().friendly_fire, rule, "app {number}");
            assert_eq!([SHOOTER, TARGET].map(|id| team(app, id)), [Some(Team(1)); 2], "app {number}");
        }
        let outcome = shoot(&mut range);
        assert_hit(&outcome, rule == FriendlyFire::Damage);
        for to in outcome.ends {
            let stopped = (-8.5..-7.0).contains(&to.z);
            assert_eq!(stopped, rule != FriendlyFire::PassThrough, "{rule:?}: {outcome:?}");
        }
    }
}

#[test]
fn change_of_team_during_the_match_reaches_every_screen() {
    let mut range = ShootingRange::start(flat_level, &PLACES, 3);
    set_rule(&mut range, FriendlyFire::PassThrough);
    set_team(&mut range, SHOOTER, Some(Team(1)));
    for (team_of_target, hit) in [(Some(Team(2)), true), (Some(Team(1)), false), (None, true)] {
        set_team(&mut range, TARGET, team_of_target);
        range.run(seconds(0.5));
        for (number, app) in range.apps_mut().enumerate() {
            assert_eq!(team(app, TARGET), team_of_target, "app {number}");
        }
        assert_hit(&shoot(&mut range), hit);
    }
}

#[test]
fn late_joiner_learns_the_teams_and_the_rule_of_any_character() {
    let mut range = ShootingRange::start(flat_level, &PLACES, 2);
    set_rule(&mut range, FriendlyFire::Block);
    set_team(&mut range, SHOOTER, Some(Team(1)));
    set_team(&mut range, TARGET, Some(Team(2)));
    // A character without a movement model.
    let drone = (ReplicatedPawn, RecordTransform::default(), NetId(50), Team(3), Transform::default());
    range.server.world_mut().spawn(drone);
    range.run(seconds(0.5));
    range.join();
    range.run(seconds(0.5));
    let late = &mut range.clients[2];
    assert_eq!([SHOOTER, TARGET, NetId(50)].map(|id| team(late, id)), [1, 2, 3].map(|team| Some(Team(team))));
    assert_eq!(team(late, NetId(3)), None, "its own pawn has no team");
    assert_eq!(late.world().resource::<FireRules>().friendly_fire, FriendlyFire::Block);
}
