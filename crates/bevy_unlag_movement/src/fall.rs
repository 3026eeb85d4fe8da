//! In the air.

use bevy::prelude::*;

use crate::{
    CapsuleConfig, CapsuleState, MoveEvent, MovementMode,
    floor::{HOVER_MAX, find_floor, hover_above},
    part::Parts,
    planes::{Planes, upright},
    sweep::{Body, sweep},
    walk,
};

/// One step in the air, until it lands.
pub(crate) fn fall(
    config: &CapsuleConfig,
    parts: &Parts<'_>,
    body: Body,
    state: &mut CapsuleState,
    wish: Vec3,
    dt: f32,
    events: &mut Vec<MoveEvent>,
) {
    let before = state.velocity;
    let after = air_velocity(config, before, wish, dt);
    // The mean of both is exact for a constant pull, so a jump is as high at any tick rate.
    let mut motion = (before + after) * (0.5 * dt);
    let mut left = dt;
    state.velocity = after;
    let mut walls = Planes::default();
    for _ in 0..4 {
        if motion.length_squared() < 1e-12 {
            break;
        }
        let Some(hit) = sweep(parts, body, state.position, motion) else {
            state.position += motion;
            break;
        };
        let fraction = (hit.distance / motion.length()).min(1.0);
        state.position += motion * fraction;
        motion *= 1.0 - fraction;
        left *= 1.0 - fraction;
        if motion.y <= 0.0
            && state.velocity.y <= 0.0
            && hit.normal.y > 1e-3
            && land(config, parts, body, state, left, events)
        {
            return;
        }
        walls.push(wall_normal(config, hit.normal, motion));
        motion = walls.clip(motion);
        if hit.normal.y < -0.5 && state.velocity.y > 0.0 {
            state.velocity.y = 0.0;
        }
        state.velocity = walls.clip(state.velocity);
    }
}

/// The velocity after `dt` of gravity and a little steering. Steering adds no speed beyond a walk's.
fn air_velocity(config: &CapsuleConfig, velocity: Vec3, wish: Vec3, dt: f32) -> Vec3 {
    let flat = velocity.with_y(0.0);
    let limit = flat.length().max(config.max_walk_speed);
    let steered = (flat + wish * (config.acceleration * config.air_control * dt)).clamp_length_max(limit);
    steered.with_y(velocity.y - config.gravity * dt).clamp_length_max(config.max_speed)
}

/// What a wall does to somebody in the air: a steep slope may slow a fall down but not turn a
/// run into a climb.
fn wall_normal(config: &CapsuleConfig, normal: Vec3, motion: Vec3) -> Vec3 {
    let steep = normal.y > 0.0 && normal.y < config.walkable_floor_y;
    let clipped = motion - normal * motion.dot(normal).min(0.0);
    let upright = upright(normal);
    if steep && clipped.y > motion.y.max(0.0) && upright != Vec3::ZERO { upright } else { normal }
}

/// Goes over to walking if the floor under the feet can be walked on; the rest of the time is
/// walked.
fn land(
    config: &CapsuleConfig,
    parts: &Parts<'_>,
    body: Body,
    state: &mut CapsuleState,
    left: f32,
    events: &mut Vec<MoveEvent>,
) -> bool {
    let Some(floor) = find_floor(parts, body, state.position, HOVER_MAX, config.walkable_floor_y) else {
        return false;
    };
    events.push(MoveEvent::Landed { speed: -state.velocity.y });
    state.mode = MovementMode::Walking;
    state.velocity.y = 0.0;
    state.position = hover_above(parts, body, state.position, &floor);
    walk::slide(config, parts, body, state, floor, left, events);
    true
}
