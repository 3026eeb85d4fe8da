//! The world that stands in the way.

mod near;
mod sweep;
mod touch;

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_rapier3d::{parry::query::Ray as ParryRay, prelude::*, rapier::math::Pose};

pub(crate) use near::NearWalls;
pub(crate) use sweep::parry_pose;
pub use touch::WallTouch;

/// Something that stops shots and moves, such as a door, a lift or a shield. It is tested where the shooter's
/// screen showed it, so a shot passes a door that was open then.
///
/// Put it on a movement base with its number, or beside [`RecordTransform`](crate::RecordTransform) on
/// anything else. It need not be a collider of the physics world; if it is, give it a kinematic `RigidBody`, or
/// it stops shots where it is now as well. What never moves needs none: every fixed collider of
/// rapier's stops shots, and one without a body is fixed.
#[derive(Component, Clone, Debug)]
pub struct Occluder {
    /// The shape, about the origin of the entity.
    pub shape: Collider,
    /// The number of the movement base that it is fixed to, where its origin is; 0 when it has a
    /// [`FrameHistory`](crate::FrameHistory) of its own.
    pub base: u16,
}

/// What stands in the way of a ray.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WorldHit {
    /// Metres along the ray.
    pub distance: f32,
    /// The [`Occluder`]; `None` for what never moves.
    pub by: Option<Entity>,
}

impl Occluder {
    /// Metres to where a ray with a unit direction meets it at `pose`.
    #[must_use]
    pub fn cast(&self, pose: Isometry3d, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<f32> {
        let pose = Pose::from_parts(pose.translation.into(), pose.rotation);
        self.shape.raw.cast_ray(&pose, &ParryRay::new(origin, direction), max_distance, true)
    }
}

/// What stands in the way of a ray, thick or not: the nearest one of a wall and of what moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InTheWay {
    pub nearest: Option<WorldHit>,
    max: f32,
}

impl InTheWay {
    pub fn new(wall: Option<f32>, max: f32) -> Self {
        Self { nearest: wall.map(|distance| WorldHit { distance, by: None }), max }
    }

    /// Takes in an occluder at `pose`.
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

    /// Takes in something that is met within a reach.
    pub fn meet(&mut self, entity: Entity, met: impl FnOnce(f32) -> Option<f32>) {
        let reach = self.nearest.map_or(self.max, |hit| hit.distance);
        if let Some(distance) = met(reach).filter(|distance| *distance < reach) {
            self.nearest = Some(WorldHit { distance, by: Some(entity) });
        }
    }
}

/// The world that never moves: every fixed collider of rapier's, sensors excepted.
#[derive(SystemParam)]
pub struct WorldTrace<'w, 's> {
    rapier: ReadRapierContext<'w, 's>,
}

impl WorldTrace<'_, '_> {
    /// Metres to the first wall along a ray with a unit direction; `None` when there is none
    /// within `max_distance`.
    #[must_use]
    pub fn cast(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<f32> {
        if !(origin.is_finite() && direction.is_finite() && max_distance.is_finite()) {
            return None;
        }
        let rapier = self.rapier.single().ok()?;
        let filter = QueryFilter::only_fixed().exclude_sensors();
        rapier.cast_ray(origin, direction, max_distance, true, filter).map(|(_, distance)| distance)
    }

    /// Whether nothing stands between two points.
    #[must_use]
    pub fn clear(&self, a: Vec3, b: Vec3) -> bool {
        let (direction, distance) = (b - a).try_normalize().map_or((Vec3::X, 0.0), |d| (d, a.distance(b)));
        distance == 0.0 || self.cast(a, direction, distance).is_none()
    }
}
