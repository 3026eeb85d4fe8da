//! Single collider that blocks capsules.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier3d::parry::{
    bounding_volume::Aabb,
    math::Pose,
    shape::{HalfSpace, Shape, SharedShape},
};

use super::stable_hash::StableHasher;

/// Largest coordinate of an obstacle in metres; pawns stay within a quarter of it. It bounds
/// half-spaces, which are infinite, for the tree of boxes.
const MAX_COORDINATE: f32 = 40_000.0;

/// Collider in the space of its base, or in world space.
#[derive(Clone)]
pub(super) struct Obstacle {
    pub(super) entity: Entity,
    pub(super) shape: SharedShape,
    pub(super) pose: Pose,
    pub(super) aabb: Aabb,
    /// Hash of the shape and its pose alone; parts are sorted by it.
    pub(super) order: u64,
    /// Collision group memberships, if the collider has groups.
    groups: Option<u32>,
    /// Unit normal of the blocking side, if only one side blocks.
    pub(super) one_way: Option<Vec3>,
}

impl Obstacle {
    /// Creates an obstacle; `None` if its pose or bounds are not finite, or it is out of range.
    pub(super) fn new(
        entity: Entity,
        shape: SharedShape,
        pose: Pose,
        groups: Option<u32>,
        side: Option<Vec3>,
    ) -> Option<Self> {
        let aabb = bounds(&*shape, &pose);
        if !pose.is_finite() || !aabb.mins.is_finite() || !aabb.maxs.is_finite() {
            return None;
        }
        let end = Vec3::splat(MAX_COORDINATE);
        let aabb = aabb.intersection(&Aabb::new(-end, end))?;
        let one_way = side.and_then(Vec3::try_normalize).map(|side| pose.rotation * side);
        let mix = StableHasher::new().pose(&pose).shape(&*shape).vector(one_way.unwrap_or_default());
        Some(Self { entity, shape, pose, aabb, order: mix.finish(), groups, one_way })
    }

    /// Returns whether it blocks a mover with this mask.
    pub(super) fn blocks(&self, mask: u32) -> bool {
        self.groups.is_none_or(|groups| groups & mask != 0)
    }

    /// Returns whether the two obstacles are interchangeable.
    pub(super) fn is_interchangeable_with(&self, other: &Self) -> bool {
        self.order == other.order
            && self.groups == other.groups
            && self.one_way == other.one_way
            && Arc::ptr_eq(&self.shape.0, &other.shape.0)
    }
}

/// Returns the bounding box of a shape. It is finite also for a half-space, and tight for an
/// axis-aligned one.
pub(super) fn bounds(shape: &dyn Shape, pose: &Pose) -> Aabb {
    let Some(half_space) = shape.as_shape::<HalfSpace>() else { return shape.compute_aabb(pose) };
    let normal = (pose.rotation * half_space.normal).to_array();
    let at = pose.translation.to_array();
    let (mut mins, mut maxs) = ([-MAX_COORDINATE; 3], [MAX_COORDINATE; 3]);
    for i in 0..3 {
        // Only if it is axis-aligned to the bit: at this distance a tiny angle amounts to metres.
        if normal[(i + 1) % 3] == 0.0 && normal[(i + 2) % 3] == 0.0 {
            if normal[i] > 0.0 {
                maxs[i] = at[i];
            } else {
                mins[i] = at[i];
            }
        }
    }
    Aabb::new(Vec3::from_array(mins), Vec3::from_array(maxs))
}
