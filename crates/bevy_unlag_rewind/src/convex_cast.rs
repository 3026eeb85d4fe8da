//! Casts of convex shapes by parry.

use bevy::prelude::*;
use bevy_rapier3d::{
    parry::{
        query::{ShapeCastOptions, cast_shapes},
        shape::Shape as ParryShape,
    },
    rapier::math::Pose,
};

/// Returns the options of a cast without the contact of shapes that touch at the start.
pub(crate) fn options(max_distance: f32) -> ShapeCastOptions {
    ShapeCastOptions {
        max_time_of_impact: max_distance,
        compute_impact_geometry_on_penetration: false,
        ..default()
    }
}

pub(crate) fn parry_pose(pose: Isometry3d) -> Pose {
    Pose::from_parts(pose.translation.into(), pose.rotation)
}

/// Returns the distance in metres that a convex shape travels along a unit direction until it touches a still
/// one; 0 if they touch at the start.
pub(crate) fn cast_convex(
    (own, still): (&Pose, &dyn ParryShape),
    (from, moved): (&Pose, &dyn ParryShape),
    direction: Vec3,
    max_distance: f32,
) -> Option<f32> {
    let hit = cast_shapes(own, Vec3::ZERO, still, from, direction, moved, options(max_distance));
    hit.ok()?.map(|hit| hit.time_of_impact)
}
