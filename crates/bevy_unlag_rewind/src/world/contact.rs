//! Contact of a swept ball with static geometry, with the surface normal.

use bevy::prelude::*;
use bevy_rapier3d::{
    parry::{query::Ray as ParryRay, shape::Ball},
    prelude::*,
};

use super::WorldTrace;
use crate::convex_cast::{options, parry_pose};

/// Contact with a wall.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WallContact {
    /// Distance in metres that the centre travelled until the contact.
    pub distance: f32,
    /// Unit normal that points out of the wall.
    pub normal: Vec3,
}

impl WorldTrace<'_, '_> {
    /// Returns the first contact with a wall of a ball of `radius` metres (0 for a point) whose centre
    /// moves along a unit direction; `None` if there is none within `max_distance`. A ball is not stopped
    /// by a wall that it touches at the start while it moves away from it.
    #[must_use]
    pub fn cast_contact(
        &self,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
        radius: f32,
    ) -> Option<WallContact> {
        let sound = origin.is_finite() && direction.is_finite() && max_distance.is_finite();
        if !(sound && radius.is_finite()) {
            return None;
        }
        let rapier = self.rapier.single().ok()?;
        let filter = QueryFilter::only_fixed().exclude_sensors();
        rapier.with_query_pipeline(filter, |pipeline| {
            let pipeline = &pipeline.query_pipeline;
            if radius <= 0.0 {
                let ray = ParryRay::new(origin, direction);
                let (_, hit) = pipeline.cast_ray_and_get_normal(&ray, max_distance, true)?;
                // Inside a wall there is no surface normal.
                let normal = hit.normal.try_normalize().unwrap_or(-direction);
                return Some(WallContact { distance: hit.time_of_impact, normal });
            }
            let (ball, from) = (Ball::new(radius), parry_pose(Isometry3d::from_translation(origin)));
            let mut options = options(max_distance);
            options.stop_at_penetration = false;
            let (handle, hit) = pipeline.cast_shape(&from, direction, &ball, options)?;
            let middle = origin + direction * hit.time_of_impact;
            let wall = pipeline.colliders.get(handle)?;
            let surface = wall.shape().project_point(wall.position(), middle, true).point;
            let normal = (middle - surface).try_normalize().unwrap_or(-direction);
            Some(WallContact { distance: hit.time_of_impact, normal })
        })
    }
}
