//! Simulation step of the capsule.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::BoundingVolume;
use bevy_unlag_core::{StepContext, upright_rotation};

use crate::{
    ability_hooks::AbilityHooks,
    base::BaseId,
    base_motion::{heading, move_with_base, planned_base_motion, store_base_position},
    body::body_of,
    config::{CapsuleConfig, PawnCollision},
    depenetration::{Depenetration, depenetrate},
    event::MoveEvent,
    falling::fall,
    frame::Frame,
    free_movement::{fly, swim},
    input::CapsuleInput,
    jumping::jump,
    mode::{ModePhysics, MovementMode},
    mover::Mover,
    part::Part,
    pawn_collision::separate_pawns,
    scene::{Include, NearParts},
    state::{CapsuleState, MAX_POSITION, MAX_TIMER},
    step_state::{Limits, PawnStep, Physics},
    sweep::depth,
    volume::{GravityField, MoveVolume, VolumeId},
    walking::walk,
    world::MoverWorld,
};

/// Simulates one step with the hooks of abilities.
pub(crate) fn step(
    config: &CapsuleConfig,
    state: &CapsuleState,
    input: &CapsuleInput,
    ctx: &StepContext,
    world: &MoverWorld<'_, '_>,
    hooks: &mut impl AbilityHooks,
    events: &mut Vec<MoveEvent>,
) -> CapsuleState {
    let config = config.class(state.class);
    // Rapier panics on values that are not finite.
    let first_event = events.len();
    let Some(dt) = seconds_of(config, state, ctx).filter(|_| state.is_valid()) else {
        return *state;
    };
    let seconds = world.step_seconds(ctx);
    let mut next = *state;
    next.velocity = next.velocity.clamp_length_max(config.max_speed);
    let volume = enter_volume(config, world, &mut next, events);
    let up = up_at(config, volume.as_ref(), next.position);
    if up != next.up {
        // The reference direction of the heading turns with up, and quickly so near the far side of a
        // planet: compensate, so that the view does not turn.
        let turned =
            upright_rotation(up).inverse() * rotation_between(next.up, up) * upright_rotation(next.up);
        next.base_turn = next.base_turn.wrapping_add(heading(turned));
        next.up = up;
    }
    let raw_jump = input.jump;
    let input = apply_input(&hooks.body_input(*input), volume.as_ref(), &mut next);

    let frame = Frame::new(next.up, next.position);
    let include = if config.pawns == PawnCollision::Ignore { Include::Bases } else { Include::Pawns };
    let mask = config.blocked_by;
    let next = world.scene.with_parts(ctx.entity, seconds, mask, frame, include, |near| {
        let mut pawn = PawnStep {
            config,
            scene: &world.scene,
            events,
            input,
            frame,
            feet: frame.to_local(next.position),
            velocity: frame.direction_to_local(next.velocity),
            body: body_of(config, next.crouched),
            dt,
            base_displacement: Vec3::ZERO,
            raw_jump,
            seconds,
            volume,
            gravity_suspended: 0.0,
            wedged: false,
            limits: Limits::default(),
            state: next,
        };
        run(&mut pawn, near, world, hooks, ctx, dt);
        let from = (state.mode, state.base);
        pawn.emit_changes(from);
        pawn.finish()
    });
    if next.is_valid() {
        next
    } else {
        events.truncate(first_event);
        *state
    }
}

