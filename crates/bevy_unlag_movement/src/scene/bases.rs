//! Movement bases and the obstacles that they carry, placed for every step.

use bevy::{
    ecs::entity::{EntityHashMap, EntityHashSet},
    prelude::*,
};
use bevy_rapier3d::parry::{
    bounding_volume::{Aabb, BoundingVolume},
    math::Pose,
};

use super::obstacle::Obstacle;
use crate::base::{BaseId, BaseTrack};

/// Largest nesting depth of bases.
const MAX_DEPTH: u32 = 16;

/// Place of a base in the entity hierarchy.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct BasePlacement {
    /// Nearest ancestor that is a base.
    pub(super) parent: Option<Entity>,
    /// Transform from the base's parent entity to the space of the parent base or to world space.
    pub(super) between: Option<Transform>,
    /// Scale of that space.
    pub(super) outer_scale: Vec3,
    /// Scale of the entity itself.
    pub(super) own_scale: Vec3,
}

pub(super) struct Base {
    pub(super) id: BaseId,
    pub(super) entity: Entity,
    pub(super) track: BaseTrack,
    pub(super) placement: BasePlacement,
    /// Index of the parent base, set by [`Bases::relink`].
    parent: Parent,
    obstacles: Vec<Obstacle>,
    /// Distance from the base's origin to the furthest corner of its obstacles, in metres.
    radius: f32,
    /// Box that contains its obstacles at all times, if there is one.
    bounds: Option<Aabb>,
}

#[derive(Clone, Copy)]
enum Parent {
    World,
    At(usize),
    /// The parent base is not registered.
    Missing,
}

impl Base {
    pub(super) fn new(id: BaseId, entity: Entity, track: BaseTrack, placement: BasePlacement) -> Self {
        let obstacles = Vec::new();
        Self { id, entity, track, placement, parent: Parent::Missing, obstacles, radius: 0.0, bounds: None }
    }
}

/// All bases, sorted by id.
#[derive(Default)]
pub(super) struct Bases {
    list: Vec<Base>,
    ids: EntityHashMap<BaseId>,
    /// Bases that are ignored because their id is taken or [`BaseId::NONE`].
    ignored: EntityHashSet,
    /// Whether [`relink`](Self::relink) is needed.
    stale: bool,
    /// Number of relinks.
    revision: u64,
}

impl Bases {
    fn find(&self, id: BaseId) -> Result<usize, usize> {
        self.list.binary_search_by_key(&id, |base| base.id)
    }

    fn of(&mut self, entity: Entity) -> Option<&mut Base> {
        let at = self.find(*self.ids.get(&entity)?).ok()?;
        self.stale = true;
        self.list.get_mut(at)
    }

    pub(super) fn id(&self, entity: Entity) -> Option<BaseId> {
        self.ids.get(&entity).copied()
    }

    /// Returns the number of obstacles that all bases carry.
    pub(super) fn obstacles(&self) -> usize {
        self.list.iter().map(|base| base.obstacles.len()).sum()
    }

    /// Returns whether the scale of a base is unchanged, so that a change of its `Transform` only means
    /// that it moved.
    pub(super) fn has_same_scale(&self, entity: Entity, transform: &Transform) -> bool {
        let base = self.id(entity).and_then(|id| self.list.get(self.find(id).ok()?));
        base.is_some_and(|base| base.placement.own_scale == transform.scale)
    }

    /// Stores the current base of an entity. Returns whether anything but its track changed, and the
    /// entity that already has its id.
    pub(super) fn set(&mut self, entity: Entity, new: Option<Base>) -> (bool, Option<Entity>) {
        self.ignored.remove(&entity);
        let Some(new) = new else { return (self.remove(entity), None) };
        if let Some(id) = self.id(entity)
            && id == new.id
            && let Some(old) = self.of(entity)
        {
            old.track = new.track;
            let moved = old.placement != new.placement;
            old.placement = new.placement;
            return (moved, None);
        }
        let removed = self.remove(entity);
        match self.find(new.id) {
            Ok(at) => {
                self.ignored.insert(entity);
                (removed, self.list.get(at).map(|base| base.entity))
            }
            Err(_) if new.id == BaseId::NONE => {
                self.ignored.insert(entity);
                (removed, Some(entity))
            }
            Err(at) => {
                self.ids.insert(entity, new.id);
                self.list.insert(at, new);
                self.stale = true;
                (true, None)
            }
        }
    }

    fn remove(&mut self, entity: Entity) -> bool {
        let Some(id) = self.ids.remove(&entity) else { return false };
        if let Ok(at) = self.find(id) {
            self.list.remove(at);
        }
        self.stale = true;
        true
    }

    /// Returns the ignored bases, which may become valid when another one is removed.
    pub(super) fn ignored(&self) -> impl Iterator<Item = Entity> {
        self.ignored.iter().copied()
    }

