//! Level as the mover sees it.
//!
//! The mover keeps its own list of obstacles, so that a new collider counts without waiting for rapier,
//! and the result of a step does not depend on rapier's state.

mod base_poses;
mod base_transforms;
mod bases;
mod cache;
mod classification;
mod dirty_entities;
mod fixed_obstacles;
mod gravity;
mod level_hash;
mod near_parts;
mod obstacle;
mod part_builder;
mod pawns;
mod stable_hash;
mod sync;
mod volumes;

#[cfg(test)]
mod tests;

pub use pawns::PawnCapsule;

pub(crate) use base_transforms::seconds_at;
pub(crate) use near_parts::{Include, NearParts};
pub(crate) use sync::add_systems;

use core::sync::atomic::{AtomicU64, Ordering};

use bevy::{
    ecs::entity::{EntityHashMap, EntityHashSet},
    prelude::*,
};
use bevy_rapier3d::parry::math::Pose;
use smallvec::SmallVec;

use crate::{
    base::BaseId,
    volume::{MoveVolume, VolumeId},
};

/// Obstacles, movement bases and volumes of the level. [`MovementPlugin`](crate::MovementPlugin) updates
/// it before every tick, so a collider counts in the tick in which it is spawned.
///
/// * A `Collider` on a fixed body or without a body is an obstacle, unless it is a `Sensor`, disabled,
///   or a [`MoveVolume`].
/// * A `Collider` on or below a [`MovementBase`](crate::MovementBase) is an obstacle that moves with it,
///   whatever its body.
/// * Colliders on dynamic and kinematic bodies are not obstacles, because no two machines have those at
///   the same place. Give a pawn's own collider such a body.
///
/// Poses come from the `Transform`s of the entity and its ancestors; a `GlobalTransform` may be one tick
/// old.
#[derive(Resource, Default)]
pub struct MoverScene {
    id: SceneId,
    fixed: fixed_obstacles::FixedObstacles,
    bases: bases::Bases,
    volumes: volumes::Volumes,
    pawns: pawns::Pawns,
    /// All entities with a collider or a movement base.
    known: EntityHashMap<Known>,
    /// Known entities below each entity in the hierarchy.
    descendants: EntityHashMap<EntityHashSet>,
    /// Entities to re-examine.
    dirty: Vec<Entity>,
    /// Entities for which a warning was logged.
    warned: EntityHashSet,
}

/// Role of an entity in the scene.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Role {
    /// Not part of the scene.
    Nothing,
    /// Not part of the scene, because a value is not finite.
    Unsound,
    /// Fixed obstacle in this slot.
    Fixed(u32),
    /// Obstacle carried by this base.
    Moving(Entity),
    Volume,
}

struct Known {
    ancestors: SmallVec<[Entity; 4]>,
    role: Role,
}

/// Unique among all scenes of a process.
struct SceneId(u64);

impl Default for SceneId {
    fn default() -> Self {
        static SCENES: AtomicU64 = AtomicU64::new(1);
        Self(SCENES.fetch_add(1, Ordering::Relaxed))
    }
}

impl MoverScene {
    /// Re-examines every collider and movement base of `world` at once: for tests and tools that step
    /// without running a schedule. It costs about a microsecond per collider.
    pub fn refresh(world: &mut World) {
        world.init_resource::<Self>();
        if let Err(error) = world.run_system_cached(sync::sync_all) {
            warn!("MoverScene::refresh failed: {error}");
        }
    }

    /// Returns the number of colliders in the scene: fixed, moving, volumes.
    #[must_use]
    pub fn counts(&self) -> [usize; 3] {
        [self.fixed.len(), self.bases.obstacles(), self.volumes.len()]
    }

    /// Returns the pose of a base at `seconds`, in world space.
    pub(crate) fn base_pose(&self, id: BaseId, seconds: f64) -> Option<Pose> {
        self.bases.pose(id, seconds)
    }

    /// Returns the volume at `point`: the one with the highest priority, then the lowest id.
    pub(crate) fn volume_at(&self, point: Vec3) -> Option<MoveVolume> {
        self.volumes.at(point)
    }

    /// Returns the volume with this id.
    pub(crate) fn volume(&self, id: VolumeId) -> Option<MoveVolume> {
        self.volumes.get(id)
    }

    /// Returns the id that a pawn has as an obstacle.
    pub(crate) fn pawn_id(&self, pawn: Entity) -> u32 {
        self.pawns.id(pawn)
    }

    /// Returns the height of a volume's surface along `up`: the highest corner of its bounding box.
    pub(crate) fn volume_top(&self, id: VolumeId, up: Vec3) -> Option<f32> {
        self.volumes.top(id, up)
    }

    /// Returns whether `entity` is `own` or a descendant of it.
    fn is_own(&self, own: Entity, entity: Entity) -> bool {
        own == entity || self.descendants.get(&own).is_some_and(|below| below.contains(&entity))
    }
}
