//! The other backend of rays: colliders are moved to where the shooter saw them, and back.

mod frames;
mod procedure;
mod stage;

use std::sync::{Mutex, MutexGuard, PoisonError};

use bevy::prelude::*;

use crate::RewindQuery;
pub(crate) use procedure::Procedure;

/// What answers [`Rewound::cast_ray`](crate::Rewound::cast_ray). May be changed at any time.
///
/// To measure what the procedure costs: insert [`RewindBackend::MoveColliders`], let the app run for
/// [`RewindLimits::max_age`](crate::RewindLimits::max_age) or longer, so that all is recorded, and time
/// `cast_ray` of the same [`Rewound`](crate::Rewound)s as with [`RewindBackend::Table`]. Everybody that the
/// filter allows is moved. A server that believes the client whom it hit moves that one only:
/// [`RewindFilter::only`](crate::RewindFilter::only).
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RewindBackend {
    /// Bounds of everybody in a table by tick, and shapes in closed form. Moves nothing.
    #[default]
    Table,
    /// The procedure of most tutorials, for comparison: the colliders of all hit boxes are put where they
    /// were, the ray is cast at the heads, then at the rest, and all are put back. The colliders are in a
    /// world of their own; shots wait for each other. Why a shot missed it says less exactly. Other
    /// questions than rays are answered as by [`Self::Table`].
    #[doc(alias("ConfirmHit", "ServerSideRewind"))]
    MoveColliders(MovedPoses),
}

/// From where [`RewindBackend::MoveColliders`] has its poses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MovedPoses {
    /// As they were drawn: the answers are those of [`RewindBackend::Table`].
    #[default]
    Drawn,
    /// As the tutorials have them: every tick every box of everybody is recorded where it really is, and a
    /// shot interpolates each box between two of the records. Nobody saw exactly that: what is drawn goes
    /// through the snapshots that were sent. A shot older than all records hits nobody, and one newer than
    /// all the newest; a teleport is interpolated across. Costs about 1.5 KB a pawn and tick for
    /// [`RewindLimits::max_age`](crate::RewindLimits::max_age), only while it is selected.
    #[doc(alias = "FFramePackage")]
    Frames,
}

/// The colliders of [`RewindBackend::MoveColliders`], in a physics world of their own. Empty unless it is
/// selected.
#[derive(Resource, Default)]
pub struct MovedColliders(Mutex<Procedure>);

impl MovedColliders {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Procedure> {
        // A shot that panicked leaves at worst a collider in the wrong place until the next tick.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many colliders there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().colliders()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many records of poses there are, of everybody together.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.lock().frames()
    }
}

/// Puts the colliders where the pawns are now, and records their poses when they are wanted.
pub(crate) fn follow(backend: Res<RewindBackend>, moved: Res<MovedColliders>, query: RewindQuery) {
    match *backend {
        RewindBackend::Table => moved.lock().clear(),
        RewindBackend::MoveColliders(poses) => query.stand(&mut moved.lock(), poses),
    }
}
