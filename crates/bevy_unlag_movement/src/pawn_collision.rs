//! Collision response between pawns, and between pawns and dynamic bodies.

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_rapier3d::{
    parry::{
        bounding_volume::BoundingVolume,
        math::Pose,
        query::{DefaultQueryDispatcher, contact},
        shape::Capsule,
    },
    plugin::{PhysicsSet, WriteRapierContext},
    rapier::prelude::{QueryFilter, RigidBodyHandle},
};
use bevy_unlag_core::{MoveModel, MoveSystems, PawnSystems, TickSystems, upright_rotation};

use crate::{
    body::body_of,
    config::CapsuleConfig,
    distance::separation,
    has_capsule::HasCapsule,
    input::level_wish,
    part::Part,
    pawn_capsules,
    state::CapsuleState,
    sweep::{Body, advance},
};

/// Moves overlapping pawns apart. Returns the feet of the pawn `own` after moving by `reach` at most,
/// and the parts that still block, that is all but the pawns.
pub(crate) fn separate_pawns(
    parts: &[Part],
    body: Body,
    feet: Vec3,
    own: u32,
    reach: f32,
) -> (Vec3, &[Part]) {
    // Pawns come last.
    let solid = parts.iter().position(|part| part.pawn).unwrap_or(parts.len());
    let (solid, pawns) = parts.split_at(solid);
    let mut push = Vec3::ZERO;
    for pawn in pawns {
        let Some(near) = separation(pawn, body.low(feet), body.core, body.radius) else { continue };
        // The push is softer the less they overlap.
        let depth = ((body.radius - near.distance) / body.radius).clamp(0.0, 1.0);
        let apart = near.normal.with_y(0.0);
        push += depth
            * if near.distance < -0.99 * body.radius {
                // At the very same place each pawn takes its own direction, spread by the golden angle.
                level_wish(Vec2::Y, (own as u16).wrapping_mul(40_503))
            } else {
                apart.normalize_or_zero()
            };
    }
    if push == Vec3::ZERO {
        return (feet, solid);
    }
    (advance(solid, body, feet, push.clamp_length_max(1.0) * reach).0, solid)
}

/// Lets a pawn push the dynamic bodies that it touches. The bodies never block the pawn: a client that
/// has them elsewhere would mispredict. Add it where rapier simulates the bodies authoritatively, that
/// is on the server.
#[doc(alias = "bEnablePhysicsInteraction")]
#[derive(Component, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct PushesBodies {
    /// Mass behind the push in kilograms; default 80. Lighter bodies take on the pawn's speed, heavier
    /// ones less of it.
    pub mass: f32,
    /// Largest impulse per tick in newton seconds; default 40. Raising it throws heavy bodies further.
    pub max_impulse: f32,
}

impl Default for PushesBodies {
    fn default() -> Self {
        Self { mass: 80.0, max_impulse: 40.0 }
    }
}

/// Keeps [`PawnCapsule`](crate::PawnCapsule)s where pawns are, unless [`CapsuleConfig::pawns`] ignores
/// other pawns, so that pawns can block or push each other, and lets pawns with [`PushesBodies`] push
/// dynamic bodies.
///
/// The capsule of a pawn with a state, which is every pawn on a server, is where its state says; that of
/// any other pawn is where it was last drawn.
pub struct PawnCollisionPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(PawnCollisionPlugin<M>);

impl<M: MoveModel<State: HasCapsule>> Plugin for PawnCollisionPlugin<M> {
    fn build(&self, app: &mut App) {
        pawn_capsules::add_systems::<CapsuleConfig, M>(app);
        app.add_systems(
            FixedUpdate,
            push_bodies::<M>
                .after(MoveSystems::Step)
                .before(PhysicsSet::SyncBackend)
                .in_set(TickSystems)
                .in_set(PawnSystems::of::<M>()),
        );
    }
}

/// Applies impulses to dynamic bodies that pawns run into.
fn push_bodies<M: MoveModel<State: HasCapsule>>(
    config: Option<Res<CapsuleConfig>>,
    mut rapier: WriteRapierContext,
    pawns: Query<(&M::State, &PushesBodies)>,
    mut found: Local<Vec<(RigidBodyHandle, Vec3, Vec3, f32)>>,
) {
    let Some(config) = config else { return };
    if pawns.is_empty() {
        return;
    }
    let Ok(mut context) = rapier.single_mut() else { return };
    for (state, pushes) in &pawns {
        let state = state.capsule();
        if !state.is_valid() || !state.alive {
            continue;
        }
        let body = body_of(config.class(state.class), state.crouched);
        touched_bodies(&context, state, body, &mut found);
        for (handle, point, normal, depth) in found.drain(..) {
            let Some(body) = context.rigidbody_set.bodies.get_mut(handle) else { continue };
            let mass = body.mass().max(0.01);
            let toward = state.world_velocity().dot(normal) - body.velocity_at_point(point).dot(normal);
            // Overlapping bodies are pushed out gently even when nothing moves.
            let wanted = toward.max(0.0) + (depth * 4.0).min(1.0);
            let share = pushes.mass / (pushes.mass + mass);
            let impulse = (wanted * share * mass).min(pushes.max_impulse);
            if impulse.is_finite() && impulse > 1e-4 {
                body.apply_impulse_at_point(normal * impulse, point, true);
            }
        }
    }
}

/// Finds the dynamic bodies that a pawn touches: handle, point of contact, direction away from the pawn,
/// and penetration.
fn touched_bodies(
    context: &bevy_rapier3d::plugin::RapierContextMut<'_>,
    state: &CapsuleState,
    body: Body,
    found: &mut Vec<(RigidBodyHandle, Vec3, Vec3, f32)>,
) {
    let bodies = &context.rigidbody_set.bodies;
    let colliders = &context.colliders.colliders;
    let pipeline = context.simulation.broad_phase.as_query_pipeline(
        &DefaultQueryDispatcher,
        bodies,
        colliders,
        QueryFilter::only_dynamic().exclude_sensors(),
    );
    let half = body.core * 0.5;
    let rotation = upright_rotation(state.up);
    let pose = Pose::from_parts(state.position + state.up * (half + body.radius), rotation);
    let capsule = Capsule::new_y(half, body.radius);
    let aabb = bevy_rapier3d::parry::shape::Shape::compute_aabb(&capsule, &pose).loosened(0.03);
    for (_, collider) in pipeline.intersect_aabb_conservative(aabb) {
        let Some(handle) = collider.parent() else { continue };
        let Ok(Some(touch)) = contact(&pose, &capsule, collider.position(), collider.shape(), 0.02) else {
            continue;
        };
        if touch.point2.is_finite() && touch.normal1.is_finite() {
            found.push((handle, touch.point2, touch.normal1, (-touch.dist).max(0.0)));
        }
    }
}
