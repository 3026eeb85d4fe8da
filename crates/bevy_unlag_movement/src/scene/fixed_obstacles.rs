//! Tree of the fixed obstacles.

use std::collections::VecDeque;

use bevy_rapier3d::parry::{
    bounding_volume::{Aabb, BoundingVolume},
    partitioning::{Bvh, BvhBuildStrategy},
};

use super::obstacle::Obstacle;

/// Number of recorded changes. Parts collected elsewhere stay valid as long as the changes since then
/// are recorded.
const MAX_RECORDED_CHANGES: usize = 64;
/// Number of new obstacles from which the tree is rebuilt if they are at least half of all; a rebuilt
/// tree is better.
const REBUILD_THRESHOLD: usize = 64;

/// List of obstacles with a tree over it.
#[derive(Default)]
pub(super) struct FixedObstacles {
    slots: Vec<Option<Obstacle>>,
    free: Vec<u32>,
    tree: Bvh,
    /// Number of insertions and removals.
    version: u64,
    /// Regions of the last changes.
    changes: VecDeque<Aabb>,
    /// Number of obstacles inserted since the last call of [`balance`](Self::balance).
    inserted_since_balance: usize,
}

impl FixedObstacles {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn get(&self, slot: u32) -> Option<&Obstacle> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub(super) fn insert(&mut self, obstacle: Obstacle) -> u32 {
        let aabb = obstacle.aabb;
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(place) => *place = Some(obstacle),
            None => self.slots.push(Some(obstacle)),
        }
        self.tree.insert(aabb, slot);
        self.inserted_since_balance += 1;
        self.changed(aabb);
        slot
    }

    pub(super) fn remove(&mut self, slot: u32) {
        if let Some(obstacle) = self.slots.get_mut(slot as usize).and_then(Option::take) {
            self.tree.remove(slot);
            self.free.push(slot);
            self.changed(obstacle.aabb);
        }
    }

    /// Rebuilds the tree if many obstacles were added. Call it after many changes.
    pub(super) fn balance(&mut self) {
        if self.inserted_since_balance >= REBUILD_THRESHOLD && self.inserted_since_balance * 2 >= self.len() {
            let leaves = self.slots.iter().enumerate();
            let leaves = leaves.filter_map(|(slot, obstacle)| Some((slot, obstacle.as_ref()?.aabb)));
            // Parry's special cases for one and two leaves assume the indices 0 and 1.
            if self.len() >= REBUILD_THRESHOLD {
                self.tree = Bvh::from_iter(BvhBuildStrategy::Binned, leaves);
            }
        }
        self.inserted_since_balance = 0;
    }

    /// Returns all obstacles.
    pub(super) fn all(&self) -> impl Iterator<Item = &Obstacle> {
        self.slots.iter().flatten()
    }

    /// Returns the obstacles that touch `region`, in arbitrary order.
    pub(super) fn near<'a>(&'a self, region: &'a Aabb) -> impl Iterator<Item = &'a Obstacle> {
        self.tree.intersect_aabb(region).filter_map(|slot| self.get(slot))
    }

    /// Returns whether nothing changed in `region` since `version`. False if that was too long ago to
    /// tell.
    pub(super) fn is_unchanged(&self, version: u64, region: &Aabb) -> bool {
        let behind = self.version.wrapping_sub(version);
        behind == 0
            || behind <= self.changes.len() as u64
                && !self.changes.iter().rev().take(behind as usize).any(|change| change.intersects(region))
    }

    fn changed(&mut self, aabb: Aabb) {
        self.version += 1;
        if self.changes.len() >= MAX_RECORDED_CHANGES {
            self.changes.pop_front();
        }
        self.changes.push_back(aabb);
    }
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;
    use bevy_rapier3d::parry::{math::Pose, shape::SharedShape};

    use super::{FixedObstacles, *};

    fn ball(x: f32) -> Obstacle {
        let pose = Pose::from_translation(Vec3::X * x);
        let ball = Obstacle::new(Entity::PLACEHOLDER, SharedShape::ball(0.5), pose, None, None);
        let Some(ball) = ball else { panic!("expected a ball at {x}") };
        ball
    }

    fn found(fixed: &FixedObstacles, x: f32) -> usize {
        fixed.near(&Aabb::from_half_extents(Vec3::X * x, Vec3::splat(0.4))).count()
    }

    #[test]
    fn slots_are_reused_and_the_tree_stays_consistent() {
        let mut fixed = FixedObstacles::default();
        let slots: Vec<u32> = (0..200).map(|i| fixed.insert(ball(i as f32 * 2.0))).collect();
        fixed.balance();
        for slot in &slots[50..150] {
            fixed.remove(*slot);
        }
        assert_eq!([found(&fixed, 98.0), found(&fixed, 100.0), found(&fixed, 300.0)], [1, 0, 1]);
        for i in 50..60 {
            assert!(fixed.insert(ball(i as f32 * 2.0)) < 200);
        }
        assert_eq!(fixed.len(), 110);
        assert_eq!([found(&fixed, 118.0), found(&fixed, 120.0)], [1, 0]);
        for slot in 0..200 {
            fixed.remove(slot);
        }
        assert_eq!(fixed.len(), 0);
        assert_eq!(found(&fixed, 0.0), 0);
    }

    #[test]
    fn region_is_unchanged_by_changes_elsewhere_while_they_are_recorded() {
        let mut fixed = FixedObstacles::default();
        fixed.insert(ball(0.0));
        let version = fixed.version();
        let here = Aabb::from_half_extents(Vec3::ZERO, Vec3::ONE);
        assert!(fixed.is_unchanged(version, &here));
        let far = fixed.insert(ball(50.0));
        assert!(fixed.is_unchanged(version, &here));
        fixed.insert(ball(1.0));
        assert!(!fixed.is_unchanged(version, &here));
        let version = fixed.version();
        for _ in 0..MAX_RECORDED_CHANGES / 2 {
            fixed.remove(far);
            assert_eq!(fixed.insert(ball(50.0)), far);
            assert!(fixed.is_unchanged(version, &here));
        }
        fixed.remove(far);
        assert!(!fixed.is_unchanged(version, &here), "too long ago to tell");
    }
}
