//! Who turns faster than any hand.

use bevy::prelude::*;
use bevy_unlag_weapons::{Aim, FireRules, ShotRefusal, ShotResult, Weapon};

use crate::stage::Duel;

/// Looks away, snaps to the target, and fires so many moves later.
fn snap(duel: &mut Duel, later: u32) -> ShotResult {
    duel.aside = None;
    duel.look(Vec3::Z + Vec3::X * 0.01);
    duel.run(120);
    let along = duel.chest(0, duel.view()).expect("it is drawn") - duel.eye();
    duel.look(along);
    duel.run(later);
    duel.tap()
}

const REFUSED: ShotResult = ShotResult::Refused(ShotRefusal::Aim);

#[test]
fn half_a_turn_in_the_move_of_a_shot_hits_nobody() {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    assert!(matches!(duel.tap(), ShotResult::Hit(_)), "an honest one");
    assert_eq!(snap(&mut duel, 0), REFUSED);
    assert_eq!((duel.damage.len(), duel.refused(ShotRefusal::Aim)), (1, 1));
    // Nothing else is in its way.
    duel.server.world_mut().resource_mut::<FireRules>().max_turn = 1e6;
    assert!(matches!(snap(&mut duel, 0), ShotResult::Hit(_)));
}

#[test]
fn nor_does_half_a_turn_in_the_move_before() {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    for later in 1..6 {
        assert_eq!(snap(&mut duel, later), REFUSED, "{later} moves later");
    }
    assert!(duel.damage.is_empty());
    assert!(matches!(snap(&mut duel, 30), ShotResult::Hit(_)), "who has looked there for half a second");
    // Nothing else is in its way.
    duel.server.world_mut().resource_mut::<FireRules>().max_turn = 1e6;
    assert!(matches!(snap(&mut duel, 1), ShotResult::Hit(_)));
}

#[test]
fn nor_in_packets_that_are_held_back_but_in_a_frame_that_hung() {
    // Looks away, turns to the target while nothing comes for so many ticks, and fires so many moves later.
    let snap = |held_back: u32, later: u32| {
        let mut duel = Duel::new(&[Weapon::rifle()]);
        duel.aside = None;
        duel.look(Vec3::Z + Vec3::X * 0.01);
        duel.run(120);
        let along = duel.chest(0, duel.view()).expect("it is drawn") - duel.eye();
        duel.look(along);
        duel.hang(held_back);
        duel.run(later);
        duel.tap()
    };
    for later in [0, 3] {
        for held_back in 0..3 {
            assert_eq!(snap(held_back, later), REFUSED, "{held_back} held back, {later} moves later");
        }
        // A hand can do that in a sixth of a second.
        assert!(matches!(snap(9, later), ShotResult::Hit(_)), "{later} moves later");
    }
}

#[test]
fn a_shot_does_not_leave_aside_of_its_view() {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    // Its moves look so many degrees past the target, and the shot at it.
    let mut aside = |degrees: f32, tolerance: f32| {
        duel.server.world_mut().resource_mut::<FireRules>().aim_tolerance = tolerance;
        let along = duel.chest(0, duel.view()).expect("it is drawn") - duel.eye();
        duel.aside = None;
        duel.look(Quat::from_rotation_y(degrees.to_radians()) * along);
        duel.run(120);
        duel.once(move |knows, input, _| {
            let look = Aim { yaw: input.body.yaw, pitch: input.body.pitch };
            input.extension.fire = Some(knows.shot(input).looking(Aim::along(along), look));
        })
    };
    for degrees in [12.0, 30.0, 90.0, 179.0] {
        assert_eq!(aside(degrees, 10.0), REFUSED, "{degrees}° aside");
        assert!(
            matches!(aside(degrees, 360.0), ShotResult::Hit(_)),
            "{degrees}° aside, where that is no matter"
        );
    }
    assert!(matches!(aside(8.0, 10.0), ShotResult::Hit(_)), "a jerk between two ticks");
}
