//! Mistakes in the setup that are reported.

use bevy::prelude::*;
use bevy_unlag_core::{SetupDiagnostics, SetupIssue};
use bevy_unlag_weapons::Aim;

use crate::rifle::range::Range;

/// Fails if an aim beside the look of the moves is not compared with the tolerance.
#[test]
fn look_that_stays_ahead_while_the_pawn_aims_aside_is_reported() {
    // The tolerance is 10 degrees.
    for (degrees, expected) in [(0.0_f32, false), (9.0, false), (11.0, true), (90.0, true)] {
        let mut range = Range::new(true);
        let aim = Aim::from_direction(Quat::from_rotation_y(degrees.to_radians()) * Vec3::NEG_Z);
        *range.app.world_mut().get_mut::<Aim>(range.shooter).expect("an aim") = aim;
        range.hold(false, 3 * 64);
        let diagnostics = range.app.world().resource::<SetupDiagnostics>();
        let is_reported = diagnostics.has(SetupIssue::LookNotImplemented);
        assert_eq!(is_reported, expected, "{degrees} degrees: {:?}", diagnostics.all());
    }
}