    pub(super) fn carries(&self, base: Entity, obstacle: &Obstacle) -> bool {
        let base = self.id(base).and_then(|id| self.list.get(self.find(id).ok()?));
        base.is_some_and(|base| {
            base.obstacles
                .iter()
                .any(|old| old.entity == obstacle.entity && old.is_interchangeable_with(obstacle))
        })
    }

    pub(super) fn insert_obstacle(&mut self, base: Entity, obstacle: Obstacle) {
        if let Some(base) = self.of(base) {
            base.obstacles.push(obstacle);
        }
    }

    pub(super) fn remove_obstacle(&mut self, base: Entity, entity: Entity) {
        if let Some(base) = self.of(base) {
            base.obstacles.retain(|obstacle| obstacle.entity != entity);
        }
    }

    /// Updates values that depend on several bases. Call it after changes.
    pub(super) fn relink(&mut self) {
        if !self.stale {
            return;
        }
        self.stale = false;
        self.revision += 1;
        for i in 0..self.list.len() {
            let parent = match self.list[i].placement.parent {
                None => Parent::World,
                Some(entity) => match self.id(entity).and_then(|id| self.find(id).ok()) {
                    Some(at) => Parent::At(at),
                    None => Parent::Missing,
                },
            };
            let base = &mut self.list[i];
            base.parent = parent;
            let corners = base
                .obstacles
                .iter()
                .map(|obstacle| obstacle.aabb.mins.abs().max(obstacle.aabb.maxs.abs()).length());
            // One centimetre for rounding.
            base.radius = corners.fold(0.0, f32::max) + 0.01;
        }
        for i in 0..self.list.len() {
            self.list[i].bounds = self.origins(i, 0).map(|origins| origins.loosened(self.list[i].radius));
        }
    }

    /// Returns a box that contains all positions of a base's origin.
    fn origins(&self, at: usize, depth: u32) -> Option<Aabb> {
        let base = self.list.get(at).filter(|_| depth < MAX_DEPTH)?;
        let mut bounds = base.track.bounds()?;
        if let Some(between) = base.placement.between {
            let pose = Pose::from_parts(between.translation, between.rotation);
            bounds = bounds.scaled(between.scale).transform_by(&pose);
        }
        bounds = bounds.scaled(base.placement.outer_scale);
        if !bounds.mins.is_finite() || !bounds.maxs.is_finite() {
            return None;
        }
        let Parent::At(parent) = base.parent else { return Some(bounds) };
        // Valid for any rotation of the parent.
        let distance = bounds.mins.abs().max(bounds.maxs.abs()).length();
        self.origins(parent, depth + 1).map(|origins| origins.loosened(distance + 0.01))
    }

    /// Returns a number that changes with the bases.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns a copy that can only compute poses.
    pub(super) fn poses_only(&self) -> Self {
        let list = self.list.iter().map(|base| Base {
            parent: base.parent,
            ..Base::new(base.id, base.entity, base.track.clone(), base.placement.clone())
        });
        Self { list: list.collect(), ..Self::default() }
    }

    /// Returns the pose of a base at `seconds`, in world space.
    pub(super) fn pose(&self, id: BaseId, seconds: f64) -> Option<Pose> {
        self.pose_at(self.find(id).ok()?, seconds, 0)
    }

    fn pose_at(&self, at: usize, seconds: f64, depth: u32) -> Option<Pose> {
        let base = self.list.get(at).filter(|_| depth < MAX_DEPTH)?;
        let track = base.track.pose(seconds);
        let mut pose = Pose::from_parts(track.translation.into(), track.rotation);
        if let Some(between) = base.placement.between {
            let place = between.transform_point(pose.translation);
            pose = Pose::from_parts(place, between.rotation * pose.rotation);
        }
        let pose = match base.parent {
            Parent::World => pose,
            Parent::At(parent) => {
                pose.translation *= base.placement.outer_scale;
                self.pose_at(parent, seconds, depth + 1)? * pose
            }
            Parent::Missing => return None,
        };
        pose.is_finite().then_some(pose)
    }

    /// Returns the bases whose obstacles may touch `region` at `seconds`, sorted by id, each with its
    /// pose and its obstacles.
    pub(super) fn near(
        &self,
        region: Aabb,
        seconds: f64,
    ) -> impl Iterator<Item = (BaseId, Pose, &[Obstacle])> {
        self.list.iter().enumerate().filter_map(move |(at, base)| {
            let far = base.bounds.is_some_and(|bounds| !bounds.intersects(&region));
            if far || base.obstacles.is_empty() {
                return None;
            }
            let pose = self.pose_at(at, seconds, 0)?;
            let around = Aabb::from_half_extents(pose.translation, Vec3::splat(base.radius));
            around.intersects(&region).then_some((base.id, pose, base.obstacles.as_slice()))
        })
    }
}
