//! What the server remembers of a pawn.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, CurrentTick, KnotConfig, LimbRig, MoveModel, PoseSample, ProxySmoothing, ProxyTrack,
    ProxyUpdate, Sampler, Shown, Snapshot, SnapshotHistory, Tick, ViewTime,
};

use crate::{BodyBounds, Frame, HitBoxes, RewindLimits, bones::BoneHistory, frame::Frames};

/// Sets of hit boxes that a pawn had before the one it has: more changes within the limits are odd.
const MAX_OLD_SETS: usize = 8;

/// What the server remembers of a pawn: every snapshot it has sent, for a bounded time, and the
/// present. A pose that is judged can only come from what was sent and is still remembered.
#[derive(Component, Clone, Debug, Default)]
pub struct FrameHistory {
    /// The snapshots that were sent.
    pub sent: SnapshotHistory,
    track: ProxyTrack,
    present: Option<PoseSample>,
    /// Ticks between the last updates, newest first; 0 where none is known.
    spaces: [i32; 6],
    frames: Frames,
    pub(crate) bones: BoneHistory,
    /// What it could be hit at before, oldest first.
    old_sets: VecDeque<OldSet>,
}

/// What a pawn could be hit at before it changed.
#[derive(Clone, Debug)]
pub(crate) struct OldSet {
    /// The first tick in which it no longer held.
    until: Tick,
    pub boxes: HitBoxes,
    pub rig: Option<LimbRig>,
}

impl FrameHistory {
    /// What a record says of a pawn.
    pub(crate) fn recorded(snapshots: &[Snapshot], present: Option<PoseSample>) -> Self {
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

    /// Where the pawn really was in its last ticks, oldest first: all within
    /// [`RewindLimits::max_age`] and one before. For aim models of bots, evidence and cover.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &Frame> + ExactSizeIterator {
        self.frames.iter()
    }

    /// Notes that the pawn fired in the newest frame.
    pub fn mark_shot(&mut self) {
        self.frames.mark_shot();
    }

    /// Ticks between updates: the fewest of late, since frames and late moves make some of them longer.
    /// 0 before the second. Clients believe the first two as well, and a shot at somebody new has to be
    /// judged as it was drawn.
    pub(crate) fn interval(&self) -> i32 {
        self.spaces.into_iter().filter(|space| *space > 0).min().unwrap_or(0)
    }

    /// Takes in what a tick left, in the world.
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

    /// Notes that another set of hit boxes, or another rig, holds from `tick` on.
    pub(crate) fn retire(&mut self, boxes: HitBoxes, rig: Option<LimbRig>, tick: Tick) {
        if self.old_sets.len() >= MAX_OLD_SETS {
            self.old_sets.pop_front();
        }
        self.old_sets.push_back(OldSet { until: tick, boxes, rig });
    }

    /// What none of the sets of hit boxes leaves that it had at `tick` or later; `present` is the newest.
    pub(crate) fn bounds_since(&self, tick: Tick, present: BodyBounds) -> BodyBounds {
        let later = self.old_sets.iter().filter(|old| old.until.is_newer_than(tick));
        later.fold(present, |all, old| all.with(old.boxes.bounds()))
    }

    /// What held at a moment, when it is not what holds now.
    pub(crate) fn old_set(&self, time: ViewTime) -> Option<&OldSet> {
        self.old_sets.iter().find(|old| time.since(ViewTime::at(old.until)) < 0)
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
