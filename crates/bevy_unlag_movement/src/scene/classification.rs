//! Classification of colliders and movement bases from their entities and ancestors.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_rapier3d::{
    geometry::{Collider, ColliderDisabled, ColliderScale, CollisionGroups, Sensor, get_snapped_scale},
    parry::{
        math::Pose,
        shape::{ShapeType, SharedShape},
    },
    prelude::{RigidBody, RigidBodyDisabled},
};
use smallvec::SmallVec;

use super::{
    bases::{Base, BasePlacement},
    obstacle::{Obstacle, bounds},
    volumes::Volume,
};
use crate::{
    base::MovementBase,
    volume::{MoveVolume, OneWayCollider},
};

/// Maximum number of ancestors that are visited. It ends a cycle of parents; no real level is as deep.
const MAX_ANCESTORS: usize = 256;
/// Rapier's default number of pieces for round shapes with an uneven scale.
const SUBDIVISIONS: u32 = 10;

/// Queries for everything that decides the role of an entity in the scene.
#[derive(SystemParam)]
pub(super) struct SceneQueries<'w, 's> {
    nodes: Query<
        'w,
        's,
        (
            Option<&'static ChildOf>,
            Option<&'static Transform>,
            Option<&'static RigidBody>,
            Has<RigidBodyDisabled>,
            Option<&'static MovementBase>,
        ),
    >,
    colliders: Query<
        'w,
        's,
        (
            &'static Collider,
            Option<&'static ColliderScale>,
            Has<Sensor>,
            Has<ColliderDisabled>,
            Option<&'static CollisionGroups>,
            Option<&'static OneWayCollider>,
            Option<&'static MoveVolume>,
        ),
    >,
}

/// Role of a collider, with its data.
pub(super) enum ClassifiedCollider {
    Nothing,
    /// The shape or the pose is not finite.
    Unsound,
    Fixed(Obstacle),
    /// Obstacle carried by this entity.
    Moving(Entity, Obstacle),
    Volume(Volume),
    /// Volume on a base, which is not supported.
    MovingVolume,
}

/// Result of a walk up the hierarchy.
struct AncestorWalk {
    visited: SmallVec<[Entity; 4]>,
    /// Transform from the first entity to the space of `base` or to world space.
    chain: Option<Transform>,
    /// Nearest movement base.
    base: Option<Entity>,
    /// Scale of the space of `base`.
    scale: Vec3,
    /// Nearest body, and whether it is disabled.
    body: Option<(RigidBody, bool)>,
}

impl SceneQueries<'_, '_> {
    /// Returns the ancestors of a collider or a base; `None` for anything else.
    pub(super) fn ancestors(&self, entity: Entity) -> Option<SmallVec<[Entity; 4]>> {
        let (parent, _, _, _, base) = self.nodes.get(entity).ok()?;
        (base.is_some() || self.colliders.contains(entity))
            .then(|| self.walk_ancestors(parent.map(ChildOf::parent)).visited)
    }

    /// Returns the movement base of an entity, if it is one.
    pub(super) fn base(&self, entity: Entity) -> Option<Base> {
        let (parent, transform, _, _, base) = self.nodes.get(entity).ok()?;
        let base = base?;
        let walk_ancestors = self.walk_ancestors(parent.map(ChildOf::parent));
        let placement = BasePlacement {
            parent: walk_ancestors.base,
            between: walk_ancestors.chain,
            outer_scale: walk_ancestors.scale,
            own_scale: transform.map_or(Vec3::ONE, |transform| transform.scale),
        };
        Some(Base::new(base.id, entity, base.track.clone(), placement))
    }

