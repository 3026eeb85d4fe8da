//! Per-pawn history of authoritative frames, limb poses and hit boxes.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, LimbRig, PoseSampler, Tick, ViewTime};
use bevy_unlag_smoothing::PublishedPath;

use crate::{
    frame::{Frame, FrameRing},
    hit_box::BodyBounds,
    hit_boxes::HitBoxes,
    limb_history::BoneHistory,
    limits::RewindLimits,
};

/// Maximum number of earlier hit box sets kept for a pawn. A pawn rarely changes its hit boxes more often
/// within the rewind window.
const MAX_OLD_SETS: usize = 8;

/// Authoritative poses, limb poses and earlier hit boxes of a pawn. Its [`PublishedPath`] holds the snapshots
/// that were sent to clients.
///
/// ```
/// use std::time::Duration;
///
/// use bevy::{prelude::*, time::TimeUpdateStrategy};
/// use bevy_unlag_core::NetId;
/// use bevy_unlag_movement::{CapsuleModel, CapsuleState, MovementPlugin};
/// use bevy_unlag_rewind::{FrameHistory, RewindPlugin, humanoid_hit_boxes, humanoid_rig};
///
/// let mut app = App::new();
/// app.add_plugins((MinimalPlugins, MovementPlugin, RewindPlugin::<CapsuleModel>::default()))
///     .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(15_625)));
/// app.finish();
/// app.cleanup();
/// let body = (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
/// let pawn = app.world_mut().spawn((NetId(1), CapsuleState::at(Vec3::Y), body)).id();
/// for _ in 0..60 {
///     app.update();
/// }
/// let history = app.world().get::<FrameHistory>(pawn).expect("its history");
/// // 400 ms are 25.6 ticks; the frame before them is kept as well.
/// assert_eq!(history.frames().len(), 27);
/// ```
#[doc(alias = "LagCompensationHistory")]
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(PublishedPath)]
pub struct FrameHistory {
    // Ring buffers.
    #[reflect(ignore)]
    frames: FrameRing,
    #[reflect(ignore)]
    pub(crate) bones: BoneHistory,
    /// Earlier hit box sets, oldest first.
    #[reflect(ignore)]
    past_hit_boxes: VecDeque<OldSet>,
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

    /// Stores the hit boxes and rig that were valid until `tick`.
    pub(crate) fn store_old_hit_boxes(&mut self, boxes: HitBoxes, rig: Option<LimbRig>, tick: Tick) {
        if self.past_hit_boxes.len() >= MAX_OLD_SETS {
            self.past_hit_boxes.pop_front();
        }
        self.past_hit_boxes.push_back(OldSet { until: tick, boxes, rig });
    }

    /// Returns bounds that contain every hit box set that was valid at `tick` or later; `present` are the
    /// bounds of the current set.
    pub(crate) fn bounds_since(&self, tick: Tick, present: BodyBounds) -> BodyBounds {
        let later = self.past_hit_boxes.iter().filter(|old| old.until.is_newer_than(tick));
        later.fold(present, |all, old| all.union(old.boxes.bounds()))
    }

    /// Returns the hit box set that was valid at `time`, or `None` if it is the current one.
    pub(crate) fn old_set(&self, time: ViewTime) -> Option<&OldSet> {
        self.past_hit_boxes.iter().find(|old| time.since(ViewTime::at(old.until)) < 0)
    }
}

/// Records the state that other clients are shown. While a pawn's moves are late, this differs from the
/// authoritative state; a shot is tested against what was on the screen.
pub(crate) fn record(
    (tick, sampler, limits): (Res<CurrentTick>, Res<PoseSampler>, Res<RewindLimits>),
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
