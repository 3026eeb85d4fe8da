//! What fingers do, and what comes of it.

use bevy::prelude::*;
use bevy_unlag_core::VisualOffset;
use bevy_unlag_rewind::HitGroup;
use bevy_unlag_weapons::{Ammo, FireMode, Reload, Trigger, Weapon};

use crate::range::{Range, hit};

const DT: f32 = 1.0 / 64.0;

/// A pistol with three rounds: one in eight ticks, loaded in forty.
fn pistol() -> Range {
    let ammo = Ammo { magazine: 3, reserve: 30, reload: Reload::Magazine { time: 40.0 * DT } };
    Range::with(Weapon { mode: FireMode::Semi, interval: 8.0 * DT, ammo, ..Weapon::rifle() })
}

fn tap(range: &mut Range, after: usize) -> usize {
    range.hold(true, 1);
    range.hold(false, after).fired.len()
}

#[test]
fn a_tap_waits_for_as_long_as_it_may() {
    let mut range = pistol();
    assert_eq!(tap(&mut range, 2), 1);
    assert_eq!(tap(&mut range, 8), 2, "it waits while the weapon cools down");

    // At the beginning of a reload it is forgotten, at the end it is not.
    let reload = |range: &mut Range, ticks: usize| {
        range.hold(false, 10);
        range.app.world_mut().get_mut::<Trigger>(range.shooter).expect("a trigger").reload = true;
        range.hold(false, ticks);
    };
    reload(&mut range, 4);
    assert!(range.arms().is_reloading());
    assert_eq!(tap(&mut range, 60), 2, "a tap of half a second ago");
    assert_eq!(range.arms().in_hand().magazine, 3);
    assert_eq!(tap(&mut range, 12), 3);
    reload(&mut range, 32);
    assert_eq!(tap(&mut range, 20), 4, "a tap of a tenth of a second ago");

    // Who is patient waits for all of it.
    range.app.world_mut().get_mut::<Trigger>(range.shooter).expect("a trigger").patience = 1.0;
    reload(&mut range, 4);
    assert_eq!(tap(&mut range, 60), 5);
}

#[test]
fn an_empty_magazine_is_changed_by_whoever_wants_to_fire() {
    let mut range = pistol();
    for round in 1..=2 {
        assert_eq!(tap(&mut range, 10), round);
    }
    // The last round, and a tap while the weapon cools down.
    assert_eq!(tap(&mut range, 2), 3);
    assert_eq!(tap(&mut range, 12), 3);
    assert!(range.arms().is_reloading());
    assert_eq!(range.hold(false, 60).fired.len(), 3, "it loaded, and fired nothing by itself");
    assert_eq!(range.arms().in_hand().magazine, 3);

    // Who holds an automatic goes on when it is loaded.
    let ammo = Ammo { magazine: 3, reserve: 30, reload: Reload::Magazine { time: 10.0 * DT } };
    let mut range = Range::with(Weapon { interval: 4.0 * DT, ammo, ..Weapon::rifle() });
    let fired = range.hold(true, 64).fired.len();
    assert!((9..=12).contains(&fired), "{fired} rounds");
}

#[test]
fn a_correction_that_is_being_eased_moves_no_eye_farther_than_counts() {
    for offset in [Vec3::Y * 1.8, Vec3::NEG_Y * 1.6, Vec3::X * 1.5, Vec3::new(1.0, 1.9, -1.0)] {
        let mut range = Range::new(true);
        range.aim_at(Vec3::new(0.0, 1.3, -10.0));
        range.app.world_mut().entity_mut(range.shooter).insert(VisualOffset { offset, ..default() });
        range.hold(true, 1);
        let seen = range.hold(false, 4);
        let verdict = seen.verdicts.last().expect("a verdict");
        assert!(!verdict.clamped, "{offset}: {verdict:?}");
    }
    // Nor through a wall: then it is where the body has it.
    let mut range = Range::new(true);
    let wall = bevy_rapier3d::prelude::Collider::cuboid(0.02, 3.0, 2.0);
    range.app.world_mut().spawn((wall, Transform::from_xyz(0.4, 0.0, 0.0)));
    range.hold(false, 2);
    range.aim_at(Vec3::new(0.0, 1.3, -10.0));
    let offset = Vec3::X * 0.5;
    range.app.world_mut().entity_mut(range.shooter).insert(VisualOffset { offset, ..default() });
    range.hold(true, 1);
    let seen = range.hold(false, 4);
    assert_eq!(seen.verdicts.last().map(|verdict| verdict.result), Some(hit(HitGroup::Body)));
}
