//! On a floor.

use bevy::prelude::*;

use crate::{
    CapsuleConfig, CapsuleState, MoveEvent, MovementMode,
    fall::fall,
    floor::{Floor, HOVER_MAX, along_floor, find_floor, hover_above},
    part::Parts,
    planes::{Planes, upright},
    step_up::step_up,
    sweep::{Body, sweep},
};

/// How much harder than it turns a pawn brakes, as in Unreal.
const BRAKING_FACTOR: f32 = 2.0;
/// Metres per second below which braking ends in a stop.
const STOP_SPEED: f32 = 0.1;

/// One step on a floor; in the air if there is none.
pub(crate) fn walk(
    config: &CapsuleConfig,
    parts: &Parts<'_>,
    body: Body,
    state: &mut CapsuleState,
    wish: Vec3,
    dt: f32,
    events: &mut Vec<MoveEvent>,
) {
    let down = config.step_height + HOVER_MAX;
    let Some(floor) = find_floor(parts, body, state.position, down, config.walkable_floor_y) else {
        state.mode = MovementMode::Falling;
        events.push(MoveEvent::WalkedOff);
        fall(config, parts, body, state, wish, dt, events);
        return;
    };
    let max_speed = if state.crouched { config.crouched_speed } else { config.max_walk_speed };
    state.velocity = walk_velocity(config, state.velocity.with_y(0.0), wish, max_speed, dt);
    slide(config, parts, body, state, floor, dt, events);
}

/// The level velocity after `dt` of input and friction.
fn walk_velocity(config: &CapsuleConfig, velocity: Vec3, wish: Vec3, max_speed: f32, dt: f32) -> Vec3 {
    let speed = velocity.length();
    let wished = wish.length();
    let limit = max_speed * wished.min(1.0);
    if wished < 1e-3 || speed > limit + 1e-3 {
        // Too fast for what is wanted: brake, but no further than to it.
        let drop = (config.ground_friction * BRAKING_FACTOR * speed + config.braking_deceleration) * dt;
        let braked = (speed - drop).max(limit);
        if braked < STOP_SPEED && wished < 1e-3 {
            return Vec3::ZERO;
        }
        let direction = velocity / speed.max(1e-6);
        let turned = (direction + (wish - direction * wished) * (config.ground_friction * dt).min(1.0))
            .normalize_or(direction);
        return turned * braked;
    }
    let turn = (config.ground_friction * dt).min(1.0);
    let turned = velocity + (wish / wished * speed - velocity) * turn;
    (turned + wish * (config.acceleration * dt)).clamp_length_max(limit)
}

/// Moves along the floor for `dt`: over slopes, up and down steps, along walls, off ledges.
pub(crate) fn slide(
    config: &CapsuleConfig,
    parts: &Parts<'_>,
    body: Body,
    state: &mut CapsuleState,
    floor: Floor,
    dt: f32,
    events: &mut Vec<MoveEvent>,
) {
    let mut feet = state.position;
    let wanted = state.velocity * dt;
    let mut flat = wanted;
    let mut face = floor.face;
    let mut walls = Planes::default();
    for _ in 0..4 {
        if flat.length_squared() < 1e-10 {
            break;
        }
        let motion = along_floor(flat, face);
        let Some(hit) = sweep(parts, body, feet, motion) else {
            feet += motion;
            break;
        };
        let fraction = (hit.distance / motion.length()).min(1.0);
        feet += motion * fraction;
        flat *= 1.0 - fraction;
        if hit.normal.y >= config.walkable_floor_y {
            // The foot of a ramp: on along it.
            face = hit.normal;
            continue;
        }
        let wall = upright(hit.normal);
        if let Some(climbed) = step_up(config, parts, body, feet, flat, wall, floor.point.y) {
            feet = climbed;
            break;
        }
        if wall == Vec3::ZERO {
            // A low ceiling over a ramp.
            state.velocity = Vec3::ZERO;
            break;
        }
        walls.push(wall);
        flat = walls.clip(flat);
        state.velocity = walls.clip(state.velocity);
        if flat.dot(wanted) <= 0.0 {
            break;
        }
    }
    state.position = feet;
    let down = config.step_height + HOVER_MAX;
    if let Some(floor) = find_floor(parts, body, feet, down, config.walkable_floor_y) {
        state.position = hover_above(parts, body, feet, &floor);
    } else {
        state.mode = MovementMode::Falling;
        events.push(MoveEvent::WalkedOff);
    }
    state.velocity.y = 0.0;
}
