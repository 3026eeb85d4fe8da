//! Numbers by which two machines find out whether their levels are the same.

use bevy_rapier3d::parry::bounding_volume::{Aabb, BoundingVolume};

use super::MoverScene;
use crate::{CapsuleConfig, CapsuleState};

/// Metres around a pawn that are its surroundings.
const AROUND: f32 = 1.5;

impl MoverScene {
    /// A number that differs when the fixed obstacles of the level do, whatever order they came in.
    #[must_use]
    pub fn level_hash(&self) -> u32 {
        fold(self.fixed.all().map(|obstacle| obstacle.order))
    }

    /// The same of what is near a pawn.
    pub(crate) fn hash_around(&self, config: &CapsuleConfig, state: &CapsuleState) -> u32 {
        if !state.is_sound() {
            return 0;
        }
        let height = state.up * (2.0 * config.half_height);
        let ends = (state.position, state.position + height);
        let around = Aabb::new(ends.0.min(ends.1), ends.0.max(ends.1)).loosened(AROUND);
        fold(self.fixed.near(&around).filter(|o| o.stops(config.blocked_by)).map(|obstacle| obstacle.order))
    }
}

/// Sums, because a tree has no order.
fn fold(orders: impl Iterator<Item = u64>) -> u32 {
    let sum = orders.fold(0_u64, u64::wrapping_add);
    (sum ^ (sum >> 32)) as u32
}
