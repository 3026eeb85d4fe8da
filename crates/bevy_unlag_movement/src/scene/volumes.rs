//! Volumes of the scene.

use bevy::{ecs::entity::EntityHashSet, prelude::*};
use bevy_rapier3d::parry::{bounding_volume::Aabb, math::Pose, shape::SharedShape};

use crate::volume::{MoveVolume, VolumeId};

/// Volume in world space.
#[derive(Clone)]
pub(super) struct Volume {
    pub(super) entity: Entity,
    pub(super) volume: MoveVolume,
    pub(super) shape: SharedShape,
    pub(super) pose: Pose,
    pub(super) aabb: Aabb,
}

/// All volumes: the highest priority first, then the lowest id.
#[derive(Clone, Default)]
pub(super) struct Volumes {
    list: Vec<Volume>,
    /// Counter of changes to the list.
    revision: u64,
    /// Volumes that are ignored because their id is taken or [`VolumeId::NONE`].
    ignored: EntityHashSet,
}

impl Volumes {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns a number that changes with every active volume.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns whether any volume has a gravity of its own.
    pub(super) fn have_gravity(&self) -> bool {
        self.list.iter().any(|v| v.volume.gravity.is_some())
    }

    pub(super) fn at(&self, point: Vec3) -> Option<MoveVolume> {
        // Parry reports that a box contains a NaN.
        if self.list.is_empty() || !point.is_finite() {
            return None;
        }
        let inside =
            |v: &&Volume| v.aabb.contains_local_point(point) && v.shape.contains_point(&v.pose, point);
        self.list.iter().find(inside).map(|v| v.volume)
    }

    pub(super) fn get(&self, id: VolumeId) -> Option<MoveVolume> {
        self.list.iter().find(|v| v.volume.id == id).map(|v| v.volume)
    }

    pub(super) fn top(&self, id: VolumeId, up: Vec3) -> Option<f32> {
        let Aabb { mins, maxs } = self.list.iter().find(|v| v.volume.id == id)?.aabb;
        let corner = Vec3::select(up.cmpge(Vec3::ZERO), maxs, mins);
        Some(corner.dot(up))
    }

    /// Adds a volume. If it is ignored, returns the entity that has its id, or its own entity if it has
    /// no id.
    pub(super) fn insert(&mut self, new: Volume) -> Option<Entity> {
        let id = new.volume.id;
        let other = self.list.iter().find(|v| v.volume.id == id).map(|v| v.entity);
        let other = if id == VolumeId::NONE { Some(new.entity) } else { other };
        if other.is_some() {
            self.ignored.insert(new.entity);
        } else {
            let rank = |v: &Volume| (core::cmp::Reverse(v.volume.priority), v.volume.id);
            let at = self.list.partition_point(|v| rank(v) < rank(&new));
            self.list.insert(at, new);
            self.revision += 1;
        }
        other
    }

    /// Removes the volume of an entity; returns whether it was active.
    pub(super) fn remove(&mut self, entity: Entity) -> bool {
        self.ignored.remove(&entity);
        let before = self.list.len();
        self.list.retain(|v| v.entity != entity);
        let removed = before != self.list.len();
        self.revision += u64::from(removed);
        removed
    }

    /// Returns the ignored volumes, which may become valid when another one is removed.
    pub(super) fn ignored(&self) -> impl Iterator<Item = Entity> {
        self.ignored.iter().copied()
    }
}
