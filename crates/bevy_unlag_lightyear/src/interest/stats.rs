//! Counters of interest.

use core::time::Duration;

use bevy::prelude::*;

/// Counters of the interest of this server.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct InterestStats {
    /// Pairs of a client and a pawn that were tested in the last tick.
    pub tested: u32,
    /// Those among them for which rays were lacking; they count as in sight. Where it is often more than 0,
    /// [`rays_per_tick`](crate::InterestConfig::rays_per_tick) is too low for the level.
    pub unanswered: u32,
    /// Rays cast in total.
    pub rays: u64,
    /// Time that the decision took in the last tick.
    pub time: Duration,
}
