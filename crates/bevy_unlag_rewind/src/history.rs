//! What the server remembers of a pawn.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, MoveModel, Snapshot, SnapshotHistory};

/// What the server remembers of a pawn: every snapshot it has sent, for a bounded time, and the
/// present. A pose can only come from what was sent and is still remembered.
#[derive(Component, Clone, Debug, Default)]
pub struct FrameHistory {
    /// The snapshots that were sent.
    pub sent: SnapshotHistory,
    present: Snapshot,
}

impl FrameHistory {
    /// The pawn as the last tick left it.
    #[must_use]
    pub fn present(&self) -> &Snapshot {
        &self.present
    }

    /// Notes down that the present was sent, and gives it back for sending.
    pub fn send_present(&mut self) -> Snapshot {
        self.sent.insert(self.present);
        self.present
    }
}

pub(crate) fn record<M: MoveModel>(tick: Res<CurrentTick>, mut pawns: Query<(&M::State, &mut FrameHistory)>) {
    for (state, mut history) in &mut pawns {
        history.present = M::snapshot(state, tick.0);
    }
}
