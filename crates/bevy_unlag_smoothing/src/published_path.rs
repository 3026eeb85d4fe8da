//! Path of a pawn as published to remote clients, on the server.

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, BaseView, CaughtUpStates, CurrentTick, MoveModel, PathKnotConfig, PathRecorder, PoseSample,
    PoseSampler, ProxySmoothing, ProxyUpdate, PublishedState, Snapshot, SnapshotHistory, Tick, ViewTime,
};

/// Path of a pawn as published to remote clients: the snapshots sent within a bounded time, the ticks since
/// the last one, and the present pose.
///
/// A pawn with this component is recorded in every tick and, over a network, published at its update
/// interval. Server-side rewind tests shots against the sent snapshots stored here.
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct PublishedPath {
    /// Sent snapshots.
    pub sent: SnapshotHistory,
    // A buffer of the ticks since the last snapshot.
    #[reflect(ignore)]
    track: PathRecorder,
    present: Option<PoseSample>,
    /// Tick of `present`, and the number of teleports by then.
    recorded: Option<(Tick, u8)>,
    /// Ticks between the last updates, newest first; 0 if unknown.
    spaces: [i32; 6],
}

impl PublishedPath {
    /// Restores the path of a pawn from an evidence record.
    #[must_use]
    pub fn restored(snapshots: &[Snapshot], present: Option<PoseSample>) -> Self {
        let mut sent = SnapshotHistory::new(snapshots.len());
        for snapshot in snapshots {
            sent.insert(*snapshot);
        }
        Self { sent, present, ..Self::default() }
    }

    /// Returns the pose after the last tick; `None` before the first.
    #[must_use]
    pub fn present(&self) -> Option<&PoseSample> {
        self.present.as_ref()
    }

    /// Returns the tick of [`present`](Self::present), and the number of teleports by then.
    #[must_use]
    pub fn recorded(&self) -> Option<(Tick, u8)> {
        self.recorded
    }

    /// Returns the ticks between updates: the fewest of the last few intervals, because frames and late moves
    /// lengthen some of them. 0 before the second update. Clients rely on the first two updates as well, and
    /// a shot at a new pawn is tested as it was drawn.
    #[must_use]
    pub fn interval(&self) -> i32 {
        self.spaces.into_iter().filter(|space| *space > 0).min().unwrap_or(0)
    }

    /// Records the tick `now`: `present` in world space, and the snapshot, relative to a movement base if the
    /// pawn stands on one.
    fn take(
        &mut self,
        now: Tick,
        present: PoseSample,
        snapshot: Snapshot,
        velocity: Vec3,
        tick_seconds: f32,
    ) {
        self.present = Some(present);
        self.recorded = Some((now, snapshot.teleports));
        self.track.record_exactly(snapshot, velocity, tick_seconds);
    }

    /// Records the state of a tick, in world space.
    pub fn record(&mut self, tick: Tick, snapshot: Snapshot, velocity: Vec3, tick_seconds: f32) {
        self.take(tick, PoseSample::from(&snapshot), snapshot, velocity, tick_seconds);
    }

    /// Returns the next update to send and stores it as sent: the present, and path knots where a curve from
    /// the last update would miss the path. `None` if there is nothing to send: the snapshot of a tick is
    /// final, even if the pawn's moves were late then and its state has changed since. `mode` is the pawn's
    /// own smoothing mode, if it has one.
    pub fn next_update(
        &mut self,
        config: &PathKnotConfig,
        sampler: &PoseSampler,
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

/// Records the published state of every pawn of a model. While a pawn's moves are late, it differs from the
/// state that the server simulates.
pub(crate) fn record<M: MoveModel>(
    tick: Res<CurrentTick>,
    sampler: Res<PoseSampler>,
    bases: Res<BasePoses>,
    config: Option<Res<M::Config>>,
    mut pawns: Query<(&M::State, Option<&PublishedState<M>>, Option<&CaughtUpStates<M>>, &mut PublishedPath)>,
) {
    let turns = config.is_some_and(|config| M::turns_with_base(&config));
    let now = tick.0;
    for (state, shown, caught_up, mut path) in &mut pawns {
        for earlier in caught_up.iter().flat_map(|caught_up| &caught_up.0) {
            let bases = bases.at(ViewTime::at(earlier.move_tick));
            let (snapshot, velocity) = based_snapshot::<M>(&earlier.state, earlier.tick, turns, &bases);
            path.track.record_exactly(snapshot, velocity, sampler.tick_seconds);
        }
        let (state, tick, moved) =
            shown.map_or((state, now, now), |shown| (&shown.state, shown.tick, shown.move_tick));
        let bases = bases.at(ViewTime::at(moved));
        let present =
            PoseSample { position: M::position(state), ..PoseSample::from(&M::snapshot(state, tick)) };
        let (snapshot, velocity) = based_snapshot::<M>(state, tick, turns, &bases);
        path.take(now, present, snapshot, velocity, sampler.tick_seconds);
    }
}

/// Returns the snapshot of a state, relative to the base on which the pawn stands, and its exact velocity.
fn based_snapshot<M: MoveModel>(
    state: &M::State,
    tick: Tick,
    turns: bool,
    bases: &BaseView<'_>,
) -> (Snapshot, Vec3) {
    let position = M::position(state);
    let snapshot = M::snapshot(state, tick).on_base(M::base(state), position, turns, bases);
    let velocity = if snapshot.base == 0 { M::velocity(state) } else { snapshot.velocity() };
    (snapshot, velocity)
}
