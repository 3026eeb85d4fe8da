//! Backend with rapier's character controller, for comparison. Feature `rapier_controller`.

use bevy::prelude::*;
use bevy_rapier3d::{
    parry::{math::Pose, query::DefaultQueryDispatcher, shape::Capsule},
    plugin::ReadRapierContext,
    rapier::{
        control::{CharacterAutostep, CharacterLength, KinematicCharacterController},
        prelude::{Collider, ColliderHandle, QueryFilter},
    },
};

use crate::{
    base::BaseId,
    event::MoveEvent,
    falling::air_velocity,
    step_state::{PawnStep, Physics},
    velocity::accelerated,
};

/// Gap in metres that rapier's controller keeps to everything, about the same as in the other backend.
const OFFSET: f32 = 0.02;

/// Moves for `dt` with the velocities of this crate, but with rapier's collision response.
pub(crate) fn move_by(pawn: &mut PawnStep<'_>, rapier: &ReadRapierContext<'_, '_>, own: Entity, dt: f32) {
    let Ok(context) = rapier.single() else { return };
    // Rapier's controller does not support movement bases.
    pawn.set_base(BaseId::NONE);
    let config = pawn.config;
    let physics = pawn.physics();
    let forces = pawn.forces();
    let before = pawn.velocity;
    pawn.velocity = match physics {
        Physics::Walk => accelerated(config, &forces, before.with_y(0.0), pawn.wish(), dt),
        Physics::Fall => air_velocity(pawn, dt),
        _ => accelerated(config, &forces, before, pawn.free_wish(), dt),
    };
    let motion = match physics {
        Physics::Fall => (before + pawn.velocity) * (0.5 * dt),
        // Rapier snaps a pawn to the ground only if it moves towards the ground.
        Physics::Walk => pawn.velocity * dt - Vec3::Y * (config.gravity * dt * dt),
        _ => pawn.velocity * dt,
    };

    let not_own = |_: ColliderHandle, collider: &Collider| collider.user_data as u64 != own.to_bits();
    let filter = QueryFilter::only_fixed().exclude_sensors().predicate(&not_own);
    let pipeline = context.simulation.broad_phase.as_query_pipeline(
        &DefaultQueryDispatcher,
        &context.rigidbody_set.bodies,
        &context.colliders.colliders,
        filter,
    );
    let walking = physics == Physics::Walk;
    let controller = KinematicCharacterController {
        up: pawn.state.up,
        offset: CharacterLength::Absolute(OFFSET),
        max_slope_climb_angle: config.walkable_floor_y.clamp(-1.0, 1.0).acos(),
        min_slope_slide_angle: config.walkable_floor_y.clamp(-1.0, 1.0).acos(),
        autostep: walking.then_some(CharacterAutostep {
            max_height: CharacterLength::Absolute(config.step_height),
            min_width: CharacterLength::Absolute(config.radius * 0.5),
            include_dynamic_bodies: false,
        }),
        snap_to_ground: walking.then_some(CharacterLength::Absolute(config.step_height)),
        ..KinematicCharacterController::default()
    };
    let half = pawn.body.core * 0.5;
    let capsule = Capsule::new_y(half, pawn.body.radius);
    let frame = pawn.frame.pose();
    let middle = pawn.frame.to_world(pawn.feet + Vec3::Y * (half + pawn.body.radius));
    let pose = Pose::from_parts(middle, frame.rotation);
    let motion = pawn.frame.direction_to_world(motion);
    let moved = controller.move_shape(dt, &pipeline, &capsule, &pose, motion, |_| {});
    let moved_local = pawn.frame.direction_to_local(moved.translation);
    if !moved_local.is_finite() {
        return;
    }
    pawn.feet += moved_local;

    // The controller returns no velocity: remove the part that collisions prevented.
    let real = moved_local / dt;
    let level = pawn.velocity.with_y(0.0);
    let kept = real.with_y(0.0).clamp_length_max(level.length());
    pawn.velocity = if walking { kept } else { kept.with_y(pawn.velocity.y) };
    match physics {
        Physics::Walk if !moved.grounded => {
            pawn.events.push(MoveEvent::WalkedOffLedge);
            pawn.leave_floor();
        }
        Physics::Fall if moved.grounded && pawn.velocity.y <= 0.0 => {
            pawn.events.push(MoveEvent::Landed { speed: -pawn.velocity.y });
            let landed = config.transitions_of(pawn.state.mode).landed;
            pawn.set_mode(landed);
            pawn.velocity.y = 0.0;
            pawn.state.jumps = 0;
        }
        Physics::Fall if pawn.velocity.y > 0.0 && real.y < pawn.velocity.y * 0.25 => pawn.velocity.y = 0.0,
        Physics::Swim | Physics::Fly => pawn.velocity = real,
        _ => {}
    }
}
