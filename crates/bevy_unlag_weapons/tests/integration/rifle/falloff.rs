//! Damage over distance of weapons that hit at once.

use bevy::prelude::*;
use bevy_unlag_core::ExtendedState;
use bevy_unlag_movement::CapsuleState;
use bevy_unlag_weapons::{DamageTable, Falloff, Shot, Weapon, WeaponState};

use crate::rifle::range::{EYE, Range};

/// All of the damage up to 5 m, two fifths from 15 m on.
fn falloff() -> Falloff {
    Falloff(vec![(5.0, 1.0), (15.0, 0.4)])
}

/// Hits the chest of a dummy at this distance. Returns the damage and the distance from the eye to the hit.
fn damage_at(metres: f32, shot: Shot, falloff: Falloff) -> (f32, f32) {
    let damage = DamageTable { falloff, ..Weapon::rifle().damage };
    let mut range = Range::with(Weapon { shot, damage, ..Weapon::rifle() });
    let state =
        ExtendedState { body: CapsuleState::at(Vec3::NEG_Z * metres), extension: WeaponState::default() };
    range.app.world_mut().entity_mut(range.dummy).insert(state);
    range.hold(false, 12);
    range.aim_at(Vec3::new(0.0, 1.3, -metres));
    range.hold(true, 1);
    let seen = range.hold(false, 3);
    let [damage] = &seen.damage[..] else { panic!("{:?} at {metres} m", seen.damage) };
    (damage.amount, damage.point.distance(EYE))
}

#[test]
fn damage_of_a_hit_falls_off_with_its_distance() {
    let body = Weapon::rifle().damage.body;
    for (shot, hits) in [
        (Shot::Ray { range: 50.0, pierce: 0, pierced: 0.5, radius: 0.0 }, 1.0),
        (Shot::Ray { range: 50.0, pierce: 1, pierced: 0.5, radius: 0.0 }, 1.0),
        (Shot::Pellets { count: 6, range: 50.0 }, 6.0),
    ] {
        for (metres, share) in [(3.0, Some(1.0)), (7.0, None), (10.0, None), (13.0, None), (20.0, Some(0.4))]
        {
            let (damage, distance) = damage_at(metres, shot, falloff());
            assert!((distance - metres).abs() < 0.4, "hit at {distance} m of {metres} m");
            // In between it changes evenly.
            let share = share.unwrap_or(1.0 - 0.6 * (distance - 5.0) / 10.0);
            let expected = hits * body * share;
            assert!((damage - expected).abs() < 0.02 * expected, "{damage} instead of {expected}: {shot:?}");
        }
        let (damage, _) = damage_at(20.0, shot, Falloff::default());
        assert!((damage - hits * body).abs() < 1e-3, "{damage} without falloff: {shot:?}");
    }
}
