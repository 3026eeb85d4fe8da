//! Clients that forge the view time of their screen.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_rewind::{ViewMismatchAction, ViewTimeError, ViewTimeValidator, ViewValidationConfig};
use bevy_unlag_weapons::{Aim, ShotRefusal, ShotResult, ShotVerdict, Weapon};

use crate::adversaries::stage::Duel;

/// View validation that accepts everything.
pub fn gullible() -> ViewValidationConfig {
    let long = Duration::from_secs(3);
    ViewValidationConfig {
        frame_allowance: long,
        max_playout: long,
        rtt_slack: long,
        initial_playout: long,
        ..ViewValidationConfig::default()
    }
}

/// Lets time pass while the first target runs to and fro across the line of fire.
pub fn stride(velocity: Vec3) -> impl FnMut(&mut Duel, u32) {
    let mut frame = 0_u32;
    move |duel, frames| {
        for _ in 0..frames {
            let way = if (frame / 64).is_multiple_of(2) { velocity } else { -velocity };
            let mut target = duel.target_state(0);
            target.body.position += way / 64.0;
            target.body.velocity = way;
            frame += 1;
            duel.run(1);
        }
    }
}

/// Fires a shot that claims an earlier view time, at the pose of the target at that time.
fn stolen(ticks: i32, config: ViewValidationConfig) -> (ShotVerdict, Duel) {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    duel.server.insert_resource(config);
    let mut walk = stride(Vec3::X * 5.0);
    // In the middle of its path.
    walk(&mut duel, 424);
    let then = duel.view().later(-i64::from(ticks) * 256);
    let along = duel.chest(0, then).expect("it was drawn") - duel.eye();
    duel.aside = None;
    duel.look(along);
    let aim = Aim::from_direction(along);
    let mut done = false;
    duel.modify(move |knows, input, _| {
        if !core::mem::replace(&mut done, true) {
            (input.body.yaw, input.body.pitch) = (aim.yaw, aim.pitch);
            input.extension.fire = Some(knows.shot_from(knows.eye, then, input));
        }
    });
    walk(&mut duel, 40);
    assert_eq!(duel.verdicts.len(), 1);
    (duel.verdicts[0], duel)
}

#[test]
fn view_time_of_a_slower_link_is_clamped() {
    let (honest, _) = stolen(0, ViewValidationConfig::default());
    assert!(matches!(honest.result, ShotResult::Hit(_)) && !honest.clamped, "{honest:?}");

    // Another client's screen is 190 ms further behind.
    let (lie, duel) = stolen(12, ViewValidationConfig::default());
    assert_eq!(lie.result, ShotResult::Miss);
    assert!(lie.clamped && duel.damage.is_empty());
    let counts = duel.server.world().get::<ViewTimeValidator>(duel.shooter).expect("a validator").counts();
    assert_eq!(counts.of(ViewTimeError::TooFarBack), 1, "{counts:?}");

    let (refused, duel) = stolen(
        12,
        ViewValidationConfig { mismatch: ViewMismatchAction::Refuse, ..ViewValidationConfig::default() },
    );
    assert_eq!(refused.result, ShotResult::Refused(ShotRefusal::View));
    assert_eq!(duel.refused(ShotRefusal::View), 1);

    // Without the clamp the shot would have hit.
    let (believed, _) = stolen(12, gullible());
    assert!(matches!(believed.result, ShotResult::Hit(_)), "{believed:?}");
}