    /// Classifies the collider of an entity, if it has one.
    pub(super) fn classify(&self, entity: Entity) -> ClassifiedCollider {
        let Ok((collider, custom, sensor, disabled, groups, one_way, volume)) = self.colliders.get(entity)
        else {
            return ClassifiedCollider::Nothing;
        };
        if disabled || sensor && volume.is_none() {
            return ClassifiedCollider::Nothing;
        }
        let walk_ancestors = self.walk_ancestors(Some(entity));
        let fixed = walk_ancestors.body.is_none_or(|(body, disabled)| body == RigidBody::Fixed && !disabled);
        if volume.is_none() && walk_ancestors.base.is_none() && !fixed {
            return ClassifiedCollider::Nothing;
        }
        let chain = walk_ancestors.chain.unwrap_or_default();
        let scale = walk_ancestors.scale * chain.scale;
        let pose = sound_pose(walk_ancestors.scale * chain.translation, chain.rotation);
        let (Some(pose), Some(shape)) = (pose, scaled(collider, custom, scale)) else {
            return ClassifiedCollider::Unsound;
        };
        if let Some(volume) = volume {
            if walk_ancestors.base.is_some() {
                return ClassifiedCollider::MovingVolume;
            }
            let aabb = bounds(&*shape, &pose);
            return ClassifiedCollider::Volume(Volume { entity, volume: *volume, shape, pose, aabb });
        }
        let groups = groups.map(|groups| groups.memberships.bits());
        match (
            Obstacle::new(entity, shape, pose, groups, one_way.map(|one_way| one_way.side)),
            walk_ancestors.base,
        ) {
            (None, _) => ClassifiedCollider::Unsound,
            (Some(obstacle), None) => ClassifiedCollider::Fixed(obstacle),
            (Some(obstacle), Some(base)) => ClassifiedCollider::Moving(base, obstacle),
        }
    }

    fn walk_ancestors(&self, from: Option<Entity>) -> AncestorWalk {
        let mut walk_ancestors =
            AncestorWalk { visited: SmallVec::new(), chain: None, base: None, scale: Vec3::ONE, body: None };
        let mut next = from;
        while let Some(entity) = next
            && walk_ancestors.visited.len() < MAX_ANCESTORS
            && let Ok((parent, transform, body, disabled, base)) = self.nodes.get(entity)
        {
            walk_ancestors.visited.push(entity);
            let transform = transform.copied().unwrap_or_default();
            if walk_ancestors.body.is_none() {
                walk_ancestors.body = body.map(|body| (*body, disabled));
            }
            if walk_ancestors.base.is_some() {
                walk_ancestors.scale *= transform.scale;
            } else if base.is_some() {
                walk_ancestors.base = Some(entity);
                walk_ancestors.scale = transform.scale;
            } else {
                // Always composed from below, so that one hierarchy gives the same result bit by bit.
                walk_ancestors.chain =
                    Some(walk_ancestors.chain.map_or(transform, |chain| transform.mul_transform(chain)));
            }
            next = parent.map(ChildOf::parent);
        }
        walk_ancestors
    }
}

/// Returns a pose with a normalised rotation. Parry panics on values that are not finite and assumes
/// normalised rotations.
fn sound_pose(translation: Vec3, rotation: Quat) -> Option<Pose> {
    let length = rotation.length_squared();
    (translation.is_finite() && length.is_finite() && length > 1e-6)
        .then(|| Pose::from_parts(translation, rotation.normalize()))
}

/// Returns the shape with the scale that rapier will apply, possibly later.
fn scaled(collider: &Collider, custom: Option<&ColliderScale>, scale: Vec3) -> Option<SharedShape> {
    let scale = match custom {
        None => scale,
        Some(ColliderScale::Relative(custom)) => *custom * scale,
        Some(ColliderScale::Absolute(custom)) => *custom,
    };
    let scale = get_snapped_scale(scale);
    if !scale.is_finite() || scale.abs().min_element() <= 0.0 {
        return None;
    }
    // Parry turns a mirrored box inside out; these shapes are symmetric, so the sign does not matter.
    let even = matches!(
        collider.raw.shape_type(),
        ShapeType::Cuboid | ShapeType::RoundCuboid | ShapeType::Cylinder | ShapeType::RoundCylinder
    );
    let scale = if even { scale.abs() } else { scale };
    if scale == collider.scale() {
        return Some(collider.raw.clone());
    }
    if let Some(field) = collider.raw.as_heightfield()
        && scale.min_element() < 0.0
    {
        // Parry does not support mirrored height fields.
        let (mut corners, triangles) = field.to_trimesh();
        let ratio = scale / collider.scale();
        corners.iter_mut().for_each(|corner| *corner *= ratio);
        return SharedShape::trimesh(corners, triangles).ok();
    }
    let mut collider = collider.clone();
    collider.set_scale(scale, SUBDIVISIONS);
    (collider.scale() == scale).then_some(collider.raw)
}
