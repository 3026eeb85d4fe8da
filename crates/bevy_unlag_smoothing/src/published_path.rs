//! Path of a pawn as remote clients are sent it, on the server.

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, CurrentTick, MoveModel, PathKnotConfig, PathRecorder, PoseSample, PoseSampler, ProxySmoothing,
    ProxyUpdate, PublishedState, Snapshot, SnapshotHistory, Tick, ViewTime,
};

/// The path of a pawn as remote clients are sent it: every snapshot that was sent, for a bounded time, the ticks since
/// the last one, and the present.
///
/// A pawn with it is recorded in every tick and, over a network, published at its update interval. Server-side rewind
/// judges shots against what was sent and is still remembered here.
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct PublishedPath {
    /// The snapshots that were sent.
    pub sent: SnapshotHistory,
    // A buffer of the ticks since the last snapshot.
    #[reflect(ignore)]
    track: PathRecorder,
    present: Option<PoseSample>,
    /// The tick of `present`, and how often the pawn had been teleported by then.
    recorded: Option<(Tick, u8)>,
    /// Ticks between the last updates, newest first; 0 where none is known.
    spaces: [i32; 6],
}

impl PublishedPath {
    /// Restores what an evidence record says of a pawn.
    #[must_use]
    pub fn restored(snapshots: &[Snapshot], present: Option<PoseSample>) -> Self {
        let mut sent = SnapshotHistory::new(snapshots.len());
        for snapshot in snapshots {
            sent.insert(*snapshot);
        }
        Self { sent, present, ..Self::default() }
    }

    /// The pawn as the last tick left it; `None` before its first.
    #[must_use]
    pub fn present(&self) -> Option<&PoseSample> {
        self.present.as_ref()
    }

    /// The tick of [`present`](Self::present), and how often the pawn had been teleported by then.
    #[must_use]
    pub fn recorded(&self) -> Option<(Tick, u8)> {
        self.recorded
    }

    /// Ticks between updates: the fewest of the last few, since frames and late moves make some of them longer.
    /// 0 before the second. Clients rely on the first two as well, and a shot at a new pawn has to be judged as it
    /// was drawn.
    #[must_use]
    pub fn interval(&self) -> i32 {
        self.spaces.into_iter().filter(|space| *space > 0).min().unwrap_or(0)
    }

    /// Takes in what the tick `now` left: `present` in the world, and the snapshot, relative to a movement base if
    /// the pawn stands on one.
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

    /// Takes in what a tick left, in the world.
    pub fn record(&mut self, tick: Tick, snapshot: Snapshot, velocity: Vec3, tick_seconds: f32) {
        self.take(tick, PoseSample::from(&snapshot), snapshot, velocity, tick_seconds);
    }

    /// Returns what is to be sent of the pawn now, and remembers it as sent: its present, and path knots where a curve
    /// from the last update would miss its path. `None` when there is nothing to send: what was once sent for a
    /// tick stays, also when the pawn's moves were late then and its state is another now. `mode` is the pawn's own
    /// way of being drawn, if it has one.
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

/// Records what remote clients are to see of every pawn of a model. While a pawn's moves are late that is not what the
/// server simulates.
pub(crate) fn record<M: MoveModel>(
    tick: Res<CurrentTick>,
    sampler: Res<PoseSampler>,
    bases: Res<BasePoses>,
    config: Option<Res<M::Config>>,
    mut pawns: Query<(&M::State, Option<&PublishedState<M>>, &mut PublishedPath)>,
) {
    let turns = config.is_some_and(|config| M::turns_with_base(&config));
    let now = tick.0;
    for (state, shown, mut path) in &mut pawns {
        let (state, tick, moved) =
            shown.map_or((state, now, now), |shown| (&shown.state, shown.tick, shown.move_tick));
        let bases = bases.at(ViewTime::at(moved));
        let world = M::snapshot(state, tick);
        let present = PoseSample { position: M::position(state), ..PoseSample::from(&world) };
        let snapshot = world.on_base(M::base(state), M::position(state), turns, &bases);
        let velocity = if snapshot.base == 0 { M::velocity(state) } else { snapshot.velocity() };
        path.take(now, present, snapshot, velocity, sampler.tick_seconds);
    }
}