fn run(
    pawn: &mut PawnStep<'_>,
    near: &mut NearParts<'_>,
    world: &MoverWorld<'_, '_>,
    hooks: &mut impl AbilityHooks,
    ctx: &StepContext,
    dt: f32,
) {
    let config = pawn.config;
    let base = pawn.state.base;
    pawn.limits = pawn.default_limits();
    let most = slice_seconds(config);
    let planned_base_motion = planned_base_motion(pawn, dt);
    let mut region = pawn.region(dt.min(most));
    if let Some(planned_base_motion) =
        planned_base_motion.as_ref().filter(|planned_base_motion| !planned_base_motion.is_teleport)
    {
        region.merge(&pawn.body.aabb(planned_base_motion.feet).loosened(config.step_height.max(0.0)));
    }
    near.cover(region);
    if let Some(planned_base_motion) = &planned_base_motion {
        move_with_base(pawn, near.parts(), planned_base_motion);
        near.cover(pawn.region(0.0));
    }
    crouch(pawn, near.parts());
    hooks.begin(&mut Mover::new(pawn, near, ctx, dt));
    jump(pawn, dt);

    let mut left = dt;
    for _ in 0..config.max_slices.max(1) {
        if left < 1e-6 {
            break;
        }
        // Unreal's slices: the last two share the remaining time.
        let part = if left > most { most.min(left * 0.5) } else { left };
        left -= part;
        pawn.dt = part;
        let defaults = pawn.default_limits();
        pawn.limits = hooks.limits(&Mover::new(pawn, near, ctx, part), defaults);
        // Hooks may have changed the velocity, but the pawn must not leave the region that is looked up.
        pawn.velocity = pawn.velocity.clamp_length_max(config.max_speed);
        near.cover(pawn.region(part));
        let parts = match config.pawns {
            PawnCollision::Push => {
                let (own, reach) = (world.scene.pawn_id(ctx.entity), config.pawn_push_speed * part);
                let (feet, solid) = separate_pawns(near.parts(), pawn.body, pawn.feet, own, reach);
                pawn.feet = feet;
                solid
            }
            _ => near.parts(),
        };
        match pawn.physics() {
            Physics::Ability => hooks.custom(&mut Mover::new(pawn, near, ctx, part), part),
            #[cfg(feature = "rapier_controller")]
            _ if config.backend == crate::config::MoverBackend::Rapier => {
                crate::rapier_backend::move_by(pawn, &world.rapier, ctx.entity, part);
            }
            Physics::Walk => walk(pawn, parts, part),
            Physics::Fall => fall(pawn, parts, part),
            Physics::Swim => swim(pawn, parts, part),
            Physics::Fly => fly(pawn, parts, part),
        }
    }
    // After any kind of step, its end must be where the level is known.
    resolve_penetration(pawn, near);
    hooks.end(&mut Mover::new(pawn, near, ctx, dt));

    if pawn.physics() != Physics::Walk && pawn.state.base != BaseId::NONE {
        pawn.set_base(BaseId::NONE);
    }
    store_base_position(pawn, base, planned_base_motion.as_ref());
    let airborne = matches!(pawn.physics(), Physics::Fall);
    let stands = pawn.wedged || matches!(pawn.physics(), Physics::Walk | Physics::Swim | Physics::Fly);
    if stands {
        pawn.state.air_seconds = 0.0;
        pawn.state.jumps = 0;
    } else if airborne {
        pawn.state.air_seconds = (pawn.state.air_seconds + dt).min(MAX_TIMER);
    }
}

impl PawnStep<'_> {
    /// Emits events for a changed mode or base.
    fn emit_changes(&mut self, (mode, base): (MovementMode, BaseId)) {
        if self.state.mode != mode {
            self.events.push(MoveEvent::ModeChanged { from: mode, to: self.state.mode });
        }
        if self.state.base != base {
            self.events.push(MoveEvent::BaseChanged { from: base, to: self.state.base });
        }
    }

    /// Returns the state at the end of the step.
    fn finish(self) -> CapsuleState {
        let mut state = self.state;
        // If the frame is world space, these are the same bits.
        state.position = self.frame.to_world(self.feet);
        state.velocity = self.frame.direction_to_world(self.velocity);
        let limit = Vec3::splat(MAX_POSITION);
        state.position = state.position.clamp(-limit, limit);
        state
    }
}

/// Returns the duration of a step in seconds of the pawn's own time, or `None` if there is nothing to simulate.
pub(crate) fn seconds_of(config: &CapsuleConfig, state: &CapsuleState, ctx: &StepContext) -> Option<f32> {
    let slices = f32::from(config.max_slices.max(1));
    // A NaN is not a duration, and `min` would drop it.
    let own_seconds = ctx.dt * state.time_dilation.factor();
    (ctx.dt > 0.0).then(|| own_seconds.min(slice_seconds(config) * slices))
}

/// Returns the longest slice of a step in seconds.
fn slice_seconds(config: &CapsuleConfig) -> f32 {
    config.max_slice_seconds.clamp(1e-3, 1.0)
}

/// Filters the input and applies its view to the state. A disabled pawn keeps its view and its stance
/// and has no other input.
fn apply_input(input: &CapsuleInput, volume: Option<&MoveVolume>, state: &mut CapsuleState) -> CapsuleInput {
    let idle = CapsuleInput { crouch: state.crouched, ..CapsuleInput::default() };
    if state.disabled {
        return idle;
    }
    let input = input.clamped();
    state.yaw = input.yaw.wrapping_add(state.base_turn);
    state.pitch = input.pitch;
    if volume.is_some_and(|volume| volume.ignore_input) { idle } else { input }
}

