//! Alternative ray cast backend that moves colliders to where the shooter saw them, and back. Feature
//! `moved_colliders`.

mod collider_mover;
mod hit_box_world;
mod pose_records;

use std::sync::{Mutex, MutexGuard, PoisonError};

use bevy::prelude::*;

pub(crate) use collider_mover::{ColliderMover, Traced};

/// Backend of [`Rewound::cast_ray`](crate::Rewound::cast_ray). May be changed at any time. Needs the feature
/// `moved_colliders`.
///
/// To measure the cost of moving colliders: insert [`RewindBackend::MoveColliders`], let the app run for
/// at least [`RewindLimits::max_age`](crate::RewindLimits::max_age) so that all records are filled, and
/// time `cast_ray` on the same [`Rewound`](crate::Rewound)s as with [`RewindBackend::Table`]. The backend
/// moves every target that the filter allows. A server that trusts the client's choice of target moves
/// only that one: [`RewindFilter::predicate`](crate::RewindFilter::predicate).
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub enum RewindBackend {
    /// Target bounds in a table by tick, and closed-form shape tests. No collider is moved.
    #[default]
    Table,
    /// The procedure of most tutorials, for comparison: the colliders of all hit boxes are moved to their
    /// past poses, the ray is cast against the heads, then against the rest, and all colliders are moved
    /// back. The colliders live in a physics world of their own, and shots are serialised by a lock. The
    /// reason for a miss is less exact. Queries other than rays use [`Self::Table`].
    #[doc(alias("ConfirmHit", "ServerSideRewind"))]
    MoveColliders(MovedPoses),
}

/// Source of the poses of [`RewindBackend::MoveColliders`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub enum MovedPoses {
    /// The poses that were drawn; the results equal those of [`RewindBackend::Table`].
    #[default]
    Drawn,
    /// Recorded authoritative poses, as in the tutorials: every hit box of every target is recorded in
    /// every tick, and a shot interpolates each box between two records. No screen showed exactly these
    /// poses, since drawn poses are interpolated between sent snapshots. A shot older than all records
    /// hits nothing, one newer than all uses the newest; a teleport is interpolated across. Costs about
    /// 1.5 KB per pawn and tick for [`RewindLimits::max_age`](crate::RewindLimits::max_age), only while
    /// selected.
    #[doc(alias = "FFramePackage")]
    Frames,
}

/// Colliders of [`RewindBackend::MoveColliders`], in a physics world of their own. Empty unless that
/// backend is selected.
#[derive(Resource, Default)]
pub struct MovedColliders(Mutex<ColliderMover>);

impl MovedColliders {
    pub(crate) fn lock(&self) -> MutexGuard<'_, ColliderMover> {
        // A panic during a shot leaves at worst a misplaced collider until the next tick.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of colliders.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().stage.len()
    }

    /// Returns whether there are no colliders.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the total number of pose records of all targets.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.lock().frames()
    }
}
