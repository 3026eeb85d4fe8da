//! Simulation step of the capsule.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::BoundingVolume;
use bevy_unlag_core::{MoveModel, PoseSample, Snapshot, StepContext, Tick, Up, upright_rotation};

use crate::{
    BaseId, CapsuleConfig, CapsuleInput, CapsulePush, CapsuleState, GravityField, ModePhysics, MoveEvent,
    MoveVolume, MovementMode, MoverBackend, MoverWorld, PawnCollision, VolumeId,
    ability::Hooks,
    authority::{debug_hash, meets_pawn, nudged, surroundings},
    escape::{Escape, escape},
    fall::fall,
    follow::{carried, follow, heading, remember},
    frame::Frame,
    free::{fly, swim},
    jump::jump,
    kcc,
    mover::Mover,
    part::Part,
    proxy::carry_on,
    push::drift_apart,
    scene::{Include, NearParts},
    slice::{Limits, Physics, Slice},
    state::{MAX_POSITION, MAX_TIMER},
    sweep::{Body, depth},
    walk::walk,
};

/// Capsule that walks, falls, jumps, crouches, swims and flies. Unreal's `CharacterMovementComponent`.
/// For custom moves of a game see [`CapsuleWith`](crate::CapsuleWith).
#[doc(alias = "UCharacterMovementComponent")]
#[doc(alias = "CGameMovement")]
#[doc(alias = "CharacterController")]
#[derive(Clone, Copy, Default, Debug)]
pub struct CapsuleModel;

impl MoveModel for CapsuleModel {
    type Config = CapsuleConfig;
    type Input = CapsuleInput;
    type State = CapsuleState;
    type Event = MoveEvent;
    type Push = CapsulePush;
    type World = MoverWorld<'static, 'static>;

    fn step(
        config: &CapsuleConfig,
        state: &CapsuleState,
        input: &CapsuleInput,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
        events: &mut Vec<MoveEvent>,
    ) -> CapsuleState {
        step(config, state, input, ctx, world, &mut (), events)
    }

    fn position(state: &CapsuleState) -> Vec3 {
        state.position
    }

    fn snapshot(state: &CapsuleState, tick: Tick) -> Snapshot {
        Snapshot {
            up: Up::new(state.up),
            yaw: state.yaw,
            pitch: (state.pitch >> 8) as i8,
            crouch: if state.crouched { 255 } else { 0 },
            alive: state.alive,
            grounded: state.is_grounded(),
            falling: state.mode == MovementMode::Falling,
            teleports: state.teleports,
            ..Snapshot::new(tick, state.position, state.world_velocity())
        }
    }

    fn velocity(state: &CapsuleState) -> Vec3 {
        state.world_velocity()
    }

    fn base(state: &CapsuleState) -> u16 {
        state.base.0
    }

    fn turns_with_base(config: &CapsuleConfig) -> bool {
        config.turn_with_base
    }

    fn proxy_step(
        config: &CapsuleConfig,
        pose: &PoseSample,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
    ) -> PoseSample {
        carry_on(config, pose, ctx, world)
    }

    fn eye(config: &CapsuleConfig, state: &CapsuleState) -> Vec3 {
        state.eye(config)
    }

    fn look(input: &CapsuleInput) -> (u16, i16) {
        let input = input.bounded();
        (input.yaw, input.pitch)
    }

    fn kind(state: &CapsuleState) -> u32 {
        state.kind()
    }

    fn teleports(state: &CapsuleState) -> u8 {
        state.teleports
    }

    fn push(_config: &CapsuleConfig, state: &CapsuleState, push: &CapsulePush) -> CapsuleState {
        push.on(state)
    }

    fn unattended(last: &CapsuleInput, axes: bool) -> CapsuleInput {
        last.unattended(axes)
    }

    fn combines(older: &CapsuleInput, newer: &CapsuleInput) -> bool {
        older.combines(newer)
    }

    fn nudged(
        config: &CapsuleConfig,
        state: &CapsuleState,
        by: Vec3,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
    ) -> Option<CapsuleState> {
        nudged(config, state, by, ctx, world)
    }

    fn meets_pawn(
        config: &CapsuleConfig,
        state: &CapsuleState,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
    ) -> bool {
        meets_pawn(config, state, ctx, world)
    }

    fn config_hash(config: &CapsuleConfig, _world: &MoverWorld<'_, '_>) -> u32 {
        debug_hash(config)
    }

    fn surroundings_hash(config: &CapsuleConfig, state: &CapsuleState, world: &MoverWorld<'_, '_>) -> u32 {
        surroundings(config, state, world)
    }

    fn level_hash(world: &MoverWorld<'_, '_>) -> u32 {
        world.scene.level_hash()
    }

    fn outline(config: &CapsuleConfig, state: &CapsuleState) -> (f32, f32) {
        let half_height = if state.crouched { config.crouched_half_height } else { config.half_height };
        (config.radius, half_height)
    }
}

