//! View times and view stamps: what a screen showed last, and how those poses were sampled.

use bevy::prelude::*;

use crate::tick::{Tick, ViewTime};

/// Record of how a drawn pose was sampled, exact enough to reproduce it from the same snapshots. The
/// [`VisualOffset`](crate::VisualOffset) that hides corrections is never part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub enum ViewStamp {
    /// Interpolated between two snapshots.
    Interpolated {
        /// Tick of the older snapshot.
        from: Tick,
        /// Tick of the newer snapshot.
        to: Tick,
        /// Sampled moment between them.
        time: ViewTime,
    },
    /// Extrapolated beyond the newest snapshot.
    Extrapolated {
        /// Tick of the newest snapshot.
        from: Tick,
        /// Sampled moment beyond it.
        time: ViewTime,
    },
    /// Current state, on a machine with authority.
    #[default]
    Present,
}

/// View time of remote pawns in the last frame: the median of the times of those with playout, also of pawns out of
/// sight. If there are none, it is the time of the most common playout clock.
///
/// A proxy that was drawn at another moment has it in its [`DrawnPose::stamp`](crate::DrawnPose::stamp).
/// `None` before the first frame that can show a proxy, and on a machine with authority that draws none.
#[doc(alias = "InterpolationTimeline")]
#[derive(Resource, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct DrawnViewTime(pub Option<ViewTime>);

/// Usual number of ticks between two updates of a pawn on this machine; 0 while unknown.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct MeasuredUpdateInterval(pub u16);

/// Moment on this app's own time line at which it drew movement bases in the last frame. `None` if no pawn
/// was drawn on one. Shots report it, because a passenger is hit where its lift was drawn.
#[derive(Resource, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct DrawnBaseTime(pub Option<ViewTime>);

/// Height of the drawn eye above the root of the own pawn, in metres. A stance changes within one tick, but
/// the view must not; the height is eased, and shots start from the eased height.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct DrawnEye(pub f32);

impl DrawnEye {
    /// Rate per second: a tenth of a change is left after 190 ms.
    const RATE: f32 = 12.0;

    /// Advances the easing towards `height` by `seconds`.
    pub fn ease(&mut self, height: f32, seconds: f32) {
        if self.0 == 0.0 {
            self.0 = height;
        }
        self.0 += (height - self.0) * (1.0 - (-Self::RATE * seconds).exp());
    }
}
