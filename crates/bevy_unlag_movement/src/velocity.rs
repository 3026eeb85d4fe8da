//! Effect of input, friction and braking on a velocity.

use bevy::prelude::*;

use crate::config::{AccelerationModel, CapsuleConfig};

/// Speed in metres per second below which braking stops a pawn. Unreal's `BRAKE_TO_STOP_VELOCITY`.
const STOP_SPEED: f32 = 0.1;
/// Duration in seconds of one slice of braking, so that braking takes as long at 30 ticks per second as
/// at 128. Unreal's `BrakingSubStepTime`.
const BRAKING_SLICE: f32 = 1.0 / 33.0;

/// Forces on a velocity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forces {
    /// Speed at full input in metres per second.
    pub(crate) max_speed: f32,
    /// Acceleration by input in metres per second squared.
    pub(crate) acceleration: f32,
    /// Rate of turning per second.
    pub(crate) friction: f32,
    /// Proportional part of braking per second.
    pub(crate) braking_friction: f32,
    /// Constant part of braking in metres per second squared.
    pub(crate) braking: f32,
    /// Rate per second that always slows the pawn.
    pub(crate) fluid_friction: f32,
}

/// Returns the velocity after `dt` of input and friction.
pub(crate) fn accelerated(
    config: &CapsuleConfig,
    forces: &Forces,
    velocity: Vec3,
    wish: Vec3,
    dt: f32,
) -> Vec3 {
    let slowed = velocity * (1.0 - (forces.fluid_friction * dt).min(1.0));
    match config.acceleration_model {
        AccelerationModel::Unreal => unreal_velocity(forces, slowed, wish, dt),
        AccelerationModel::Quake => {
            let rubbed = quake_friction(config, forces, slowed, dt);
            let wished = wish.length();
            quake_accelerate(rubbed, wish, forces.max_speed * wished, forces.acceleration * dt)
        }
    }
}

/// Unreal's `CalcVelocity`: updates the velocity first; the pawn then moves at the new velocity.
fn unreal_velocity(forces: &Forces, velocity: Vec3, wish: Vec3, dt: f32) -> Vec3 {
    let speed = velocity.length();
    let wished = wish.length();
    let limit = forces.max_speed * wished.min(1.0);
    let turn = (forces.friction * dt).min(1.0);
    if wished < 1e-3 || speed > limit + 1e-3 {
        // Too fast for the input: brake, but not below the wished speed.
        let braked = brake(forces, speed, limit, dt);
        // Without constant braking, another force, such as that of water, may move the pawn from any
        // speed.
        if braked < STOP_SPEED && wished < 1e-3 && forces.braking > 0.0 {
            return Vec3::ZERO;
        }
        let direction = velocity / speed.max(1e-6);
        let turned = (direction + (wish - direction * wished) * turn).normalize_or(direction);
        return turned * braked;
    }
    let turned = velocity + (wish / wished * speed - velocity) * turn;
    (turned + wish * (forces.acceleration * dt)).clamp_length_max(limit)
}

/// Returns the speed after `dt` of braking, not below `limit`.
fn brake(forces: &Forces, speed: f32, limit: f32, dt: f32) -> f32 {
    let (mut braked, mut left) = (speed, dt);
    while left > 1e-6 && braked > limit {
        let slice = left.min(BRAKING_SLICE);
        braked -= (forces.braking_friction * braked + forces.braking) * slice;
        left -= slice;
    }
    braked.max(limit)
}

/// Quake's friction: proportional to the speed, or to `stop_speed` if that is higher.
fn quake_friction(config: &CapsuleConfig, forces: &Forces, velocity: Vec3, dt: f32) -> Vec3 {
    let speed = velocity.length();
    if speed < 1e-3 {
        return Vec3::ZERO;
    }
    let drop = (speed.max(config.stop_speed) * forces.braking_friction + forces.braking) * dt;
    velocity * ((speed - drop).max(0.0) / speed)
}

/// Quake's acceleration: adds up to `most` until the speed along the wished direction is `wish_speed`,
/// whatever the speed across it.
pub(crate) fn quake_accelerate(velocity: Vec3, wish: Vec3, wish_speed: f32, most: f32) -> Vec3 {
    let direction = wish.normalize_or_zero();
    let missing = wish_speed - velocity.dot(direction);
    velocity + direction * missing.clamp(0.0, most.max(0.0))
}
