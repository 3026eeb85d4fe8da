//! Shots at teammates: the screen shows what the rule of the server says.

use bevy::prelude::*;
use bevy_unlag_core::{ExtendedState, NetId};
use bevy_unlag_movement::CapsuleState;
use bevy_unlag_rewind::Team;
use bevy_unlag_weapons::{
    FireMode, FireRules, FriendlyFire, Shot, ShotFired, ShotResult, Tracer, TracerPath, Weapon, WeaponState,
};

use crate::rifle::range::{Range, ShotRecord, dummy};

/// A weapon that can hit a dummy.
struct Trial {
    name: &'static str,
    shot: Shot,
    mode: FireMode,
    /// Distance of the dummy, in metres.
    distance: f32,
}

fn trials() -> [Trial; 5] {
    let ray = Shot::Ray { range: 50.0, pierce: 0, pierced: 0.5, radius: 0.0 };
    let melee = Shot::Melee { reach: 2.0, half_angle: 40.0, half_height: 0.6, backstab: 1.0 };
    let trial = |name, shot, mode, distance| Trial { name, shot, mode, distance };
    [
        trial("ray", ray, FireMode::Semi, 10.0),
        trial(
            "piercing ray",
            Shot::Ray { range: 50.0, pierce: 2, pierced: 0.5, radius: 0.0 },
            FireMode::Semi,
            10.0,
        ),
        trial("pellets", Shot::Pellets { count: 6, range: 50.0 }, FireMode::Semi, 10.0),
        trial("beam", Shot::Beam { range: 50.0, radius: 0.05 }, FireMode::Auto, 10.0),
        trial("melee", melee, FireMode::Semi, 1.4),
    ]
}

/// Outcome of one shot at a dummy.
struct Outcome {
    fired: ShotFired,
    result: ShotResult,
    /// Pawns that were damaged.
    damaged: Vec<NetId>,
    trail: Option<Vec3>,
}

/// Fires once at a dummy of team 1, with `behind` behind it.
fn shoot(trial: &Trial, rule: FriendlyFire, shooter: Option<Team>, behind: Option<Team>) -> Outcome {
    let mut range = Range::with(Weapon { shot: trial.shot, mode: trial.mode, ..Weapon::rifle() });
    range.app.world_mut().resource_mut::<FireRules>().friendly_fire = rule;
    let (own, target) = (range.shooter, range.dummy);
    let world = range.app.world_mut();
    let body = CapsuleState::at(Vec3::NEG_Z * trial.distance);
    world.entity_mut(target).insert((ExtendedState { body, extension: WeaponState::default() }, Team(1)));
    if let Some(team) = behind {
        world.spawn((dummy(NetId(4), Vec3::NEG_Z * (trial.distance + 3.0)), team));
    }
    if let Some(team) = shooter {
        world.entity_mut(own).insert(team);
    }
    range.hold(false, 12);
    range.aim_at(Vec3::new(0.0, 1.4, -10.0));
    range.hold(true, 1);
    let trail = {
        let messages = range.app.world().resource::<Messages<Tracer>>();
        messages.get_cursor().read(messages).find_map(|tracer| match tracer.trail {
            TracerPath::To(to) => Some(to),
            TracerPath::Spread { .. } => None,
        })
    };
    range.hold(false, 3);
    let ShotRecord { fired, verdicts, damage, .. } = range.app.world().resource::<ShotRecord>();
    Outcome {
        fired: fired[0].clone(),
        result: verdicts[0].result,
        damaged: damage.iter().map(|damage| damage.hits.target).collect(),
        trail,
    }
}

/// Fails if the screen of the shooter ignores `friendly_fire`.
#[test]
fn teammates_are_damaged_only_with_friendly_fire_whatever_the_weapon() {
    let friend = Some(Team(1));
    for trial in trials() {
        for (rule, shooter, hit) in [
            (FriendlyFire::Damage, friend, true),
            (FriendlyFire::PassThrough, friend, false),
            (FriendlyFire::Block, friend, false),
            (FriendlyFire::PassThrough, Some(Team(2)), true),
            (FriendlyFire::Block, Some(Team(2)), true),
            (FriendlyFire::Block, None, true),
        ] {
            let Outcome { fired, result, damaged, .. } = shoot(&trial, rule, shooter, None);
            let case = format!("{}, {rule:?}, shooter of {shooter:?}", trial.name);
            assert_eq!(fired.drawn().is_some(), hit, "{case}: hit on the screen");
            assert_eq!(matches!(result, ShotResult::Hit(_)), hit, "{case}: {result:?}");
            assert!(hit || result == ShotResult::Miss, "{case}: {result:?}");
            let expected: &[NetId] = if hit { &[NetId(2)] } else { &[] };
            assert_eq!(damaged, expected, "{case}");
        }
    }
}

#[test]
fn teammate_lets_shots_pass_to_the_enemy_behind_or_stops_them() {
    let (friend, enemy) = (Some(Team(1)), Some(Team(2)));
    for trial in trials().iter().filter(|trial| trial.name != "melee") {
        let passed = shoot(trial, FriendlyFire::PassThrough, friend, enemy);
        assert_eq!(passed.fired.drawn().map(|hit| hit.target), Some(NetId(4)), "{}", trial.name);
        assert_eq!(passed.damaged, [NetId(4)], "{}", trial.name);

        let blocked = shoot(trial, FriendlyFire::Block, friend, enemy);
        assert_eq!((blocked.fired.drawn(), blocked.result), (None, ShotResult::Miss), "{}", trial.name);
        assert!(blocked.damaged.is_empty(), "{}", trial.name);
        for ray in &blocked.fired.rays {
            assert!((-10.5..-9.0).contains(&ray.to.z), "{}: the screen draws it to {}", trial.name, ray.to);
        }
        // Every client draws pellets itself, and not every tick of a beam is sent.
        if matches!(trial.shot, Shot::Ray { .. }) {
            let to = blocked.trail.expect("a tracer");
            assert!((-10.5..-9.0).contains(&to.z), "{}: others draw it to {to}", trial.name);
        }
    }
}

#[test]
fn change_of_team_counts_for_the_next_shot() {
    let mut range = Range::new(true);
    let (own, dummy) = (range.shooter, range.dummy);
    range.app.world_mut().resource_mut::<FireRules>().friendly_fire = FriendlyFire::PassThrough;
    range.aim_at(Vec3::new(0.0, 1.3, -10.0));
    let mut hits = Vec::new();
    for teams in [[1, 2], [1, 1], [2, 1], [2, 2]] {
        for (pawn, team) in [own, dummy].into_iter().zip(teams) {
            range.app.world_mut().entity_mut(pawn).insert(Team(team));
        }
        let shots = range.hold(false, 10).fired.len();
        range.hold(true, 1);
        let seen = range.hold(false, 3);
        let judged = matches!(seen.verdicts[shots].result, ShotResult::Hit(_));
        assert_eq!(seen.fired[shots].drawn().is_some(), judged, "{teams:?}");
        hits.push(judged);
    }
    assert_eq!(hits, [true, false, true, false]);
}
