//! Seeds of messages about shots.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, Tick, Up, ViewTime};
use bevy_unlag_rewind::HitGroup;
use bevy_unlag_weapons::{
    Aim, FireRules, FriendlyFire, HeldWeapon, ProjectileEnd, ProjectileEndKind, ProjectileLaunch,
    ScreenRules, ShotRefusal, ShotResult, ShotVerdict, SpreadCone, Tracer, TracerPath, WeaponId,
};

use crate::encoded;

/// Returns messages about shots, each preceded by its kind.
pub fn effects() -> Vec<(&'static str, Vec<u8>)> {
    let of = |kind: u8, value: &dyn Fn() -> Vec<u8>| [&[kind][..], &value()].concat();
    let (shooter, shot, weapon) = (NetId(7), Tick(1_004), WeaponId(2));
    let list = [(NetId(3), HitGroup::Head), (NetId(9), HitGroup::Limb)].into_iter().collect();
    let verdict = |result| ShotVerdict { shot, result, clamped: false };
    let to = TracerPath::To(Vec3::new(1.5, 2.0, -40.0));
    let cone = SpreadCone { aim: Aim::new(2.0, -0.1), half_angle: 470, up: Up::Y };
    let launch = ProjectileLaunch {
        shooter,
        shot,
        weapon,
        time: ViewTime { tick: Tick(990), fraction: 77 },
        from: Vec3::new(3.0, 1.5, -20.25),
        aim: Aim::new(2.0, -0.1),
        up: Up::Y,
        speed: 26.0,
        bounces: 0,
        flown: 0,
    };
    let end = |kind| ProjectileEnd { shooter, shot, flown: 9_000, point: Vec3::new(3.0, 0.5, -44.0), kind };
    let hit = ProjectileEndKind::Hit { target: NetId(3), group: HitGroup::Body };
    let rules = FireRules { friendly_fire: FriendlyFire::Block, ..FireRules::default() };
    let held = HeldWeapon { weapon: Some(weapon), aiming: true, ..HeldWeapon::default() };
    vec![
        ("hit", of(0, &|| encoded(&verdict(ShotResult::Hit(list))))),
        ("refused", of(0, &|| encoded(&verdict(ShotResult::Refused(ShotRefusal::Empty))))),
        ("trail", of(1, &|| encoded(&Tracer { shooter, weapon, trail: to }))),
        (
            "pellets",
            of(1, &|| encoded(&Tracer { shooter, weapon, trail: TracerPath::Spread { cone, seed: 99 } })),
        ),
        ("launch", of(2, &|| encoded(&launch))),
        ("bounced", of(2, &|| encoded(&ProjectileLaunch { bounces: 2, flown: 700, ..launch }))),
        ("sideways", of(2, &|| encoded(&ProjectileLaunch { up: Up::new(Vec3::X), ..launch }))),
        ("wall", of(3, &|| encoded(&end(ProjectileEndKind::Wall)))),
        ("body", of(3, &|| encoded(&end(hit)))),
        ("held", of(4, &|| encoded(&held))),
        ("rules", of(5, &|| encoded(&ScreenRules::from(&rules)))),
    ]
}
