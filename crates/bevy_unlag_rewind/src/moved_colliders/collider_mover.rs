//! Server-side rewind by moving colliders: cache, move, trace the heads, trace the rest, restore.

use bevy::prelude::*;
use bevy_rapier3d::rapier::math::Pose;
use bevy_unlag_core::{NetId, Tick, ViewTime};

use super::{
    hit_box_world::{BoxHit, HitBoxWorld, TraceGroup},
    pose_records::FrameList,
};
use crate::{hit_boxes::HitBoxes, unit_ray::UnitRay};

/// Poses of one target's colliders before a shot moved them.
struct Cached {
    slot: usize,
    set: Option<HitBoxes>,
    /// Range in the cache of all poses.
    first: usize,
    count: usize,
}

/// Colliders moved by the current shot.
#[derive(Default)]
struct ShotCache {
    cached: Vec<Cached>,
    poses: Vec<(usize, Pose)>,
    /// Possible targets of the shot, by slot.
    candidates: Vec<Option<NetId>>,
}

impl ShotCache {
    fn add(&mut self, stage: &HitBoxWorld, slot: usize, id: NetId) {
        let first = self.poses.len();
        self.poses.extend(stage.poses(slot));
        let count = self.poses.len() - first;
        self.cached.push(Cached { slot, set: stage.set(slot).cloned(), first, count });
        if self.candidates.len() <= slot {
            self.candidates.resize(slot + 1, None);
        }
        self.candidates[slot] = Some(id);
    }
}

/// Colliders, pose records, and the cache for the shot in progress.
#[derive(Default)]
pub(crate) struct ColliderMover {
    pub stage: HitBoxWorld,
    lists: Vec<FrameList>,
    cache: ShotCache,
}

/// Result of a trace.
pub(crate) struct Traced {
    pub slot: usize,
    pub set: HitBoxes,
    /// Index of the box that was hit first.
    pub index: usize,
    pub distance: f32,
    /// Index of the head that takes precedence, and its distance in metres.
    pub head: Option<(usize, f32)>,
}

impl ColliderMover {
    pub fn frames(&self) -> usize {
        self.lists.iter().map(FrameList::len).sum()
    }

    pub fn clear(&mut self) {
        if self.stage.len() > 0 {
            *self = Self::default();
        }
    }

    /// Records the poses of a target's boxes in this tick.
    pub fn save(
        &mut self,
        slot: usize,
        owner: Entity,
        (tick, keep): (Tick, i32),
        set: &HitBoxes,
        boxes: impl Iterator<Item = (usize, Isometry3d)>,
    ) {
        if self.lists.len() <= slot {
            self.lists.resize_with(slot + 1, FrameList::default);
        }
        self.lists[slot].save(owner, (tick, keep), set, boxes);
    }

    /// Drops a target's records.
    pub fn clear_records(&mut self, slot: usize) {
        if let Some(list) = self.lists.get_mut(slot) {
            list.clear();
        }
    }

    /// Moves a target's colliders to the given past poses, and caches their present ones.
    pub fn move_to(
        &mut self,
        (slot, id): (usize, NetId),
        set: &HitBoxes,
        boxes: impl Iterator<Item = (usize, Isometry3d)>,
    ) {
        self.cache.add(&self.stage, slot, id);
        self.stage.place_target(slot, set, boxes);
    }

    /// Like [`move_to`](Self::move_to), with poses from the records. Returns `false` if there is no
    /// record for the moment.
    pub fn move_to_record(
        &mut self,
        (slot, id): (usize, NetId),
        owner: Entity,
        time: Option<ViewTime>,
    ) -> bool {
        let record = self.lists.get(slot).and_then(|list| list.at(owner, time));
        let Some((set, boxes)) = record else { return false };
        self.cache.add(&self.stage, slot, id);
        self.stage.place_target(slot, set, boxes);
        true
    }

    /// Returns the first hit of a ray among all moved targets; see [`HitBoxes::head_first`].
    pub fn trace(&mut self, ray: &UnitRay) -> Option<Traced> {
        self.stage.update_bvh();
        let stage = &self.stage;
        let anybody = |slot: usize| self.cache.candidates.get(slot).copied().flatten();
        let head = stage.trace(ray, TraceGroup::HEADS, &anybody);
        // A box behind the nearest head cannot be nearer.
        let until = head.map_or(*ray, |head| UnitRay { max: head.distance, ..*ray });
        let rest = stage.trace(&until, TraceGroup::REST, &anybody);
        let (first, head) = match (head, rest) {
            (None, None) => return None,
            (Some(head), None) => (head, None),
            (None, Some(rest)) => (rest, None),
            (Some(head), Some(rest)) => self.decide(ray, head, rest),
        };
        let set = stage.set(first.slot)?.clone();
        let head = head.map(|head| (head.index, head.distance));
        (first.index < set.boxes().len()).then_some(Traced {
            slot: first.slot,
            set,
            index: first.index,
            distance: first.distance,
            head,
        })
    }

    /// Returns the box that was hit first, and the head that takes precedence over it.
    fn decide(&self, ray: &UnitRay, head: BoxHit, rest: BoxHit) -> (BoxHit, Option<BoxHit>) {
        let first = if head.is_before(&rest) { head } else { rest };
        if first == head || !self.stage.set(rest.slot).is_some_and(HitBoxes::head_first) {
            return (first, None);
        }
        // The nearest head may belong to another target.
        let own = if head.slot == rest.slot {
            Some(head)
        } else {
            self.stage.trace(ray, TraceGroup::HEADS, &|slot| (slot == rest.slot).then_some(rest.id))
        };
        (first, own)
    }

    /// Moves all colliders back to their cached poses.
    pub fn restore(&mut self) {
        let Self { stage, cache: ShotCache { cached, poses, candidates }, .. } = self;
        for Cached { slot, set, first, count } in cached.drain(..) {
            if let Some(set) = set {
                stage.assign_shapes(slot, &set);
            }
            for (index, pose) in &poses[first..first + count] {
                stage.place(slot, *index, *pose);
            }
            candidates[slot] = None;
        }
        poses.clear();
        stage.update_bvh();
    }
}
