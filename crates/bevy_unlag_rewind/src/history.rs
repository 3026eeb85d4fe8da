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
    /// Ticks between the last updates, newest first.
    spaces: [i32; 6],
}

impl FrameHistory {
    /// The pawn as the last tick left it; `None` before its first.
    #[must_use]
    pub fn present(&self) -> Option<&PoseSample> {
        self.present.as_ref()
    }

    /// Ticks between updates: the fewest of late, since frames and late moves make some of them longer.
    /// 0 before enough are known.
    pub(crate) fn interval(&self) -> i32 {
        self.spaces.into_iter().min().unwrap_or(0)
    }

    /// Takes in what a tick left, in the world.
    pub(crate) fn record(&mut self, snapshot: Snapshot, velocity: Vec3, tick_seconds: f32) {
        self.present = Some(PoseSample::from(&snapshot));
        self.track.record_exactly(snapshot, velocity, tick_seconds);
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
        let before = self.sent.newest().map(|newest| newest.tick);
        let update = self.track.update(config, sampler.tick_seconds, simulated)?;
        self.spaces.rotate_right(1);
        self.spaces[0] = before.map_or(0, |before| update.snapshot.tick.since(before));
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
    sampler: Res<Sampler>,
    bases: Res<BasePoses>,
    config: Option<Res<M::Config>>,
    mut pawns: Query<(&M::State, Option<&Shown<M>>, &mut FrameHistory)>,
) {
    let turns = config.is_some_and(|config| M::turns_with_base(&config));
    for (state, shown, mut history) in &mut pawns {
        let (state, tick, moved) =
            shown.map_or((state, tick.0, tick.0), |shown| (&shown.state, shown.tick, shown.moved));
        let bases = bases.at(ViewTime::at(moved));
        let world = M::snapshot(state, tick);
        history.present = Some(PoseSample { position: M::position(state), ..PoseSample::from(&world) });
        let snapshot = world.on_base(M::base(state), M::position(state), turns, &bases);
        let velocity = if snapshot.base == 0 { M::velocity(state) } else { snapshot.velocity() };
        history.track.record_exactly(snapshot, velocity, sampler.tick_seconds);
    }
}
