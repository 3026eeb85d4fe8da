//! Shape casts against the world.

use bevy::prelude::*;
use bevy_rapier3d::{
    parry::{
        query::{ShapeCastOptions, cast_shapes},
        shape::Shape as ParryShape,
    },
    prelude::*,
    rapier::math::Pose,
};

use super::{Occluder, WorldTrace};

pub(super) fn options(max_distance: f32) -> ShapeCastOptions {
    ShapeCastOptions {
        max_time_of_impact: max_distance,
        compute_impact_geometry_on_penetration: false,
        ..default()
    }
}

pub(crate) fn parry_pose(pose: Isometry3d) -> Pose {
    Pose::from_parts(pose.translation.into(), pose.rotation)
}

impl Occluder {
    /// Returns the distance in metres that a convex shape travels along a unit direction until it touches
    /// the occluder at `pose`.
    pub(crate) fn sweep(
        &self,
        pose: Isometry3d,
        shape: &dyn ParryShape,
        from: Isometry3d,
        direction: Vec3,
        max_distance: f32,
    ) -> Option<f32> {
        let (own, from) = (parry_pose(pose), parry_pose(from));
        let own_shape = &*self.shape.raw;
        let hit = cast_shapes(&own, Vec3::ZERO, own_shape, &from, direction, shape, options(max_distance));
        hit.ok()?.map(|hit| hit.time_of_impact)
    }
}

impl WorldTrace<'_, '_> {
    /// Returns the distance in metres that a convex shape travels along a unit direction until it touches
    /// a wall; 0 if it touches one at the start, `None` if it touches none within `max_distance`.
    pub(crate) fn sweep(
        &self,
        shape: &dyn ParryShape,
        from: Isometry3d,
        direction: Vec3,
        max_distance: f32,
    ) -> Option<f32> {
        if !(from.translation.is_finite() && direction.is_finite() && max_distance.is_finite()) {
            return None;
        }
        let rapier = self.rapier.single().ok()?;
        let filter = QueryFilter::only_fixed().exclude_sensors();
        let (at, turned) = (from.translation.into(), from.rotation);
        let hit = rapier.cast_shape(at, turned, direction, shape, options(max_distance), filter);
        hit.map(|(_, hit)| hit.time_of_impact)
    }
}
