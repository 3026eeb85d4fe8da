//! Falling and air control.

use bevy::prelude::*;

use crate::{
    base::BaseId,
    config::AccelerationModel,
    event::MoveEvent,
    floor::{HOVER_MAX, find_floor, hover_above},
    floor_slide::slide,
    part::Part,
    planes::{Planes, upright},
    step_state::{PawnStep, Physics},
    sweep::sweep,
    velocity::quake_accelerate,
};

/// Moves in the air for `dt`, or until the pawn lands.
pub(crate) fn fall(pawn: &mut PawnStep<'_>, parts: &[Part], dt: f32) {
    let config = pawn.config;
    let before = pawn.velocity;
    let after = air_velocity(pawn, dt);
    pawn.gravity_suspended = (pawn.gravity_suspended - dt).max(0.0);
    // The mean of both velocities is exact for constant gravity, so jump height does not depend on the
    // tick rate.
    let mut motion = (before + after) * (0.5 * dt);
    let mut left = dt;
    pawn.velocity = after;
    let (start, whole) = (pawn.feet, dt);
    let mut slopes = (Vec3::ZERO, false);
    let mut walls = Planes::default();
    let mut freely = false;
    for _ in 0..4 {
        if motion.length_squared() < 1e-12 {
            break;
        }
        let Some(hit) = sweep(parts, pawn.body, pawn.feet, motion) else {
            pawn.feet += motion;
            freely = true;
            break;
        };
        let fraction = (hit.distance / motion.length()).min(1.0);
        pawn.feet += motion * fraction;
        motion *= 1.0 - fraction;
        left *= 1.0 - fraction;
        let lands = motion.y <= 0.0 && pawn.velocity.y <= 0.0 && hit.normal.y > 1e-3;
        if lands && land(pawn, parts, before.y, whole, left) {
            return;
        }
        if hit.normal.y > 1e-3 {
            // Two slopes that lean against each other form a ditch.
            slopes.1 |= slopes.0 != Vec3::ZERO && upright(slopes.0).dot(upright(hit.normal)) < 0.0;
            slopes.0 = hit.normal;
        }
        let wall = wall_normal(config.walkable_floor_y, hit.normal, motion);
        pawn.hit_wall(wall);
        walls.push(wall);
        motion = walls.clip(motion);
        if hit.normal.y < -0.5 && pawn.velocity.y > 0.0 {
            // The head hit a ceiling, also a slanted one.
            pawn.velocity.y = 0.0;
            pawn.state.jump_hold = 0.0;
        }
        pawn.velocity = walls.clip(pawn.velocity);
    }
    // A lift that rises faster than the pawn is not hit by the sweep, but is a floor.
    let moving = parts.iter().rev().take_while(|part| part.pawn || part.base != BaseId::NONE);
    if moving.count() > 0 && land_on_base(pawn, parts, before.y, whole) {
        return;
    }
    if !freely {
        // Blocked by several walls: limit the velocity to the actual motion, or the falling speed would
        // grow in place.
        let real = (pawn.feet - start) / dt;
        pawn.velocity = pawn.velocity.clamp_length_max(real.length());
    }
    if slopes.1 && (pawn.feet - start).length() < 1e-3 {
        // Wedged between slopes: allow a jump, or the pawn would be caught forever.
        pawn.velocity = Vec3::ZERO;
        pawn.wedged = true;
    }
}

/// Returns the velocity after `dt` of gravity and air control.
pub(crate) fn air_velocity(pawn: &PawnStep<'_>, dt: f32) -> Vec3 {
    let config = pawn.config;
    let (velocity, wish) = (pawn.velocity, pawn.wish());
    let flat = velocity.with_y(0.0);
    let speed = flat.length();
    let control = if config.air_control > 0.0 && speed < config.air_control_boost_below {
        (config.air_control * config.air_control_boost).min(1.0)
    } else {
        config.air_control
    };
    let gain = pawn.limits.acceleration * control * dt;
    let steered = match config.acceleration_model {
        // Air control adds no speed beyond walking speed.
        AccelerationModel::Unreal => {
            let limit = speed.max(pawn.limits.speed);
            let braked = if wish == Vec3::ZERO && speed > 0.0 {
                flat * ((speed - config.braking_falling * dt).max(0.0) / speed)
            } else {
                flat
            };
            (braked + wish * gain).clamp_length_max(limit)
        }
        AccelerationModel::Quake => {
            let wished = (pawn.limits.speed * wish.length()).min(config.air_wish_speed);
            quake_accelerate(flat, wish, wished, gain)
        }
    };
    let pull = pawn.gravity() * (dt - pawn.gravity_suspended).max(0.0);
    // A pawn that already falls faster, such as after a launch downwards, is not slowed.
    let terminal = (-config.terminal_speed).min(velocity.y);
    steered.with_y((velocity.y - pull).max(terminal)).clamp_length_max(config.max_speed)
}

/// Returns the normal that a wall has for a falling pawn: a steep slope may slow a fall but not turn
/// forward motion into a climb.
fn wall_normal(walkable_y: f32, normal: Vec3, motion: Vec3) -> Vec3 {
    let steep = normal.y > 0.0 && normal.y < walkable_y;
    let clipped = motion - normal * motion.dot(normal).min(0.0);
    let upright = upright(normal);
    if steep && clipped.y > motion.y.max(0.0) && upright != Vec3::ZERO { upright } else { normal }
}

/// Lands on a base that has come up under the feet; returns whether it did.
fn land_on_base(pawn: &mut PawnStep<'_>, parts: &[Part], before: f32, whole: f32) -> bool {
    let Some(floor) = find_floor(&pawn.config.floor_rules(), parts, pawn.body, pawn.feet, HOVER_MAX) else {
        return false;
    };
    let rises = pawn.velocity.y - pawn.velocity_of(floor.base).y;
    floor.base != BaseId::NONE && rises < 0.0 && land(pawn, parts, before, whole, 0.0)
}

/// Lands if the floor under the feet is walkable, walks for the remaining time, and returns whether it
/// landed. `before` is the vertical velocity at the start of the slice, `whole` the length of the slice
/// and `left` the time that is left of it.
fn land(pawn: &mut PawnStep<'_>, parts: &[Part], before: f32, whole: f32, left: f32) -> bool {
    let config = pawn.config;
    let Some(floor) = find_floor(&config.floor_rules(), parts, pawn.body, pawn.feet, HOVER_MAX) else {
        return false;
    };
    // Speed at the time of the impact, relative to the floor, which may move.
    let at_impact = before + (pawn.velocity.y - before) * (1.0 - left / whole).clamp(0.0, 1.0);
    let speed = pawn.velocity_of(floor.base).y - at_impact;
    pawn.set_base(floor.base);
    pawn.events.push(MoveEvent::Landed { speed });
    let landed = config.transitions_of(pawn.state.mode).landed;
    pawn.set_mode(landed);
    pawn.state.jumps = 0;
    pawn.state.air_seconds = 0.0;
    pawn.velocity.y = 0.0;
    pawn.feet = hover_above(parts, pawn.body, pawn.feet, &floor);
    if pawn.physics() == Physics::Walk {
        slide(pawn, parts, floor, left);
    }
    true
}
