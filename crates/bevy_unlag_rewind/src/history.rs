//! What the server remembers of a pawn.

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, CurrentTick, KnotConfig, MoveModel, PoseSample, ProxySmoothing, ProxyTrack, ProxyUpdate,
    Sampler, Shown, Snapshot, SnapshotHistory, ViewTime,
};

/// What the server remembers of a pawn: every snapshot it has sent, for a bounded time, and the
/// present. A pose can only come from what was sent and is still remembered.
#[derive(Component, Clone, Debug, Default)]
pub struct FrameHistory {
    /// The snapshots that were sent.
    pub sent: SnapshotHistory,
    track: ProxyTrack,
    present: Option<PoseSample>,
}

impl FrameHistory {
    /// The pawn as the last tick left it; `None` before its first.
    #[must_use]
    pub fn present(&self) -> Option<&PoseSample> {
        self.present.as_ref()
    }

    /// Takes in what a tick left, in the world.
    pub(crate) fn record(&mut self, snapshot: Snapshot) {
        self.present = Some(PoseSample::from(&snapshot));
        self.track.record(snapshot);
    }

    /// What is to be sent of the pawn now: its present, and what a curve from the last update would
    /// miss. It is remembered as sent. `None` when there is nothing to send: what was once sent for a
    /// tick stays, also when the pawn's moves were late then and its state is another now. `mode` is
    /// the pawn's own way of being drawn, if it has one.
    pub fn send_present(
        &mut self,
        config: &KnotConfig,
        sampler: &Sampler,
        mode: Option<&ProxySmoothing>,
    ) -> Option<ProxyUpdate> {
        let simulated = mode == Some(&ProxySmoothing::Simulate);
        let update = self.track.update(config, sampler.tick_seconds, simulated)?;
        for snapshot in update.iter() {
            self.sent.insert(*snapshot);
        }
        Some(update)
    }
}

/// What others are shown, which while a pawn's moves are late is not what the server decides
/// about: a shot is judged against what was on the screen.
pub(crate) fn record<M: MoveModel>(
    tick: Res<CurrentTick>,
    bases: Res<BasePoses>,
    mut pawns: Query<(&M::State, Option<&Shown<M>>, &mut FrameHistory)>,
) {
    for (state, shown, mut history) in &mut pawns {
        let (state, tick, moved) =
            shown.map_or((state, tick.0, tick.0), |shown| (&shown.state, shown.tick, shown.moved));
        let bases = bases.at(ViewTime::at(moved));
        let world = M::snapshot(state, tick);
        history.present = Some(PoseSample { position: M::position(state), ..PoseSample::from(&world) });
        history.track.record(world.on_base(M::base(state), M::position(state), &bases));
    }
}
