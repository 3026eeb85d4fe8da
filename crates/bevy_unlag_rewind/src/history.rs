//! What the server remembers of a pawn.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, LimbRig, Sampler, Tick, ViewTime};
use bevy_unlag_smoothing::PublishedPath;

use crate::{BodyBounds, Frame, HitBoxes, RewindLimits, bones::BoneHistory, frame::Frames};

/// Sets of hit boxes that a pawn had before the one it has: more changes within the limits are odd.
const MAX_OLD_SETS: usize = 8;

/// What rewind remembers of a pawn beside its [`PublishedPath`]: where it really was, its limbs, and the hit boxes that
/// it had before.
#[derive(Component, Clone, Debug, Default)]
#[require(PublishedPath)]
pub struct FrameHistory {
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
    /// Where the pawn really was in its last ticks, oldest first: all within
    /// [`RewindLimits::max_age`] and one before. For aim models of bots, evidence and cover.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &Frame> + ExactSizeIterator {
        self.frames.iter()
    }

    /// Notes that the pawn fired in the newest frame.
    pub fn mark_shot(&mut self) {
        self.frames.mark_shot();
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
}

/// Adds the frame of this tick: what was recorded to be published, which while a pawn's moves are late is not what the
/// server simulates. A shot is judged against what was on the screen.
pub(crate) fn record(
    (tick, sampler, limits): (Res<CurrentTick>, Res<Sampler>, Res<RewindLimits>),
    mut pawns: Query<(&PublishedPath, &mut FrameHistory)>,
) {
    let keep = limits.ticks(sampler.tick_seconds);
    for (path, mut history) in &mut pawns {
        if let (Some(present), Some((recorded, teleports))) = (path.present(), path.recorded())
            && recorded == tick.0
        {
            history.frames.record(recorded, present, teleports, keep);
        }
    }
}
