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

/// The moment at which this app's screen last showed every proxy. `None` until the first frame
/// that could show one, and on a machine that decides.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct DrawnViewTime(pub Option<ViewTime>);
