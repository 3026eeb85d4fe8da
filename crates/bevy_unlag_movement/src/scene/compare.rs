//! Numbers by which two machines find out whether their levels are the same.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::{Aabb, BoundingVolume};

use super::MoverScene;

/// Metres around a pawn that are its surroundings.
const AROUND: f32 = 1.5;

impl MoverScene {
    /// A number that differs when the fixed obstacles of the level do, whatever order they came in.
    #[must_use]
    pub fn level_hash(&self) -> u32 {
        fold(self.fixed.all().map(|obstacle| obstacle.order))
    }

    /// The same of what is near a pawn from its feet to its head and stops a member of `mask`.
    pub(crate) fn hash_around(&self, mask: u32, feet: Vec3, head: Vec3) -> u32 {
        let around = Aabb::new(feet.min(head), feet.max(head)).loosened(AROUND);
        fold(self.fixed.near(&around).filter(|o| o.stops(mask)).map(|obstacle| obstacle.order))
    }
}

/// Sums, because a tree has no order.
fn fold(orders: impl Iterator<Item = u64>) -> u32 {
    let sum = orders.fold(0_u64, u64::wrapping_add);
    (sum ^ (sum >> 32)) as u32
}
