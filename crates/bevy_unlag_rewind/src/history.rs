//! Per-pawn history of sent snapshots and authoritative frames.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, CurrentTick, KnotConfig, LimbRig, MoveModel, PoseSample, ProxySmoothing, ProxyTrack,
    ProxyUpdate, Sampler, Shown, Snapshot, SnapshotHistory, Tick, ViewTime,
};

use crate::{BodyBounds, Frame, HitBoxes, RewindLimits, bones::BoneHistory, frame::Frames};

/// Maximum number of earlier hit box sets kept for a pawn. A pawn rarely changes its hit boxes more often
/// within the rewind window.
const MAX_OLD_SETS: usize = 8;

/// History of a pawn on the server: every snapshot that was sent, for a bounded time, and the present. A
/// target can only be posed from snapshots that were sent and are still stored.
#[derive(Component, Clone, Debug, Default)]
pub struct FrameHistory {
    /// Snapshots that were sent.
    pub sent: SnapshotHistory,
    track: ProxyTrack,
    present: Option<PoseSample>,
    /// Ticks between the last updates, newest first; 0 if unknown.
    spaces: [i32; 6],
    frames: Frames,
    pub(crate) bones: BoneHistory,
    /// Earlier hit box sets, oldest first.
    old_sets: VecDeque<OldSet>,
}

/// Hit boxes and rig of a pawn before a change.
#[derive(Clone, Debug)]
pub(crate) struct OldSet {
    /// First tick in which this set was no longer valid.
    until: Tick,
    pub boxes: HitBoxes,
    pub rig: Option<LimbRig>,
}

impl FrameHistory {
    /// Builds a history from the snapshots in a piece of shot evidence.
    pub(crate) fn recorded(snapshots: &[Snapshot], present: Option<PoseSample>) -> Self {
        let mut sent = SnapshotHistory::new(snapshots.len());
        for snapshot in snapshots {
            sent.insert(*snapshot);
        }
        Self { sent, present, ..Self::default() }
    }

    /// Returns the pawn as the last tick left it; `None` before its first tick.
    #[must_use]
    pub fn present(&self) -> Option<&PoseSample> {
        self.present.as_ref()
    }

    /// Returns the authoritative frames of the last ticks, oldest first: all within
    /// [`RewindLimits::max_age`] and one older. For aim models of bots, shot evidence and cover
    /// protection.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &Frame> + ExactSizeIterator {
        self.frames.iter()
    }

    /// Marks the newest frame as one in which the pawn fired.
    pub fn mark_shot(&mut self) {
        self.frames.mark_shot();
    }

    /// Returns the ticks between updates: the smallest of the recent intervals, since frame times and
    /// late moves lengthen some of them. 0 before the second update. Clients also use the interval
    /// between the first two updates, and a shot at a new pawn has to be tested against the pose that
    /// they drew.
    pub(crate) fn interval(&self) -> i32 {
        self.spaces.into_iter().filter(|space| *space > 0).min().unwrap_or(0)
    }

    /// Records the state at the end of a tick, in world space.
    pub(crate) fn record(
        &mut self,
        tick: Tick,
        snapshot: Snapshot,
        velocity: Vec3,
        tick_seconds: f32,
        keep: i32,
    ) {
        let present = PoseSample::from(&snapshot);
        self.frames.record(tick, &present, snapshot.teleports, keep);
        self.present = Some(present);
        self.track.record_exactly(snapshot, velocity, tick_seconds);
    }

    /// Stores the hit boxes and rig that were valid until `tick`.
    pub(crate) fn retire(&mut self, boxes: HitBoxes, rig: Option<LimbRig>, tick: Tick) {
        if self.old_sets.len() >= MAX_OLD_SETS {
            self.old_sets.pop_front();
        }
        self.old_sets.push_back(OldSet { until: tick, boxes, rig });
    }

    /// Returns bounds that contain every hit box set that was valid at `tick` or later; `present` are the
    /// bounds of the current set.
    pub(crate) fn bounds_since(&self, tick: Tick, present: BodyBounds) -> BodyBounds {
        let later = self.old_sets.iter().filter(|old| old.until.is_newer_than(tick));
        later.fold(present, |all, old| all.with(old.boxes.bounds()))
    }

    /// Returns the hit box set that was valid at `time`, or `None` if it is the current one.
    pub(crate) fn old_set(&self, time: ViewTime) -> Option<&OldSet> {
        self.old_sets.iter().find(|old| time.since(ViewTime::at(old.until)) < 0)
    }

    /// Builds the next update for the pawn: its present snapshot, and the path knots that a curve from
    /// the last update would miss. The update is stored as sent. Returns `None` if there is nothing to
    /// send: a snapshot already sent for a tick is never replaced, even if the pawn's moves were late at
    /// that time and its state for that tick has changed since. `mode` is the pawn's own smoothing mode,
    /// if it has one.
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

/// Records the state that other clients are shown. While a pawn's moves are late, this differs from the
/// authoritative state; a shot is tested against what was on the screen.
pub(crate) fn record<M: MoveModel>(
    tick: Res<CurrentTick>,
    (sampler, limits): (Res<Sampler>, Res<RewindLimits>),
    bases: Res<BasePoses>,
    config: Option<Res<M::Config>>,
    mut pawns: Query<(&M::State, Option<&Shown<M>>, &mut FrameHistory)>,
) {
    let turns = config.is_some_and(|config| M::turns_with_base(&config));
    let keep = limits.ticks(sampler.tick_seconds);
    let now = tick.0;
    for (state, shown, mut history) in &mut pawns {
        let (state, tick, moved) =
            shown.map_or((state, now, now), |shown| (&shown.state, shown.tick, shown.moved));
        let bases = bases.at(ViewTime::at(moved));
        let world = M::snapshot(state, tick);
        let present = PoseSample { position: M::position(state), ..PoseSample::from(&world) };
        history.frames.record(now, &present, world.teleports, keep);
        history.present = Some(present);
        let snapshot = world.on_base(M::base(state), M::position(state), turns, &bases);
        let velocity = if snapshot.base == 0 { M::velocity(state) } else { snapshot.velocity() };
        history.track.record_exactly(snapshot, velocity, sampler.tick_seconds);
    }
}
