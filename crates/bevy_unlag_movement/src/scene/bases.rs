//! Movement bases and the obstacles that they carry, placed anew for every step.

use bevy::{
    ecs::entity::{EntityHashMap, EntityHashSet},
    prelude::*,
};
use bevy_rapier3d::parry::{
    bounding_volume::{Aabb, BoundingVolume},
    math::Pose,
};

use super::obstacle::Obstacle;
use crate::{BaseId, Track};

/// How deep bases may lie in bases.
const MAX_DEPTH: u32 = 16;

/// Where the entity of a base is in its hierarchy.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Seat {
    /// The nearest ancestor that is a base.
    pub(super) parent: Option<Entity>,
    /// From the base's parent entity to the space of the parent base or of the world.
    pub(super) between: Option<Transform>,
    /// The scale of that space.
    pub(super) outer_scale: Vec3,
    /// The entity's own.
    pub(super) own_scale: Vec3,
}

/// One base.
pub(super) struct Base {
    pub(super) id: BaseId,
    pub(super) entity: Entity,
    pub(super) track: Track,
    pub(super) seat: Seat,
    /// Where the parent is in the list; found by [`Bases::relink`].
    parent: Parent,
    obstacles: Vec<Obstacle>,
    /// Metres from the base's origin to the furthest corner of what it carries.
    radius: f32,
    /// A box that holds what it carries at all times, if there is one.
    reach: Option<Aabb>,
}

#[derive(Clone, Copy)]
enum Parent {
    World,
    At(usize),
    /// It has one, but that one does not count.
    Refused,
}

impl Base {
    pub(super) fn new(id: BaseId, entity: Entity, track: Track, seat: Seat) -> Self {
        let obstacles = Vec::new();
        Self { id, entity, track, seat, parent: Parent::Refused, obstacles, radius: 0.0, reach: None }
    }
}

/// All bases, sorted by id.
#[derive(Default)]
pub(super) struct Bases {
    list: Vec<Base>,
    ids: EntityHashMap<BaseId>,
    /// Bases that do not count because another one has their id, or they have none.
    refused: EntityHashSet,
    /// Whether it must be relinked.
    stale: bool,
    /// How often it was.
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

    /// How many obstacles they carry.
    pub(super) fn obstacles(&self) -> usize {
        self.list.iter().map(|base| base.obstacles.len()).sum()
    }

    /// Whether a base sits where it did, so that a change of its `Transform` means nothing but
    /// that it moved.
    pub(super) fn only_moved(&self, entity: Entity, transform: &Transform) -> bool {
        let base = self.id(entity).and_then(|id| self.list.get(self.find(id).ok()?));
        base.is_some_and(|base| base.seat.own_scale == transform.scale)
    }

