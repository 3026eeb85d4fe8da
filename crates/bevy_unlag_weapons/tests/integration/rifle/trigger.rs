//! Trigger input: buffering, automatic reload and the eye during corrections.

use bevy::prelude::*;
use bevy_unlag_core::{ExtendedState, VisualOffset};
use bevy_unlag_movement::CapsuleState;
use bevy_unlag_rewind::HitGroup;
use bevy_unlag_weapons::{Ammo, FireMode, Reload, Weapon, WeaponControls, WeaponState};

use crate::rifle::range::{EYE, Range, hit};

const DT: f32 = 1.0 / 64.0;

/// A pistol with three rounds: one per eight ticks, with a reload of forty ticks.
fn pistol() -> Range {
    let ammo = Ammo { magazine: 3, reserve: 30, reload: Reload::Magazine { time: 40.0 * DT } };
    Range::with(Weapon { mode: FireMode::Semi, interval: 8.0 * DT, ammo, ..Weapon::rifle() })
}

fn tap(range: &mut Range, after: usize) -> usize {
    range.hold(true, 1);
    range.hold(false, after).fired.len()
}

#[test]
fn tap_is_buffered_for_the_configured_time() {
    let mut range = pistol();
    assert_eq!(tap(&mut range, 2), 1);
    assert_eq!(tap(&mut range, 8), 2, "the tap is buffered during the cooldown");

    // A tap early in a reload expires, a tap near its end is buffered.
    let reload = |range: &mut Range, ticks: usize| {
        range.hold(false, 10);
        range.app.world_mut().get_mut::<WeaponControls>(range.shooter).expect("a trigger").reload = true;
        range.hold(false, ticks);
    };
    reload(&mut range, 4);
    assert!(range.weapons().is_reloading());
    assert_eq!(tap(&mut range, 60), 2, "a tap half a second before");
    assert_eq!(range.weapons().held_slot().magazine, 3);
    assert_eq!(tap(&mut range, 12), 3);
    reload(&mut range, 32);
    assert_eq!(tap(&mut range, 20), 4, "a tap a tenth of a second before");

    // With a longer buffer time, a tap is kept for the whole reload.
    range.app.world_mut().get_mut::<WeaponControls>(range.shooter).expect("a trigger").buffer_time = 1.0;
    reload(&mut range, 4);
    assert_eq!(tap(&mut range, 60), 5);
}

#[test]
fn trigger_on_an_empty_magazine_starts_a_reload() {
    let mut range = pistol();
    for round in 1..=2 {
        assert_eq!(tap(&mut range, 10), round);
    }
    // The last round, and a tap during the cooldown.
    assert_eq!(tap(&mut range, 2), 3);
    assert_eq!(tap(&mut range, 12), 3);
    assert!(range.weapons().is_reloading());
    assert_eq!(range.hold(false, 60).fired.len(), 3, "the weapon was reloaded without firing");
    assert_eq!(range.weapons().held_slot().magazine, 3);

    // A held automatic weapon continues after its reload.
    let ammo = Ammo { magazine: 3, reserve: 30, reload: Reload::Magazine { time: 10.0 * DT } };
    let mut range = Range::with(Weapon { interval: 4.0 * DT, ammo, ..Weapon::rifle() });
    let fired = range.hold(true, 64).fired.len();
    assert!((9..=12).contains(&fired), "{fired} rounds");
}

#[test]
fn easing_correction_keeps_the_eye_within_the_server_tolerance() {
    for offset in [Vec3::Y * 1.8, Vec3::NEG_Y * 1.6, Vec3::X * 1.5, Vec3::new(1.0, 1.9, -1.0)] {
        let mut range = Range::new(true);
        range.aim_at(Vec3::new(0.0, 1.3, -10.0));
        range.app.world_mut().entity_mut(range.shooter).insert(VisualOffset { offset, ..default() });
        range.hold(true, 1);
        let seen = range.hold(false, 4);
        let verdict = seen.verdicts.last().expect("a verdict");
        assert!(!verdict.clamped, "{offset}: {verdict:?}");
    }
    // With a wall in between, the eye is at its simulated position.
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

#[test]
fn shot_of_a_moving_pawn_leaves_from_its_drawn_eye() {
    for velocity in [Vec3::X * 5.0, Vec3::NEG_X * 5.0, Vec3::Y * 5.0] {
        let mut range = Range::new(true);
        range.aim_at(Vec3::new(0.0, 1.3, -10.0));
        range.hold(false, 1);
        let shooter = range.shooter;
        let state = range.app.world_mut().get_mut::<ExtendedState<CapsuleState, WeaponState>>(shooter);
        state.expect("a state").body.velocity = velocity;
        range.hold(true, 1);
        let seen = range.hold(false, 4);
        let from = seen.fired.first().expect("a shot").from;
        assert!(from.distance(EYE) < 0.2, "{velocity}: from {from}");
        let verdict = seen.verdicts.first().expect("a verdict");
        assert!(!verdict.clamped, "{velocity}: {verdict:?}");
    }
}
