//! How a pose came about, and what the screen showed last.

use bevy::prelude::*;

use crate::{PoseSample, Tick, ViewTime};

/// How a pose was drawn, exactly enough to draw it again from the same snapshots. The blend that
/// hides a pop is never part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ViewStamp {
    /// Between two named snapshots.
    Interpolated {
        /// The older snapshot's tick.
        from: Tick,
        /// The newer snapshot's tick.
        to: Tick,
        /// The moment between them.
        time: ViewTime,
    },
    /// Carried on beyond the newest snapshot.
    Extrapolated {
        /// The newest snapshot's tick.
        from: Tick,
        /// The moment beyond it.
        time: ViewTime,
    },
    /// As it is now, on a machine that decides.
    #[default]
    Present,
}

/// What this app's screen last showed of a pawn, without any cosmetic offset.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct DrawnPose {
    /// The pose.
    pub pose: PoseSample,
    /// How it came about.
    pub stamp: ViewStamp,
}

/// The moment at which this app's screen last showed most proxies: those that are updated at the
/// usual rate. One that was drawn at another moment has it in its [`DrawnPose::stamp`]. `None` until the
/// first frame that could show one, and on a machine that decides and draws nobody.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct DrawnViewTime(pub Option<ViewTime>);

/// Ticks that usually lie between two updates of a pawn on this machine; 0 while nobody knows.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UsualInterval(pub u16);

/// The moment, on this app's own time line, at which its screen last showed movement bases, when
/// somebody was drawn on one; a shot says so, for a passenger is where the lift was drawn.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct DrawnBaseTime(pub Option<ViewTime>);

/// How far above the own pawn's root its eye was drawn, in metres. A stance changes in one tick, a
/// view should not: the height is eased, and what is eased is what shots start from.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default)]
pub struct DrawnEye(pub f32);

impl DrawnEye {
    /// A tenth of a change is left after 190 ms.
    const RATE: f32 = 12.0;

    /// Lets `seconds` pass towards `height`.
    pub fn ease(&mut self, height: f32, seconds: f32) {
        if self.0 == 0.0 {
            self.0 = height;
        }
        self.0 += (height - self.0) * (1.0 - (-Self::RATE * seconds).exp());
    }
}