/// Simulates one step with the hooks of abilities.
pub(crate) fn step(
    config: &CapsuleConfig,
    state: &CapsuleState,
    input: &CapsuleInput,
    ctx: &StepContext,
    world: &MoverWorld<'_, '_>,
    hooks: &mut impl Hooks,
    events: &mut Vec<MoveEvent>,
) -> CapsuleState {
    // Rapier panics on values that are not finite.
    let first_event = events.len();
    let Some(dt) = seconds_of(config, ctx).filter(|_| state.is_sound()) else {
        return *state;
    };
    let seconds = world.step_seconds(ctx);
    let mut next = *state;
    next.velocity = next.velocity.clamp_length_max(config.max_speed);
    let volume = enter_volume(config, world, &mut next, events);
    let up = up_in(config, volume.as_ref(), next.position);
    if up != next.up {
        // The reference direction of the heading turns with up, and quickly so near the far side of a
        // planet: compensate, so that the view does not turn.
        let turned = upright_rotation(up).inverse() * between(next.up, up) * upright_rotation(next.up);
        next.base_turn = next.base_turn.wrapping_add(heading(turned));
        next.up = up;
    }
    let raw_jump = input.jump;
    let input = taken_in(&hooks.body_input(*input), volume.as_ref(), &mut next);

    let frame = Frame::new(next.up, next.position);
    let include = if config.pawns == PawnCollision::Ignore { Include::Bases } else { Include::Pawns };
    let mask = config.blocked_by;
    let next = world.scene.with_parts(ctx.entity, seconds, mask, frame, include, |near| {
        let mut slice = Slice {
            config,
            scene: &world.scene,
            events,
            input,
            frame,
            feet: frame.to_local(next.position),
            velocity: frame.direction_to_local(next.velocity),
            body: body_of(config, next.crouched),
            dt,
            carried_by: Vec3::ZERO,
            raw_jump,
            seconds,
            volume,
            held_up: 0.0,
            caught: false,
            limits: Limits::default(),
            state: next,
        };
        run(&mut slice, near, world, hooks, ctx, dt);
        let from = (state.mode, state.base);
        slice.say_changes(from);
        slice.finish()
    });
    if next.is_sound() {
        next
    } else {
        events.truncate(first_event);
        *state
    }
}

fn run(
    slice: &mut Slice<'_>,
    near: &mut NearParts<'_>,
    world: &MoverWorld<'_, '_>,
    hooks: &mut impl Hooks,
    ctx: &StepContext,
    dt: f32,
) {
    let config = slice.config;
    let base = slice.state.base;
    slice.limits = slice.default_limits();
    let most = slice_seconds(config);
    let carried = carried(slice, dt);
    let mut region = slice.region(dt.min(most));
    if let Some(carried) = carried.as_ref().filter(|carried| !carried.jumps) {
        region.merge(&slice.body.aabb(carried.feet).loosened(config.step_height.max(0.0)));
    }
    near.cover(region);
    if let Some(carried) = &carried {
        follow(slice, near.parts(), carried);
        near.cover(slice.region(0.0));
    }
    crouch(slice, near.parts());
    hooks.begin(&mut Mover::new(slice, near, ctx, dt));
    jump(slice, dt);

    let mut left = dt;
    for _ in 0..config.max_slices.max(1) {
        if left < 1e-6 {
            break;
        }
        // Unreal's slices: the last two share the remaining time.
        let part = if left > most { most.min(left * 0.5) } else { left };
        left -= part;
        slice.dt = part;
        let defaults = slice.default_limits();
        slice.limits = hooks.limits(&Mover::new(slice, near, ctx, part), defaults);
        // Whatever changed the velocity: it must not leave the region that is looked up.
        slice.velocity = slice.velocity.clamp_length_max(config.max_speed);
        near.cover(slice.region(part));
        let parts = match config.pawns {
            PawnCollision::Push => {
                let (own, reach) = (slice.scene.pawn_id(ctx.entity), config.pawn_push_speed * part);
                let (feet, solid) = drift_apart(near.parts(), slice.body, slice.feet, own, reach);
                slice.feet = feet;
                solid
            }
            _ => near.parts(),
        };
        match slice.physics() {
            Physics::Ability => hooks.custom(&mut Mover::new(slice, near, ctx, part), part),
            _ if config.backend == MoverBackend::Rapier => {
                kcc::move_by(slice, &world.rapier, ctx.entity, part);
            }
            Physics::Walk => walk(slice, parts, part),
            Physics::Fall => fall(slice, parts, part),
            Physics::Swim => swim(slice, parts, part),
            Physics::Fly => fly(slice, parts, part),
        }
    }
    // Whatever the step did, its end must be where the level is known.
    stay_out(slice, near);
    hooks.end(&mut Mover::new(slice, near, ctx, dt));

    if slice.physics() != Physics::Walk && slice.state.base != BaseId::NONE {
        slice.set_base(BaseId::NONE);
    }
    remember(slice, base, carried.as_ref());
    let airborne = matches!(slice.physics(), Physics::Fall);
    let stands = slice.caught || matches!(slice.physics(), Physics::Walk | Physics::Swim | Physics::Fly);
    if stands {
        slice.state.air_seconds = 0.0;
        slice.state.jumps = 0;
    } else if airborne {
        slice.state.air_seconds = (slice.state.air_seconds + dt).min(MAX_TIMER);
    }
}

