//! Clients that forge their eye position.

use bevy::prelude::*;
use bevy_unlag_weapons::{Aim, FireInput, FireRules, ShooterView, ShotRefusal, ShotResult, Weapon};

use crate::adversaries::stage::{Duel, wall};

/// Returns the result of a shot at the first target's chest from an eye at an offset. The view turns there
/// first.
fn from(duel: &mut Duel, off: Vec3) -> ShotResult {
    let chest = duel.chest(0, duel.view()).expect("the target is drawn");
    let along = chest - (duel.eye() + off);
    duel.aside = None;
    duel.look(along);
    duel.run(60);
    let aim = Aim::from_direction(along);
    duel.expect_one_verdict(move |knows, input, _| {
        let look = Aim { yaw: input.body.yaw, pitch: input.body.pitch };
        let sight = ShooterView::new(Some(knows.view), FireInput::rounded(knows.eye + off));
        input.extension.fire = Some(FireInput::new(&sight, knows.tick).with_aim(aim, look));
    })
}

const REFUSED: ShotResult = ShotResult::Refused(ShotRefusal::Eye);

#[test]
fn eye_behind_a_wall_is_refused() {
    let through = Vec3::NEG_Z * 0.7;
    let mut open = Duel::new(&[Weapon::rifle()]);
    assert!(matches!(from(&mut open, through), ShotResult::Hit(_)), "without the wall");

    let mut duel = Duel::new(&[Weapon::rifle()]);
    wall(&mut duel.server, Vec3::new(3.0, 3.0, 0.05), Vec3::new(0.0, 1.5, -0.5));
    duel.run(2);
    assert_eq!(from(&mut duel, Vec3::ZERO), ShotResult::Miss, "the wall blocks the shot");
    assert_eq!(from(&mut duel, through), REFUSED, "the eye is behind the wall");
    assert!(duel.damage.is_empty());
    assert_eq!(duel.refused(ShotRefusal::Eye), 1);
}

#[test]
fn forged_eye_hits_nothing_that_the_clamped_eye_cannot_see() {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    assert!(matches!(from(&mut duel, Vec3::ZERO), ShotResult::Hit(_)), "without a wall");
    // A tall wall that an eye 0.9 m aside sees past.
    wall(&mut duel.server, Vec3::new(0.42, 2.5, 0.1), Vec3::new(0.0, 2.5, -5.0));
    duel.run(2);
    assert_eq!(from(&mut duel, Vec3::ZERO), ShotResult::Miss, "the wall blocks the shot");
    duel.damage.clear();
    for off in [0.9, 1.0, 1.1, 1.5, 1.9, 2.0, 2.6, 3.1, 5.0, 9.9, 100.0, 511.3] {
        for way in [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Z, Vec3::new(0.8, 0.0, -0.6)] {
            // Traced from the nearest accepted position, or from the position nearest to the own eye with
            // the same low bits.
            assert_eq!(from(&mut duel, way * off), ShotResult::Miss, "{off} m towards {way}");
            let clamped = duel.verdicts.last().expect("a verdict").clamped;
            let honoured = way == Vec3::Y && off < 1.25;
            let folded = off > if way == Vec3::Y { 1.99 } else { 3.99 };
            assert!(clamped || honoured || folded, "{off} m towards {way} counts as it is");
        }
    }
    assert!(duel.damage.is_empty());
    // There is no other reason for a miss.
    duel.server.world_mut().resource_mut::<FireRules>().eye_tolerance = 1.0;
    assert!(matches!(from(&mut duel, Vec3::X * 0.95), ShotResult::Hit(_)));
    // Larger offsets cannot be represented on the wire.
    duel.server.world_mut().resource_mut::<FireRules>().eye_tolerance = 1e3;
    assert_eq!(from(&mut duel, Vec3::X * 7.8), ShotResult::Miss);
}
