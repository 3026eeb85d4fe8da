//! Pawns and bodies that are in each other's way.

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
use bevy_unlag_core::{DrawnPose, ExtendedState, MoveModel, MoveSystems, NetId, upright_rotation};

use crate::{
    CapsuleConfig, CapsuleState, PawnCapsule, PawnCollision,
    distance::separation,
    input::level_wish,
    part::Part,
    slice::Slice,
    step::body_of,
    sweep::{Body, advance},
};

/// A state that has a capsule's in it.
pub trait HasCapsule {
    /// The capsule's.
    fn capsule(&self) -> &CapsuleState;
}

impl HasCapsule for CapsuleState {
    fn capsule(&self) -> &CapsuleState {
        self
    }
}

impl<B: HasCapsule + Send + Sync + 'static, X: Send + Sync + 'static> HasCapsule for ExtendedState<B, X> {
    fn capsule(&self) -> &CapsuleState {
        self.body.capsule()
    }
}

/// Lets pawns that are in one place drift apart; returns the parts that stop, which the pawns then
/// do not.
pub(crate) fn drift_apart<'p>(slice: &mut Slice<'_>, parts: &'p [Part], own: Entity, dt: f32) -> &'p [Part] {
    // Pawns come last.
    let solid = parts.iter().position(|part| part.pawn).unwrap_or(parts.len());
    let (solid, pawns) = parts.split_at(solid);
    let mut push = Vec3::ZERO;
    for pawn in pawns {
        let Some(near) = separation(pawn, slice.body.low(slice.feet), slice.body.core, slice.body.radius)
        else {
            continue;
        };
        // Softer the less they overlap.
        let depth = ((slice.body.radius - near.distance) / slice.body.radius).clamp(0.0, 1.0);
        let apart = near.normal.with_y(0.0);
        push += depth
            * if near.distance < -0.99 * slice.body.radius {
                // In the very same place everybody goes their own way: by the golden angle.
                level_wish(Vec2::Y, (slice.scene.pawn_id(own) as u16).wrapping_mul(40_503))
            } else {
                apart.normalize_or_zero()
            };
    }
    if push != Vec3::ZERO {
        let motion = push.clamp_length_max(1.0) * (slice.config.pawn_push_speed * dt);
        slice.feet = advance(solid, slice.body, slice.feet, motion).0;
    }
    solid
}

/// A pawn that pushes the dynamic bodies it touches. They never stop it, or a client that has them
/// elsewhere would mispredict; add it where rapier's bodies are decided, on the server.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub struct PushesBodies {
    /// Kilograms that push; default 80. Lighter things take on the pawn's speed, heavier less.
    pub mass: f32,
    /// Newton seconds per tick at most; default 40. Raising it throws heavy things further.
    pub max_impulse: f32,
}

impl Default for PushesBodies {
    fn default() -> Self {
        Self { mass: 80.0, max_impulse: 40.0 }
    }
}

/// Keeps [`PawnCapsule`]s where pawns are, unless [`CapsuleConfig::pawns`] ignores them, so that
/// pawns can block or push each other, and lets pawns with [`PushesBodies`] push.
///
/// A pawn with a state, which is every pawn on a server, is where its state says; any other is
/// where it was last drawn.
pub struct PawnCollisionPlugin<M>(PhantomData<fn() -> M>);

impl<M> Default for PawnCollisionPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel<State: HasCapsule>> Plugin for PawnCollisionPlugin<M> {
    fn build(&self, app: &mut App) {
        app.add_systems(
            FixedUpdate,
            (
                (give_capsules::<M>, place_capsules::<M>, place_drawn::<M>)
                    .chain()
                    .run_if(|config: Res<CapsuleConfig>| config.pawns != PawnCollision::Ignore)
                    .before(MoveSystems::Answer)
                    .before(crate::MoverSceneSystems::Sync),
                push_bodies::<M>.after(MoveSystems::Step).before(PhysicsSet::SyncBackend),
            ),
        );
    }
}

fn capsule_at(config: &CapsuleConfig, id: u32, feet: Vec3, up: Vec3, crouched: bool) -> PawnCapsule {
    let half_height = if crouched { config.crouched_half_height } else { config.half_height };
    PawnCapsule { feet, up, radius: config.radius, half_height, id }
}

/// What tells a pawn apart: alike on all machines, or, in a game of one machine, just its own.
fn id_of(entity: Entity, id: Option<&NetId>) -> u32 {
    id.map_or(entity.index_u32(), |id| id.0.into())
}

fn give_capsules<M: MoveModel<State: HasCapsule>>(
    config: Res<CapsuleConfig>,
    pawns: Query<(Entity, &M::State, Option<&NetId>), Without<PawnCapsule>>,
    drawn: Query<(Entity, &DrawnPose, Option<&NetId>), (Without<PawnCapsule>, Without<M::State>)>,
    mut commands: Commands,
) {
    for (entity, state, id) in &pawns {
        let (state, id) = (state.capsule(), id_of(entity, id));
        commands.entity(entity).insert(capsule_at(&config, id, state.position, state.up, state.crouched));
    }
    for (entity, drawn, id) in &drawn {
        let id = id_of(entity, id);
        commands.entity(entity).insert(capsule_at(&config, id, drawn.pose.position, Vec3::Y, false));
    }
}

fn place_capsules<M: MoveModel<State: HasCapsule>>(
    config: Res<CapsuleConfig>,
    mut pawns: Query<(&M::State, &mut PawnCapsule)>,
) {
    for (state, mut capsule) in &mut pawns {
        let state = state.capsule();
        // The dead are in nobody's way.
        let crouched = state.crouched;
        let mut now = capsule_at(&config, capsule.id, state.position, state.up, crouched);
        if !state.alive {
            now.radius = 0.0;
        }
        capsule.set_if_neq(now);
    }
}

fn place_drawn<M: MoveModel<State: HasCapsule>>(
    config: Res<CapsuleConfig>,
    mut pawns: Query<(&DrawnPose, &mut PawnCapsule), Without<M::State>>,
) {
    for (drawn, mut capsule) in &mut pawns {
        let crouched = drawn.pose.crouch > 0.5;
        let mut now =
            capsule_at(&config, capsule.id, drawn.pose.position, drawn.pose.rotation * Vec3::Y, crouched);
        if !drawn.pose.alive {
            now.radius = 0.0;
        }
        capsule.set_if_neq(now);
    }
}

/// Gives dynamic bodies that a pawn runs into an impulse.
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
        if !state.is_sound() || !state.alive {
            continue;
        }
        let body = body_of(&config, state.crouched);
        touching(&context, state, body, &mut found);
        for (handle, point, normal, depth) in found.drain(..) {
            let Some(body) = context.rigidbody_set.bodies.get_mut(handle) else { continue };
            let mass = body.mass().max(0.01);
            let toward = state.world_velocity().dot(normal) - body.velocity_at_point(point).dot(normal);
            // What overlaps leaves gently even when nobody moves.
            let wanted = toward.max(0.0) + (depth * 4.0).min(1.0);
            let share = pushes.mass / (pushes.mass + mass);
            let impulse = (wanted * share * mass).min(pushes.max_impulse);
            if impulse.is_finite() && impulse > 1e-4 {
                body.apply_impulse_at_point(normal * impulse, point, true);
            }
        }
    }
}

/// The dynamic bodies that a pawn touches: where, which way they go, and how deep it is in.
fn touching(
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
