//! Cover protection: rejects hits on targets that were already in cover.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{SUB_TICKS, sub_ticks};

/// Rule that rejects a hit if the shooter's view is old and the victim has, on the server, been out of
/// the shooter's sight for a while: a player who ran behind a wall is not shot there by a client that saw
/// it late. Every shot is checked independently; a shot at a target that is still in sight is never
/// rejected.
///
/// A victim is out of sight in a tick if the world, including doors and lifts, obstructed the lines from
/// the shooter's eye to the centres of all its hit boxes. All positions are those that the *server* had
/// in that tick, as in [`FrameHistory::frames`](crate::FrameHistory::frames), not those on any screen;
/// the eye keeps the offset from the shooter's root that the ray's origin has now. So a shooter that
/// steps out from behind a wall can hit what it sees, and one that fires and steps back gains nothing.
/// The shooter is the entity in [`RewindFilter::exclude`](crate::RewindFilter::exclude); if there is
/// none, the eye stays at the origin of the ray.
#[doc(alias = "shot behind cover")]
#[doc(alias = "peekers advantage")]
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, Reflect)]
pub struct CoverProtection {
    /// Time out of sight after which a victim is protected. Default: 100 ms. A larger value protects
    /// fewer victims; a value above [`RewindLimits::max_age`](crate::RewindLimits::max_age) protects
    /// none.
    pub grace: Duration,
    /// Age up to which views are exempt from the rule, measured when the shot arrived. Default: 150 ms, a
    /// typical view on a good link. A larger value restricts the protection to shots from worse links.
    pub max_exempt_age: Duration,
}

impl Default for CoverProtection {
    fn default() -> Self {
        Self { grace: Duration::from_millis(100), max_exempt_age: Duration::from_millis(150) }
    }
}

impl CoverProtection {
    /// Returns whether the rule applies to a view of this age, in 1/256 of a tick.
    pub(crate) fn concerns(&self, rewound: i64, tick_seconds: f32) -> bool {
        rewound > sub_ticks(self.max_exempt_age, tick_seconds)
    }

    /// Returns whether a victim that has been out of sight for this many ticks is protected.
    pub(crate) fn protects(&self, hidden: i32, tick_seconds: f32) -> bool {
        i64::from(hidden) * SUB_TICKS > sub_ticks(self.grace, tick_seconds)
    }
}