/// Updates the volume of the pawn, applies the effects of entering it, and returns it.
fn enter_volume(
    config: &CapsuleConfig,
    world: &MoverWorld<'_, '_>,
    state: &mut CapsuleState,
    events: &mut Vec<MoveEvent>,
) -> Option<MoveVolume> {
    // Uses the standing capsule also while crouched: otherwise a pawn that crouches in shallow water
    // would swim, therefore stand up, and therefore stop swimming.
    let middle = state.position + state.up * config.half_height;
    let volume = world.scene.volume_at(middle);
    let id = volume.map_or(VolumeId::NONE, |volume| volume.id);
    let was_wet = world.scene.volume(state.volume).is_some_and(|volume| volume.water);
    if id != state.volume {
        events.push(MoveEvent::VolumeChanged { from: state.volume, to: id });
        state.volume = id;
        if let Some(velocity) = volume.and_then(|volume| volume.launch).filter(|v| v.is_finite()) {
            // The launch does not depend on the speed of the pawn before.
            state.velocity = Vec3::ZERO;
            state.leave_base();
            state.launch(velocity);
            events.push(MoveEvent::Launched { velocity });
        }
    }
    let submerged = config.transitions_of(state.mode).submerged;
    // A table with a submerged mode of walking or falling ignores water.
    let swims = !matches!(submerged, MovementMode::Walking | MovementMode::Falling);
    let wet = volume.is_some_and(|volume| volume.water);
    if wet && swims && is_affected_by_water(config, state) {
        state.mode = submerged;
    } else if was_wet && !wet && swims && state.mode == submerged {
        state.mode = config.transitions_of(state.mode).surfaced;
        // No coyote jump off the water.
        state.air_seconds = MAX_TIMER;
    }
    volume
}

/// Returns whether water changes the mode: not for a pawn that flies or that an ability moves.
fn is_affected_by_water(config: &CapsuleConfig, state: &CapsuleState) -> bool {
    match state.mode {
        MovementMode::Walking | MovementMode::Falling => true,
        MovementMode::Swimming | MovementMode::Flying => false,
        mode @ MovementMode::Custom(_) => config
            .custom_mode(mode)
            .is_none_or(|custom| matches!(custom.physics, ModePhysics::Walk | ModePhysics::Fall)),
    }
}

/// Returns the up direction at a position.
pub(crate) fn up_at(config: &CapsuleConfig, volume: Option<&MoveVolume>, position: Vec3) -> Vec3 {
    let up = match volume.and_then(|volume| volume.gravity) {
        Some(GravityField::Uniform(pull)) => -pull,
        Some(GravityField::Towards { centre, .. }) => position - centre,
        None => config.up,
    };
    up.try_normalize().unwrap_or(Vec3::Y)
}

/// Returns the shortest rotation between two unit vectors.
fn rotation_between(from: Vec3, to: Vec3) -> Quat {
    let (axis, w) = (from.cross(to), 1.0 + from.dot(to));
    if w < 1e-6 { Quat::IDENTITY } else { Quat::from_xyzw(axis.x, axis.y, axis.z, w).normalize() }
}

/// Crouches or stands up, with the feet in place; standing up waits until there is room.
fn crouch(pawn: &mut PawnStep<'_>, parts: &[Part]) {
    let standing = body_of(pawn.config, false);
    let stance = matches!(pawn.physics(), Physics::Walk | Physics::Fall);
    let wanted = pawn.input.crouch && stance;
    if wanted && !pawn.state.crouched {
        pawn.state.crouched = true;
        pawn.events.push(MoveEvent::Crouched);
    } else if !wanted && pawn.state.crouched && depth(parts, standing, pawn.feet) <= 0.0 {
        pawn.state.crouched = false;
        pawn.events.push(MoveEvent::Stood);
    }
    pawn.body = body_of(pawn.config, pawn.state.crouched);
}

/// Pushes the pawn out of obstacles at the end of a step.
fn resolve_penetration(pawn: &mut PawnStep<'_>, near: &mut NearParts<'_>) {
    near.cover(pawn.region(0.0));
    let start = pawn.frame.to_local(pawn.state.position);
    let Some(Depenetration { feet, was_reset, stuck }) = depenetrate(near, pawn.body, pawn.feet, start)
    else {
        return;
    };
    pawn.feet = feet;
    if was_reset {
        pawn.velocity = Vec3::ZERO;
    }
    if let Some(depth) = stuck {
        pawn.events.push(MoveEvent::Stuck { depth });
    }
}
