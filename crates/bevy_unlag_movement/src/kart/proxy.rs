//! Extrapolation of a remote kart from its last snapshot.

use bevy::prelude::*;
use bevy_unlag_core::{PoseSample, StepContext};

use super::{
    KartConfig, KartState,
    dynamics::KartMotion,
    step::{KartStep, frame, seconds_of},
};
use crate::{scene::Include, world::MoverWorld};

/// Change of velocity by a wall in metres per second above which it counts as a hit.
const DEFLECTED: f32 = 0.05;
/// Speed in metres per second below which a kart keeps its turn rate, because a curvature cannot be
/// derived.
const SLOW: f32 = 0.5;

/// Extrapolated motion of a kart that keeps its driving force and its steering.
struct ExtrapolatedMotion {
    /// Horizontal velocity at the end, in metres per second.
    end: Vec3,
    /// Mean horizontal velocity, in metres per second.
    mean: Vec3,
    /// Turned angle in radians, to the left.
    turn: f32,
    /// Turn rate at the end in radians per second.
    spin: f32,
    /// Acceleration along the heading in metres per second squared.
    gain: f32,
}

impl ExtrapolatedMotion {
    fn new(pose: &PoseSample, dt: f32) -> Self {
        let (forward, right) = (pose.rotation * Vec3::NEG_Z, pose.rotation * Vec3::X);
        let level = pose.velocity.with_y(0.0);
        let (along, across) = (level.dot(forward), level.dot(right));
        // Acceleration across the heading comes from the curve, which the turn reproduces.
        let gain = pose.acceleration.dot(forward);
        let mut after = along + gain * dt;
        if along * gain < 0.0 && along * after <= 0.0 {
            // Braking does not turn into reversing.
            after = 0.0;
        }
        let mean = 0.5 * (along + after);
        // The turn per metre is constant: wheels turn a kart in proportion to the distance driven.
        let share = |speed: f32| if along.abs() > SLOW { speed / along } else { 1.0 };
        let turn = pose.spin * share(mean) * dt;
        let turned =
            |speed: f32, angle: f32| Quat::from_rotation_y(angle) * (forward * speed + right * across);
        Self {
            end: turned(after, turn),
            mean: turned(mean, 0.5 * turn),
            turn,
            spin: pose.spin * share(after),
            gain: if after == 0.0 { 0.0 } else { gain },
        }
    }
}

/// Extrapolates a kart with constant steering and driving force until it is at rest or hits something;
/// it follows the floor and slides along walls. Only the fixed world counts.
pub(super) fn extrapolate(
    config: &KartConfig,
    pose: &PoseSample,
    ctx: &StepContext,
    world: &MoverWorld<'_, '_>,
) -> PoseSample {
    let still = pose.grounded && pose.velocity == Vec3::ZERO && pose.acceleration == Vec3::ZERO;
    let Some(dt) = seconds_of(ctx).filter(|_| pose.alive && !still) else { return *pose };
    let begin = KartState {
        velocity: pose.velocity.clamp_length_max(config.max_speed),
        grounded: pose.grounded,
        ..KartState::at(pose.position, 0)
    };
    if !begin.is_valid() {
        return *pose;
    }
    let motion = ExtrapolatedMotion::new(pose, dt);
    let mask = config.blocked_by;
    // The time is unused because bases are excluded.
    let moved = world.scene.with_parts(ctx.entity, 0.0, mask, frame(&begin), Include::Fixed, |near| {
        let mut kart = KartStep::new(config, begin, None, dt);
        near.cover(kart.region(dt));
        kart.advance(near.parts(), |_, _| KartMotion { velocity: motion.mean, heading: 0, spin: 0.0 }, dt);
        kart.state
    });
    let fallen = PoseSample {
        position: moved.position,
        velocity: moved.velocity,
        acceleration: Vec3::ZERO,
        spin: 0.0,
        grounded: moved.grounded,
        falling: !moved.grounded,
        ..*pose
    };
    if !pose.grounded {
        // In the air there is no steering: the fall itself is the extrapolation.
        return fallen;
    }
    let change = moved.velocity.with_y(0.0) - motion.mean;
    let hit = change.length() > DEFLECTED;
    let rotation = pose.rotation * Quat::from_rotation_y(motion.turn);
    PoseSample {
        velocity: motion.end + change + Vec3::Y * moved.velocity.y,
        acceleration: if hit { Vec3::ZERO } else { rotation * Vec3::NEG_Z * motion.gain },
        rotation,
        spin: if hit { 0.0 } else { motion.spin },
        ..fallen
    }
}