    /// Takes in what an entity is now. Whether anything but its track changed, and who else has
    /// its id.
    pub(super) fn settle(&mut self, entity: Entity, new: Option<Base>) -> (bool, Option<Entity>) {
        self.refused.remove(&entity);
        let Some(new) = new else { return (self.remove(entity), None) };
        if let Some(id) = self.id(entity)
            && id == new.id
            && let Some(old) = self.of(entity)
        {
            old.track = new.track;
            let moved = old.seat != new.seat;
            old.seat = new.seat;
            return (moved, None);
        }
        let removed = self.remove(entity);
        match self.find(new.id) {
            Ok(at) => {
                self.refused.insert(entity);
                (removed, self.list.get(at).map(|base| base.entity))
            }
            Err(_) if new.id == BaseId::NONE => {
                self.refused.insert(entity);
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

    /// Bases that may count now that another one is gone.
    pub(super) fn refused(&self) -> impl Iterator<Item = Entity> {
        self.refused.iter().copied()
    }

    pub(super) fn carries(&self, base: Entity, obstacle: &Obstacle) -> bool {
        let base = self.id(base).and_then(|id| self.list.get(self.find(id).ok()?));
        base.is_some_and(|base| {
            base.obstacles.iter().any(|old| old.entity == obstacle.entity && old.is_like(obstacle))
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

    /// Works out what depends on several bases. Call it after changes.
    pub(super) fn relink(&mut self) {
        if !self.stale {
            return;
        }
        self.stale = false;
        self.revision += 1;
        for i in 0..self.list.len() {
            let parent = match self.list[i].seat.parent {
                None => Parent::World,
                Some(entity) => match self.id(entity).and_then(|id| self.find(id).ok()) {
                    Some(at) => Parent::At(at),
                    None => Parent::Refused,
                },
            };
            let base = &mut self.list[i];
            base.parent = parent;
            let corners = base
                .obstacles
                .iter()
                .map(|obstacle| obstacle.aabb.mins.abs().max(obstacle.aabb.maxs.abs()).length());
            // A centimetre: rounding.
            base.radius = corners.fold(0.0, f32::max) + 0.01;
        }
        for i in 0..self.list.len() {
            self.list[i].reach = self.origins(i, 0).map(|origins| origins.loosened(self.list[i].radius));
        }
    }

    /// A box that the origin of a base never leaves.
    fn origins(&self, at: usize, depth: u32) -> Option<Aabb> {
        let base = self.list.get(at).filter(|_| depth < MAX_DEPTH)?;
        let mut reach = base.track.reach()?;
        if let Some(between) = base.seat.between {
            let pose = Pose::from_parts(between.translation, between.rotation);
            reach = reach.scaled(between.scale).transform_by(&pose);
        }
        reach = reach.scaled(base.seat.outer_scale);
        if !reach.mins.is_finite() || !reach.maxs.is_finite() {
            return None;
        }
        let Parent::At(parent) = base.parent else { return Some(reach) };
        // However the parent is turned.
        let distance = reach.mins.abs().max(reach.maxs.abs()).length();
        self.origins(parent, depth + 1).map(|origins| origins.loosened(distance + 0.01))
    }

    /// A number that changes with the bases.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// The same bases, good for nothing but their poses.
    pub(super) fn poses_only(&self) -> Self {
        let list = self.list.iter().map(|base| Base {
            parent: base.parent,
            ..Base::new(base.id, base.entity, base.track.clone(), base.seat.clone())
        });
        Self { list: list.collect(), ..Self::default() }
    }

    /// Where a base is at `seconds`, in the world.
    pub(super) fn pose(&self, id: BaseId, seconds: f64) -> Option<Pose> {
        self.pose_at(self.find(id).ok()?, seconds, 0)
    }

    fn pose_at(&self, at: usize, seconds: f64, depth: u32) -> Option<Pose> {
        let base = self.list.get(at).filter(|_| depth < MAX_DEPTH)?;
        let track = base.track.pose(seconds);
        let mut pose = Pose::from_parts(track.translation.into(), track.rotation);
        if let Some(between) = base.seat.between {
            let place = between.transform_point(pose.translation);
            pose = Pose::from_parts(place, between.rotation * pose.rotation);
        }
        let pose = match base.parent {
            Parent::World => pose,
            Parent::At(parent) => {
                pose.translation *= base.seat.outer_scale;
                self.pose_at(parent, seconds, depth + 1)? * pose
            }
            Parent::Refused => return None,
        };
        pose.is_finite().then_some(pose)
    }

    /// The bases that may carry something into `region` at `seconds`, by id: each with its pose
    /// and what it carries.
    pub(super) fn near(
        &self,
        region: Aabb,
        seconds: f64,
    ) -> impl Iterator<Item = (BaseId, Pose, &[Obstacle])> {
        self.list.iter().enumerate().filter_map(move |(at, base)| {
            let far = base.reach.is_some_and(|reach| !reach.intersects(&region));
            if far || base.obstacles.is_empty() {
                return None;
            }
            let pose = self.pose_at(at, seconds, 0)?;
            let around = Aabb::from_half_extents(pose.translation, Vec3::splat(base.radius));
            around.intersects(&region).then_some((base.id, pose, base.obstacles.as_slice()))
        })
    }
}
