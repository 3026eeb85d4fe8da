//! The level as the mover sees it: a list of obstacles of its own, so that nothing has to wait for
//! rapier, and a step depends on no state of rapier's.

mod bases;
mod cache;
mod compare;
mod drive;
mod fixed;
mod gather;
mod hash;
mod obstacle;
mod pawns;
mod pieces;
mod place;
mod publish;
mod settle;
mod sync;
mod volumes;

#[cfg(test)]
mod tests;

pub use pawns::PawnCapsule;
pub use sync::MoverSceneSystems;

pub(crate) use drive::seconds_at;
pub(crate) use gather::{Include, NearParts};
pub(crate) use sync::add_systems;

use core::sync::atomic::{AtomicU64, Ordering};

use bevy::{
    ecs::entity::{EntityHashMap, EntityHashSet},
    prelude::*,
};
use bevy_rapier3d::parry::math::Pose;
use smallvec::SmallVec;

use crate::{BaseId, MoveVolume, VolumeId};

/// What capsules move among, kept up to date by [`MovementPlugin`](crate::MovementPlugin) before
/// every tick: a collider counts in the tick in which it is there.
///
/// * A `Collider` on a fixed body or without a body is an obstacle, unless it is a `Sensor`,
///   disabled, or a [`MoveVolume`].
/// * A `Collider` on or below a [`MovementBase`](crate::MovementBase) is one that moves with it,
///   whatever its body.
/// * On dynamic and kinematic bodies it is none, because no two machines have those in the same
///   place. Give a pawn's own collider such a body.
///
/// Poses come from the `Transform`s of the entity and of its ancestors; a `GlobalTransform` may be
/// a tick old.
#[derive(Resource)]
pub struct MoverScene {
    /// Differs between all scenes of a process.
    id: u64,
    fixed: fixed::Fixed,
    bases: bases::Bases,
    volumes: volumes::Volumes,
    pawns: pawns::Pawns,
    /// All entities with a collider or a movement base.
    known: EntityHashMap<Known>,
    /// The known entities below an entity.
    below: EntityHashMap<EntityHashSet>,
    /// What has to be looked at again.
    dirty: Vec<Entity>,
    /// What a warning was given for.
    warned: EntityHashSet,
}

/// What an entity is to the scene.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Role {
    /// Nobody minds it.
    Nothing,
    /// It would be something if its numbers were numbers.
    Unsound,
    /// In this slot of the fixed obstacles.
    Fixed(u32),
    /// An obstacle that this base carries.
    Moving(Entity),
    Volume,
}

struct Known {
    ancestors: SmallVec<[Entity; 4]>,
    role: Role,
}

impl Default for MoverScene {
    fn default() -> Self {
        static SCENES: AtomicU64 = AtomicU64::new(1);
        Self {
            id: SCENES.fetch_add(1, Ordering::Relaxed),
            fixed: fixed::Fixed::default(),
            bases: bases::Bases::default(),
            volumes: volumes::Volumes::default(),
            pawns: pawns::Pawns::default(),
            known: EntityHashMap::default(),
            below: EntityHashMap::default(),
            dirty: Vec::new(),
            warned: EntityHashSet::default(),
        }
    }
}

impl MoverScene {
    /// Looks at every collider and movement base of `world` again, at once: for tests and tools
    /// that step without running a schedule. It costs about a microsecond a collider.
    pub fn refresh(world: &mut World) {
        world.init_resource::<Self>();
        if let Err(error) = world.run_system_cached(sync::sync_all) {
            warn!("the mover's scene could not be refreshed: {error}");
        }
    }

    /// How many colliders are in it: fixed ones, moving ones, volumes.
    #[must_use]
    pub fn counts(&self) -> [usize; 3] {
        [self.fixed.len(), self.bases.obstacles(), self.volumes.len()]
    }

    /// Where a base is at `seconds`, in the world.
    pub(crate) fn base_pose(&self, id: BaseId, seconds: f64) -> Option<Pose> {
        self.bases.pose(id, seconds)
    }

    /// The volume at `point`: the one with the highest priority, then the lowest id.
    pub(crate) fn volume_at(&self, point: Vec3) -> Option<MoveVolume> {
        self.volumes.at(point)
    }

    /// The volume of this id.
    pub(crate) fn volume(&self, id: VolumeId) -> Option<MoveVolume> {
        self.volumes.get(id)
    }

    /// The id of a pawn as an obstacle.
    pub(crate) fn pawn_id(&self, pawn: Entity) -> u32 {
        self.pawns.id(pawn)
    }

    /// How far along `up` the surface of a volume is: the highest corner of its box.
    pub(crate) fn volume_top(&self, id: VolumeId, up: Vec3) -> Option<f32> {
        self.volumes.top(id, up)
    }

    /// Whether `entity` is `own` or below it.
    fn is_own(&self, own: Entity, entity: Entity) -> bool {
        own == entity || self.below.get(&own).is_some_and(|below| below.contains(&entity))
    }
}
