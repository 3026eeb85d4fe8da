//! Clients whose view turns faster than a player's can.

use bevy::prelude::*;
use bevy_unlag_weapons::{Aim, FireRules, ShotRefusal, ShotResolved, ShotResult, Weapon};

use crate::adversaries::stage::{BEHIND, Duel, WAY};

/// Looks away, snaps to the target, and fires the given number of moves later.
fn snap(duel: &mut Duel, later: u32) -> ShotResult {
    duel.aside = None;
    duel.look(Vec3::Z + Vec3::X * 0.01);
    duel.run(120);
    let along = duel.chest(0, duel.view()).expect("the target is drawn") - duel.eye();
    duel.look(along);
    duel.run(later);
    duel.tap_and_expect_verdict()
}

const REFUSED: ShotResult = ShotResult::Refused(ShotRefusal::Aim);

#[test]
fn half_a_turn_in_the_move_of_a_shot_is_refused() {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    assert!(matches!(duel.tap_and_expect_verdict(), ShotResult::Hit(_)), "an honest shot");
    assert_eq!(snap(&mut duel, 0), REFUSED);
    assert_eq!((duel.damage.len(), duel.refused(ShotRefusal::Aim)), (1, 1));
    // The game on the server has got both, with the age of the poses that the screen showed.
    let [hit, refused] = duel.reports[..] else { panic!("{:?}", duel.reports) };
    let (shooter, verdict) = (duel.shooter, duel.verdicts[1]);
    assert_eq!(refused, ShotResolved { shooter, verdict, is_impact: false, rewind: None });
    assert_eq!((hit.verdict, hit.is_impact), (duel.verdicts[0], false));
    let ticks = hit.rewind.map_or(0.0, |age| age.as_secs_f32() * 64.0);
    assert!(((BEHIND as f32 + WAY as f32)..25.0).contains(&ticks), "{ticks} ticks");
    // There is no other reason for a refusal.
    duel.server.world_mut().resource_mut::<FireRules>().max_turn = 1e6;
    assert!(matches!(snap(&mut duel, 0), ShotResult::Hit(_)));
}

#[test]
fn half_a_turn_shortly_before_a_shot_is_refused_until_it_has_decayed() {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    for later in 1..6 {
        assert_eq!(snap(&mut duel, later), REFUSED, "{later} moves later");
    }
    assert!(duel.damage.is_empty());
    assert!(matches!(snap(&mut duel, 30), ShotResult::Hit(_)), "the turn was half a second ago");
    // There is no other reason for a refusal.
    duel.server.world_mut().resource_mut::<FireRules>().max_turn = 1e6;
    assert!(matches!(snap(&mut duel, 1), ShotResult::Hit(_)));
}

#[test]
fn half_a_turn_is_accepted_in_a_long_frame_but_not_in_held_back_packets() {
    // Looks away, turns to the target while no packets arrive for some ticks, and fires some moves later.
    let snap = |held_back: u32, later: u32| {
        let mut duel = Duel::new(&[Weapon::rifle()]);
        duel.aside = None;
        duel.look(Vec3::Z + Vec3::X * 0.01);
        duel.run(120);
        let along = duel.chest(0, duel.view()).expect("the target is drawn") - duel.eye();
        duel.look(along);
        duel.hang(held_back);
        duel.run(later);
        duel.tap_and_expect_verdict()
    };
    for later in [0, 3] {
        for held_back in 0..3 {
            assert_eq!(snap(held_back, later), REFUSED, "{held_back} held back, {later} moves later");
        }
        // A player can do that in a sixth of a second.
        assert!(matches!(snap(9, later), ShotResult::Hit(_)), "{later} moves later");
    }
}

#[test]
fn shot_beside_the_look_direction_is_refused() {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    // The moves look some degrees past the target, and the shot is aimed at it.
    let mut aside = |degrees: f32, tolerance: f32| {
        duel.server.world_mut().resource_mut::<FireRules>().aim_tolerance = tolerance;
        let along = duel.chest(0, duel.view()).expect("the target is drawn") - duel.eye();
        duel.aside = None;
        duel.look(Quat::from_rotation_y(degrees.to_radians()) * along);
        duel.run(120);
        duel.expect_one_verdict(move |knows, input, _| {
            let look = Aim { yaw: input.body.yaw, pitch: input.body.pitch };
            input.extension.fire = Some(knows.shot(input).with_aim(Aim::from_direction(along), look));
        })
    };
    for degrees in [12.0, 30.0, 90.0, 179.0] {
        assert_eq!(aside(degrees, 10.0), REFUSED, "{degrees}° aside");
        assert!(
            matches!(aside(degrees, 360.0), ShotResult::Hit(_)),
            "{degrees}° aside, where that is no matter"
        );
    }
    assert!(matches!(aside(8.0, 10.0), ShotResult::Hit(_)), "a jerk of the mouse between two ticks");
}
