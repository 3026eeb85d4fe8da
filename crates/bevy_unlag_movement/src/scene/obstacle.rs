//! One collider that stops capsules.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier3d::parry::{
    bounding_volume::Aabb,
    math::Pose,
    shape::{HalfSpace, Shape, SharedShape},
};

use super::hash::Mix;

/// Metres from the origin to which anything reaches: pawns stay within a quarter of it. A
/// half-space has no end, and a tree of boxes wants one.
const END: f32 = 40_000.0;

/// A collider in the space of its base, or in the world.
#[derive(Clone)]
pub(super) struct Obstacle {
    pub(super) entity: Entity,
    pub(super) shape: SharedShape,
    pub(super) pose: Pose,
    pub(super) aabb: Aabb,
    /// A hash of what it is and where, and of nothing else: parts are sorted by it.
    pub(super) order: u64,
    /// The groups that it is a member of, if it has any.
    groups: Option<u32>,
    /// The side that stops, one long, if only one does.
    pub(super) one_way: Option<Vec3>,
}

impl Obstacle {
    /// None if parry could not stand it, or nobody could meet it.
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
        let end = Vec3::splat(END);
        let aabb = aabb.intersection(&Aabb::new(-end, end))?;
        let one_way = side.and_then(Vec3::try_normalize).map(|side| pose.rotation * side);
        let mix = Mix::new().pose(&pose).shape(&*shape).vector(one_way.unwrap_or_default());
        Some(Self { entity, shape, pose, aabb, order: mix.finish(), groups, one_way })
    }

    /// Whether a mover that these groups stop minds it.
    pub(super) fn stops(&self, mask: u32) -> bool {
        self.groups.is_none_or(|groups| groups & mask != 0)
    }

    /// Whether it makes no difference which of the two is there.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.order == other.order
            && self.groups == other.groups
            && self.one_way == other.one_way
            && Arc::ptr_eq(&self.shape.0, &other.shape.0)
    }
}

/// The box around a shape; finite for a half-space too, and as tight for one along an axis as it
/// can be.
pub(super) fn bounds(shape: &dyn Shape, pose: &Pose) -> Aabb {
    let Some(half_space) = shape.as_shape::<HalfSpace>() else { return shape.compute_aabb(pose) };
    let normal = (pose.rotation * half_space.normal).to_array();
    let at = pose.translation.to_array();
    let (mut mins, mut maxs) = ([-END; 3], [END; 3]);
    for i in 0..3 {
        // Only if it is level to the bit: at the end of the world a hair's breadth is metres.
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
