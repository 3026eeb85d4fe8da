//! World geometry that obstructs shots.

mod contact;
mod level_changes;
mod level_copy;
mod nearby_colliders;
mod obstacle_casts;
mod wall_piece;

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_rapier3d::{parry::query::Ray as ParryRay, prelude::*};

pub use contact::WallContact;
pub use level_changes::LevelChanges;
pub use level_copy::{LevelCopy, WallId};
pub(crate) use nearby_colliders::NearbyColliders;
pub use wall_piece::WallPiece;

use crate::convex_cast::parry_pose;

/// Obstacle for shots and moves that can move itself, such as a door, a lift or a shield. It is tested
/// where the shooter's screen showed it, so a shot passes through a door that was open on the screen.
///
/// Add it to a movement base with the base's number, or together with
/// [`RecordTransform`](bevy_unlag_smoothing::RecordTransform) to anything else. It need not be a collider of the
/// physics world. If it is one, give it a kinematic `RigidBody`; otherwise it also stops shots at its present position.
/// Static geometry does not need this component: every fixed rapier collider stops shots, and a collider without a
/// rigid body is fixed.
#[doc(alias = "ECC_WorldDynamic")]
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Debug, from_reflect = false)]
pub struct Occluder {
    /// Shape, relative to the origin of the entity.
    // rapier's colliders are not reflected.
    #[reflect(ignore)]
    pub shape: Collider,
    /// Number of the movement base to which it is attached, at the base's origin; 0 if it has a
    /// [`FrameHistory`](crate::FrameHistory) of its own.
    pub base: u16,
}

/// Hit of a ray on the world.
#[doc(alias = "FHitResult")]
#[doc(alias = "trace_t")]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WorldHit {
    /// Distance along the ray, in metres.
    pub distance: f32,
    /// Entity of the [`Occluder`]; `None` for static geometry.
    pub by: Option<Entity>,
}

impl Occluder {
    /// Returns the distance in metres at which a ray with a unit direction hits the occluder at `pose`.
    #[must_use]
    pub fn cast(&self, pose: Isometry3d, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<f32> {
        self.shape.raw.cast_ray(&parry_pose(pose), &ParryRay::new(origin, direction), max_distance, true)
    }
}

/// Accumulator for the nearest obstacle of a ray or sweep: static geometry and occluders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearestObstacle {
    pub nearest: Option<WorldHit>,
    max: f32,
}

impl NearestObstacle {
    pub fn new(wall: Option<f32>, max: f32) -> Self {
        Self { nearest: wall.map(|distance| WorldHit { distance, by: None }), max }
    }

    /// Takes an occluder at `pose` into account.
    pub fn consider(
        &mut self,
        (entity, occluder): (Entity, &Occluder),
        pose: Isometry3d,
        origin: Vec3,
        direction: Vec3,
    ) {
        if origin.is_finite() {
            self.meet(entity, |reach| occluder.cast(pose, origin, direction, reach));
        }
    }

    /// Takes an obstacle into account; `met` returns its distance if that is within the given reach.
    pub fn meet(&mut self, entity: Entity, met: impl FnOnce(f32) -> Option<f32>) {
        let reach = self.nearest.map_or(self.max, |hit| hit.distance);
        if let Some(distance) = met(reach).filter(|distance| *distance < reach) {
            self.nearest = Some(WorldHit { distance, by: Some(entity) });
        }
    }
}

/// Static world geometry: every fixed rapier collider, except sensors.
#[doc(alias = "LineTrace")]
#[doc(alias = "UTIL_TraceLine")]
#[derive(SystemParam)]
pub struct WorldTrace<'w, 's> {
    rapier: ReadRapierContext<'w, 's>,
}

impl WorldTrace<'_, '_> {
    /// Returns the distance in metres to the first wall along a ray with a unit direction; `None` if
    /// there is none within `max_distance`.
    #[must_use]
    pub fn cast(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<f32> {
        if !(origin.is_finite() && direction.is_finite() && max_distance.is_finite()) {
            return None;
        }
        let rapier = self.rapier.single().ok()?;
        let filter = QueryFilter::only_fixed().exclude_sensors();
        rapier.cast_ray(origin, direction, max_distance, true, filter).map(|(_, distance)| distance)
    }

    /// Returns whether there is no static geometry between two points.
    #[must_use]
    pub fn is_clear(&self, a: Vec3, b: Vec3) -> bool {
        let (direction, distance) = (b - a).try_normalize().map_or((Vec3::X, 0.0), |d| (d, a.distance(b)));
        distance == 0.0 || self.cast(a, direction, distance).is_none()
    }
}
