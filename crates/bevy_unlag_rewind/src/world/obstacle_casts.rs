//! Shape casts against the world.

use bevy::prelude::*;
use bevy_rapier3d::{parry::shape::Shape as ParryShape, prelude::*};

use super::{Occluder, WorldTrace};
use crate::convex_cast::{cast_convex, options, parry_pose};

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
        cast_convex((&own, &*self.shape.raw), (&from, shape), direction, max_distance)
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
