//! Carrying on a kart of which nothing is known but what was sent.

use bevy::prelude::*;
use bevy_unlag_core::{PoseSample, StepContext};

use super::{
    KartConfig, KartState,
    drive::Course,
    step::{Driving, frame, seconds_of},
};
use crate::{MoverWorld, scene::Include};

/// Metres per second by which a wall must have changed a velocity before it counts as hit.
const DEFLECTED: f32 = 0.05;
/// Metres per second below which a kart has no curve of its own: it goes on turning as it did.
const SLOW: f32 = 0.5;

/// How a kart goes on that keeps its engine and its wheels as they are.
struct Onward {
    /// Metres per second, level: at the end.
    end: Vec3,
    /// The same, on the way.
    mean: Vec3,
    /// Radians to the left.
    turn: f32,
    /// Radians per second.
    spin: f32,
    /// Metres per second squared along the heading.
    gain: f32,
}

impl Onward {
    fn new(pose: &PoseSample, dt: f32) -> Self {
        let (forward, right) = (pose.rotation * Vec3::NEG_Z, pose.rotation * Vec3::X);
        let level = pose.velocity.with_y(0.0);
        let (along, across) = (level.dot(forward), level.dot(right));
        // What leads across the heading is the curve, and that the turn makes.
        let gain = pose.acceleration.dot(forward);
        let mut after = along + gain * dt;
        if along * gain < 0.0 && along * after <= 0.0 {
            // Braking does not turn into reversing.
            after = 0.0;
        }
        let mean = 0.5 * (along + after);
        // As much a metre as before: wheels turn a kart by the way that it goes.
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

/// The cheap step: it keeps its wheels turned and its engine running until it is at rest or hits
/// something, follows the floor and slides along walls. Only the fixed world counts.
pub(super) fn carry_on(
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
    if !begin.is_sound() {
        return *pose;
    }
    let onward = Onward::new(pose, dt);
    let mask = config.blocked_by;
    // No bases, so no time.
    let moved = world.scene.with_parts(ctx.entity, 0.0, mask, frame(&begin), Include::Fixed, |near| {
        let mut kart = Driving::new(config, begin, None, dt);
        near.cover(kart.region(dt));
        kart.go(near.parts(), |_, _| Course { velocity: onward.mean, heading: 0, spin: 0.0 }, dt);
        kart.state
    });
    if !pose.grounded {
        // Nothing to drive against: it was carried on as it fell.
        return PoseSample {
            position: moved.position,
            velocity: moved.velocity,
            acceleration: Vec3::ZERO,
            spin: 0.0,
            grounded: moved.grounded,
            falling: !moved.grounded,
            ..*pose
        };
    }
    let change = moved.velocity.with_y(0.0) - onward.mean;
    let hit = change.length() > DEFLECTED;
    let rotation = pose.rotation * Quat::from_rotation_y(onward.turn);
    PoseSample {
        position: moved.position,
        velocity: onward.end + change + Vec3::Y * moved.velocity.y,
        acceleration: if hit { Vec3::ZERO } else { rotation * Vec3::NEG_Z * onward.gain },
        rotation,
        spin: if hit { 0.0 } else { onward.spin },
        grounded: moved.grounded,
        falling: !moved.grounded,
        ..*pose
    }
}
