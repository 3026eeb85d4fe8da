//! The step itself.

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::{Aabb, BoundingVolume};
use bevy_unlag_core::{MoveModel, Snapshot, StepContext, Tick};

use crate::{
    CapsuleConfig, CapsuleInput, CapsuleState, MoveEvent, MovementMode, MoverWorld,
    fall::fall,
    part::Parts,
    state::MAX_POSITION,
    sweep::{Body, SKIN, depth, push_out},
    walk::walk,
};

/// Seconds that one step covers at most.
const MAX_DT: f32 = 0.1;
/// Metres that a pawn may be inside something at the end of a step.
const MAX_DEPTH: f32 = 0.02;

/// An upright capsule that walks, falls, jumps and crouches.
#[derive(Clone, Copy, Default, Debug)]
pub struct CapsuleModel;

impl MoveModel for CapsuleModel {
    type Config = CapsuleConfig;
    type Input = CapsuleInput;
    type State = CapsuleState;
    type Event = MoveEvent;
    type World = MoverWorld<'static, 'static>;

    fn step(
        config: &CapsuleConfig,
        state: &CapsuleState,
        input: &CapsuleInput,
        ctx: &StepContext,
        world: &MoverWorld<'_, '_>,
        events: &mut Vec<MoveEvent>,
    ) -> CapsuleState {
        // Rapier panics on numbers that are none.
        let sound = state.is_finite() && ctx.dt.is_finite() && ctx.dt > 0.0;
        let far = state.position.abs().max_element() > MAX_POSITION;
        if !sound || far {
            return *state;
        }
        let dt = ctx.dt.min(MAX_DT);
        let mut next = *state;
        next.velocity = next.velocity.clamp_length_max(config.max_speed);
        let input = taken_in(input, &mut next);

        let standing = Body::new(config.radius, config.half_height);
        let parts = world.gather(region(config, standing, &next, dt), ctx.entity);
        let first_event = events.len();
        let body = crouch(config, &parts, &mut next, input.crouch, events);
        let pressed = input.jump && !next.jump_held;
        next.jump_held = input.jump;
        if pressed && next.is_grounded() && !next.crouched {
            next.velocity.y = config.jump_speed;
            next.mode = MovementMode::Falling;
            events.push(MoveEvent::Jumped);
        }
        match next.mode {
            MovementMode::Walking => walk(config, &parts, body, &mut next, input.wish(), dt, events),
            MovementMode::Falling => fall(config, &parts, body, &mut next, input.wish(), dt, events),
        }
        stay_out(&parts, body, state, &mut next);
        next.position = next.position.clamp(Vec3::splat(-MAX_POSITION), Vec3::splat(MAX_POSITION));
        if next.is_finite() {
            next
        } else {
            events.truncate(first_event);
            *state
        }
    }

    fn position(state: &CapsuleState) -> Vec3 {
        state.position
    }

    fn snapshot(state: &CapsuleState, tick: Tick) -> Snapshot {
        Snapshot {
            yaw: state.yaw,
            pitch: (state.pitch >> 8) as i8,
            crouch: if state.crouched { 255 } else { 0 },
            alive: state.alive,
            grounded: state.is_grounded(),
            teleports: state.teleports & 15,
            ..Snapshot::new(tick, state.position, state.velocity)
        }
    }

    fn eye(config: &CapsuleConfig, state: &CapsuleState) -> Vec3 {
        state.eye(config)
    }

    fn kind(state: &CapsuleState) -> u32 {
        state.kind()
    }

    fn teleports(state: &CapsuleState) -> u8 {
        state.teleports
    }
}

/// The input that counts. A disabled pawn keeps its view and its stance and wants nothing.
fn taken_in(input: &CapsuleInput, state: &mut CapsuleState) -> CapsuleInput {
    if state.disabled {
        return CapsuleInput { crouch: state.crouched, ..CapsuleInput::default() };
    }
    let input = input.bounded();
    state.yaw = input.yaw;
    state.pitch = input.pitch;
    input
}

/// The box that holds all that this step can touch, whatever happens in it.
fn region(config: &CapsuleConfig, body: Body, state: &CapsuleState, dt: f32) -> Aabb {
    let gain = (config.acceleration + config.gravity) * dt + config.jump_speed;
    let reach = (state.velocity.length() + gain) * dt + config.step_height + SKIN + 0.1;
    body.aabb(state.position).loosened(reach.max(0.0))
}

/// Shrinks or grows the capsule, feet kept; growing waits until there is room.
fn crouch(
    config: &CapsuleConfig,
    parts: &Parts<'_>,
    state: &mut CapsuleState,
    wanted: bool,
    events: &mut Vec<MoveEvent>,
) -> Body {
    let standing = Body::new(config.radius, config.half_height);
    if wanted && !state.crouched {
        state.crouched = true;
        events.push(MoveEvent::Crouched);
    } else if !wanted && state.crouched && depth(parts, standing, state.position) <= 0.0 {
        state.crouched = false;
        events.push(MoveEvent::Stood);
    }
    if state.crouched { Body::new(config.radius, config.crouched_half_height) } else { standing }
}

/// Ends no step inside anything: pushes out, and back to the start if that does not help.
fn stay_out(parts: &Parts<'_>, body: Body, before: &CapsuleState, next: &mut CapsuleState) {
    let inside = depth(parts, body, next.position);
    if inside <= 0.0 {
        return;
    }
    let out = push_out(parts, body, next.position);
    let left = depth(parts, body, out);
    if left <= MAX_DEPTH || left < depth(parts, body, before.position) {
        next.position = out;
    } else {
        next.position = before.position;
        next.velocity = Vec3::ZERO;
    }
}
