//! System sets of rewind.

use bevy::prelude::*;

/// System sets that record frames and keep the [`RewindTable`](crate::RewindTable) up to date.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RewindSystems {
    /// In [`FixedPostUpdate`], after all movement has settled: writes the present state of every pawn
    /// into its [`FrameHistory`](crate::FrameHistory).
    Record,
    /// In [`FixedPostUpdate`] after [`Record`](Self::Record), and in [`Last`] after snapshots were sent:
    /// updates the [`RewindTable`](crate::RewindTable). Run queries after this set.
    UpdateTable,
    /// In [`PostUpdate`], before transform propagation: searches for bones by name.
    FindBones,
    /// In [`PostUpdate`], after transform propagation: reads limb poses from nodes; on the server into
    /// [`FrameHistory`](crate::FrameHistory), for drawn pawns into [`DrawnLimbs`](crate::DrawnLimbs).
    ReadLimbs,
}
