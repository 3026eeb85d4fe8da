//! Who has reached cover is safe from views in which it had not.

use core::time::Duration;

use bevy_unlag_core::{SUB_TICKS, sub_ticks};

/// Denies a hit when the view behind it is old and its victim has, by what the server knows, been out of the
/// shooter's sight for a while: the player who ran behind a wall is not shot there by somebody who saw it
/// late. Judged for every shot by itself; a shot at somebody who is still in sight is never denied.
///
/// A victim is out of sight in a tick when the world, doors and lifts included, stood between the middles of all
/// its hit boxes and the shooter's eye. All of them are where the *server* had them in that tick, as in [`FrameHistory::frames`](crate::FrameHistory::frames), and not where anybody's screen did: the
/// eye is as far from the shooter's root as the ray's origin is now. So a shooter who steps out from behind a
/// wall sees whoever it sees, and one who fires and steps back gains nothing. The shooter is whom
/// [`RewindFilter::without`](crate::RewindFilter::without) leaves out; without one the eye stays at the origin
/// of the ray.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoverProtection {
    /// A victim that has been out of sight for longer than this is safe. Default 100 ms. Raising it protects
    /// fewer. What is longer than [`RewindLimits::max_age`](crate::RewindLimits::max_age) protects nobody.
    pub grace: Duration,
    /// Views up to this age are honoured all the same, as of the moment at which the shot arrived. Default
    /// 150 ms, what somebody on a good link sees. Raising it protects from worse links only.
    pub beyond: Duration,
}

impl Default for CoverProtection {
    fn default() -> Self {
        Self { grace: Duration::from_millis(100), beyond: Duration::from_millis(150) }
    }
}

impl CoverProtection {
    /// Whether a view of this age, in 1/256 of a tick, is one that the rule is about.
    pub(crate) fn concerns(&self, rewound: i64, tick_seconds: f32) -> bool {
        rewound > sub_ticks(self.beyond, tick_seconds)
    }

    /// Whether somebody who has been out of sight for so many ticks is safe.
    pub(crate) fn protects(&self, hidden: i32, tick_seconds: f32) -> bool {
        i64::from(hidden) * SUB_TICKS > sub_ticks(self.grace, tick_seconds)
    }
}
