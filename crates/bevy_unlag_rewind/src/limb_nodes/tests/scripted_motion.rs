//! Scripted body and limb poses as a function of time.

use bevy::{math::Vec3A, prelude::*};
use bevy_unlag_core::{LimbPoses, PoseSample};

use crate::humanoid::{HUMANOID_LIMBS, humanoid_rig};

/// Pose of a body with its limb poses in body space.
pub type Moment = (PoseSample, Vec<Isometry3d>);
/// Function from time in seconds to body and limb poses.
pub type Dance = fn(f64) -> Moment;

/// Returns the preset's limb poses with shins that turn smoothly, as an animator's do. The preset's shins
/// follow the height of the knee, with unbounded angular velocity where that begins.
fn limbs(sample: &PoseSample) -> Vec<Isometry3d> {
    let mut limbs = humanoid_rig().in_body(sample, &mut LimbPoses::default()).to_vec();
    for side in [0, 1] {
        let thigh = limbs[13 + side];
        let half = |limb: usize| Vec3A::NEG_Y * HUMANOID_LIMBS[limb].1.y;
        let knee = thigh.translation + thigh.rotation * half(13);
        let swing = thigh.rotation.to_euler(EulerRot::XYZ).0;
        let rotation = Quat::from_rotation_x(-0.75 * sample.crouch - 0.3 * (1.0 - swing.cos()));
        limbs[15 + side] = Isometry3d { rotation, translation: knee + rotation * half(15) };
        let ankle = knee + rotation * half(15) * 2.0;
        limbs[17 + side] = Isometry3d { rotation: Quat::IDENTITY, translation: ankle - Vec3A::Z * 0.05 };
    }
    limbs
}

/// Returns a smooth pulse from 0 to 1 and back in each period, of which it takes up `part`.
fn bump(seconds: f64, period: f64, part: f64) -> f32 {
    let at = (seconds / period).fract() / part;
    if at >= 1.0 { 0.0 } else { (0.5 - 0.5 * (at * core::f64::consts::TAU).cos()) as f32 }
}

/// Runs in a circle, crouches, jumps and lands, turns the trunk and reloads.
pub fn dance(seconds: f64) -> Moment {
    let angle = seconds * 1.3;
    let (sin, cos) = angle.sin_cos();
    let (radius, speed) = (3.0, 3.0 * 1.3);
    // A jump of 0.6 s every 2 s.
    let air = (seconds / 2.0).fract() * 2.0 / 0.6;
    let height = if air < 1.0 { 4.0 * air * (1.0 - air) } else { 0.0 };
    let land = bump(seconds - 0.6, 2.0, 0.2) * 0.5;
    let sample = PoseSample {
        position: Vec3::new((radius * cos) as f32, height as f32, (radius * sin) as f32),
        velocity: Vec3::new((-speed * sin) as f32, 0.0, (speed * cos) as f32),
        rotation: Quat::from_rotation_y((-angle + 0.3 * (seconds * 2.0).sin()) as f32),
        pitch: (seconds * 3.0).sin() as f32,
        crouch: 1.0 - (1.0 - bump(seconds, 3.1, 0.3)) * (1.0 - land),
        alive: true,
        ..default()
    };
    let mut limbs = limbs(&sample);
    // The trunk turns against the hips, and an arm reaches for the belt.
    let twist = Isometry3d::from_rotation(Quat::from_rotation_y(0.6 * (seconds * 4.0).sin() as f32));
    for limb in &mut limbs[..13] {
        *limb = twist * *limb;
    }
    let reach = Quat::from_rotation_x(-1.4 * bump(seconds, 1.7, 0.7))
        * Quat::from_rotation_z(bump(seconds, 1.7, 0.7));
    let shoulder = limbs[6].translation;
    for limb in [8, 10, 12] {
        let arm = limbs[limb];
        let translation: Vec3A = shoulder + reach * (arm.translation - shoulder);
        limbs[limb] = Isometry3d { rotation: reach * arm.rotation, translation };
    }
    (sample, limbs)
}

/// Moves along X at `SPEED` metres per second, crouched by `CROUCH` tenths.
pub fn gait<const SPEED: u32, const CROUCH: u32>(seconds: f64) -> Moment {
    let sample = PoseSample {
        position: Vec3::X * (seconds * f64::from(SPEED)) as f32,
        velocity: Vec3::X * SPEED as f32,
        rotation: Quat::from_rotation_y(if SPEED > 0 { -core::f32::consts::FRAC_PI_2 } else { 0.0 }),
        crouch: CROUCH as f32 * 0.1,
        alive: true,
        ..default()
    };
    let limbs = limbs(&sample);
    assert_eq!(limbs.len(), HUMANOID_LIMBS.len());
    (sample, limbs)
}

/// Standing, walking, running at full speed, and walking crouched.
pub const GAITS: [Dance; 6] =
    [gait::<0, 0>, gait::<2, 0>, gait::<4, 0>, gait::<6, 0>, gait::<2, 10>, gait::<3, 5>];
