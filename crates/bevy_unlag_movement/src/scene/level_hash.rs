//! Level hashes, by which two machines compare their levels.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::{Aabb, BoundingVolume};

use super::MoverScene;

/// Margin in metres around a pawn that counts as its surroundings.
const SURROUNDINGS_MARGIN: f32 = 1.5;

impl MoverScene {
    /// Returns a hash of the fixed obstacles of the level, independent of their order.
    #[must_use]
    pub fn level_hash(&self) -> u32 {
        fold(self.fixed.all().map(|obstacle| obstacle.order))
    }

    /// Returns a hash of the obstacles that block a member of `mask`, near a pawn from its feet to its
    /// head.
    pub(crate) fn hash_around(&self, mask: u32, feet: Vec3, head: Vec3) -> u32 {
        let around = Aabb::new(feet.min(head), feet.max(head)).loosened(SURROUNDINGS_MARGIN);
        fold(self.fixed.near(&around).filter(|o| o.blocks(mask)).map(|obstacle| obstacle.order))
    }
}

/// Sums the hashes, because the order in the tree is arbitrary.
fn fold(orders: impl Iterator<Item = u64>) -> u32 {
    let sum = orders.fold(0_u64, u64::wrapping_add);
    (sum ^ (sum >> 32)) as u32
}