impl Slice<'_> {
    /// Emits events for a changed mode or base.
    fn say_changes(&mut self, (mode, base): (MovementMode, BaseId)) {
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

/// Returns the duration of a step in seconds, or `None` if there is nothing to simulate.
pub(crate) fn seconds_of(config: &CapsuleConfig, ctx: &StepContext) -> Option<f32> {
    let slices = f32::from(config.max_slices.max(1));
    // A NaN is not a duration, and `min` would drop it.
    (ctx.dt > 0.0).then(|| ctx.dt.min(slice_seconds(config) * slices))
}

/// Returns the longest slice of a step in seconds.
fn slice_seconds(config: &CapsuleConfig) -> f32 {
    config.max_slice_seconds.clamp(1e-3, 1.0)
}

/// Returns the capsule for a stance.
pub(crate) fn body_of(config: &CapsuleConfig, crouched: bool) -> Body {
    let half_height = if crouched { config.crouched_half_height } else { config.half_height };
    Body::new(config.radius, half_height)
}

/// Filters the input and applies its view to the state. A disabled pawn keeps its view and its stance
/// and has no other input.
fn taken_in(input: &CapsuleInput, volume: Option<&MoveVolume>, state: &mut CapsuleState) -> CapsuleInput {
    let idle = CapsuleInput { crouch: state.crouched, ..CapsuleInput::default() };
    if state.disabled {
        return idle;
    }
    let input = input.bounded();
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
    if wet && swims && is_physical(config, state) {
        state.mode = submerged;
    } else if was_wet && !wet && swims && state.mode == submerged {
        state.mode = config.transitions_of(state.mode).surfaced;
        // No coyote jump off the water.
        state.air_seconds = MAX_TIMER;
    }
    volume
}

/// Returns whether water changes the mode: not for a pawn that flies or that an ability moves.
fn is_physical(config: &CapsuleConfig, state: &CapsuleState) -> bool {
    match state.mode {
        MovementMode::Walking | MovementMode::Falling => true,
        MovementMode::Swimming | MovementMode::Flying => false,
        mode @ MovementMode::Custom(_) => config
            .custom_mode(mode)
            .is_none_or(|custom| matches!(custom.physics, ModePhysics::Walk | ModePhysics::Fall)),
    }
}

/// Returns the up direction at a position.
fn up_in(config: &CapsuleConfig, volume: Option<&MoveVolume>, position: Vec3) -> Vec3 {
    let up = match volume.and_then(|volume| volume.gravity) {
        Some(GravityField::Uniform(pull)) => -pull,
        Some(GravityField::Towards { centre, .. }) => position - centre,
        None => config.up,
    };
    up.try_normalize().unwrap_or(Vec3::Y)
}

/// Returns the shortest rotation between two unit vectors.
fn between(from: Vec3, to: Vec3) -> Quat {
    let (axis, w) = (from.cross(to), 1.0 + from.dot(to));
    if w < 1e-6 { Quat::IDENTITY } else { Quat::from_xyzw(axis.x, axis.y, axis.z, w).normalize() }
}

/// Crouches or stands up, with the feet in place; standing up waits until there is room.
fn crouch(slice: &mut Slice<'_>, parts: &[Part]) {
    let standing = body_of(slice.config, false);
    let stance = matches!(slice.physics(), Physics::Walk | Physics::Fall);
    let wanted = slice.input.crouch && stance;
    if wanted && !slice.state.crouched {
        slice.state.crouched = true;
        slice.events.push(MoveEvent::Crouched);
    } else if !wanted && slice.state.crouched && depth(parts, standing, slice.feet) <= 0.0 {
        slice.state.crouched = false;
        slice.events.push(MoveEvent::Stood);
    }
    slice.body = body_of(slice.config, slice.state.crouched);
}

/// Pushes the pawn out of obstacles at the end of a step.
fn stay_out(slice: &mut Slice<'_>, near: &mut NearParts<'_>) {
    near.cover(slice.region(0.0));
    let start = slice.frame.to_local(slice.state.position);
    let Some(Escape { feet, back, stuck }) = escape(near, slice.body, slice.feet, start) else { return };
    slice.feet = feet;
    if back {
        slice.velocity = Vec3::ZERO;
    }
    if let Some(depth) = stuck {
        slice.events.push(MoveEvent::Stuck { depth });
    }
}
