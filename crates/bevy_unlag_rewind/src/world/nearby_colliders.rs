//! Cache of the fixed colliders near a query, looked up once for many rays.

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::{
    parry::{query::Ray as ParryRay, shape::Ball},
    prelude::*,
    rapier::prelude::{Collider as FixedCollider, ColliderHandle},
};

use super::WorldTrace;
use crate::{
    convex_cast::{cast_convex, parry_pose},
    unit_ray::UnitRay,
};

/// Fixed colliders in a region, in an array without allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearbyColliders {
    handles: [ColliderHandle; Self::ROOM],
    /// Number of colliders; `None` if there were too many.
    count: Option<usize>,
}

impl Default for NearbyColliders {
    fn default() -> Self {
        Self { handles: [ColliderHandle::invalid(); Self::ROOM], count: Some(0) }
    }
}

impl NearbyColliders {
    /// Capacity. With more colliders near a query, each ray goes through rapier's BVH instead.
    const ROOM: usize = 16;
}

impl WorldTrace<'_, '_> {
    /// Calls `each` with every fixed collider whose axis-aligned bounding box satisfies `wanted`.
    pub(crate) fn each_near(
        &self,
        wanted: impl Fn(Vec3A, Vec3A) -> bool,
        mut each: impl FnMut(ColliderHandle, &FixedCollider),
    ) {
        let Ok(rapier) = self.rapier.single() else { return };
        let filter = QueryFilter::only_fixed().exclude_sensors();
        rapier.with_query_pipeline(filter, |pipeline| {
            let pipeline = &pipeline.query_pipeline;
            let leaves = pipeline.bvh.leaves(|node| wanted(node.mins().into(), node.maxs().into()));
            for leaf in leaves {
                if let Some((collider, handle)) = pipeline.colliders.get_unknown_gen(leaf)
                    && pipeline.filter.test(pipeline.bodies, handle, collider)
                {
                    each(handle, collider);
                }
            }
        });
    }

    /// Collects the fixed colliders whose bounding box satisfies `wanted`.
    pub(crate) fn gather(&self, wanted: impl Fn(Vec3A, Vec3A) -> bool) -> NearbyColliders {
        let mut walls = NearbyColliders::default();
        self.each_near(wanted, |handle, _| {
            walls.count = walls.count.filter(|count| *count < NearbyColliders::ROOM).map(|count| {
                walls.handles[count] = handle;
                count + 1
            });
        });
        walls
    }

    /// Same result as [`sweep`](Self::sweep), for a ball that stays within the region of `walls`. A ball
    /// that starts inside a wall is handled without parry, which would allocate to compute the
    /// penetration depth.
    pub(crate) fn sweep_ball_among(
        &self,
        walls: &NearbyColliders,
        radius: f32,
        way: &UnitRay,
    ) -> Option<f32> {
        let (ball, origin, direction) = (Ball::new(radius), Vec3::from(way.origin), way.direction.into());
        let from = Isometry3d::from_translation(origin);
        let Some(count) = walls.count else { return self.sweep(&ball, from, direction, way.max) };
        if count == 0 || !(origin.is_finite() && way.max.is_finite()) {
            return None;
        }
        let rapier = self.rapier.single().ok()?;
        let mut nearest = None;
        for handle in &walls.handles[..count] {
            let Some(wall) = rapier.colliders.colliders.get(*handle) else { continue };
            let reach = nearest.unwrap_or(way.max);
            let around = wall.compute_aabb();
            let way = UnitRay { max: reach, ..*way };
            if !way.passes_box(radius, around.mins.into(), around.maxs.into()) {
                continue;
            }
            if wall.shape().distance_to_point(wall.position(), origin, true) <= radius {
                return Some(0.0);
            }
            let at = parry_pose(from);
            let hit = cast_convex((wall.position(), wall.shape()), (&at, &ball), direction, reach);
            nearest = hit.or(nearest);
        }
        nearest
    }

    /// Same result as [`cast`](Self::cast), for a ray that stays within the region of `walls`.
    pub(crate) fn cast_among(
        &self,
        walls: &NearbyColliders,
        origin: Vec3,
        direction: Vec3,
        max_distance: f32,
    ) -> Option<f32> {
        let Some(count) = walls.count else { return self.cast(origin, direction, max_distance) };
        if count == 0 || !(origin.is_finite() && direction.is_finite() && max_distance.is_finite()) {
            return None;
        }
        let rapier = self.rapier.single().ok()?;
        let ray = ParryRay::new(origin, direction);
        let mut nearest = None;
        for handle in &walls.handles[..count] {
            // A collider that was despawned since then is ignored.
            let Some(wall) = rapier.colliders.colliders.get(*handle) else { continue };
            let reach = nearest.unwrap_or(max_distance);
            nearest = wall.shape().cast_ray(wall.position(), &ray, reach, true).or(nearest);
        }
        nearest
    }
}
