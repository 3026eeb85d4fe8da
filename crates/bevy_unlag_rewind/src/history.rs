//! What the server remembers of a pawn.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, MoveModel, Shown, Snapshot, SnapshotHistory};

/// What the server remembers of a pawn: every snapshot it has sent, for a bounded time, and the
/// present. A pose can only come from what was sent and is still remembered.
#[derive(Component, Clone, Debug, Default)]
pub struct FrameHistory {
    /// The snapshots that were sent.
    pub sent: SnapshotHistory,
    present: Option<Snapshot>,
}

impl FrameHistory {
    /// The pawn as the last tick left it; `None` before its first.
    #[must_use]
    pub fn present(&self) -> Option<&Snapshot> {
        self.present.as_ref()
    }

    /// Notes down that the present was sent, and gives it back for sending. `None` when there is
    /// nothing to send: what was once sent for a tick stays, also when the pawn's moves were late
    /// then and its state is another now.
    pub fn send_present(&mut self) -> Option<Snapshot> {
        let present = self.present?;
        self.sent.insert(present).then_some(present)
    }
}

/// What others are shown, which while a pawn's moves are late is not what the server decides
/// about: a shot is judged against what was on the screen.
pub(crate) fn record<M: MoveModel>(
    tick: Res<CurrentTick>,
    mut pawns: Query<(&M::State, Option<&Shown<M>>, &mut FrameHistory)>,
) {
    for (state, shown, mut history) in &mut pawns {
        let (state, tick) = shown.map_or((state, tick.0), |shown| (&shown.state, shown.tick));
        history.present = Some(M::snapshot(state, tick));
    }
}
