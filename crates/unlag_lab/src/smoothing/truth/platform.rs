//! Player on a moving platform.

use core::f64::consts::TAU;

use bevy::math::DVec3;

use super::{Moment, Truth, walkers};

/// Angular velocity of the platform in radians per second.
const TURN: f64 = 0.6;
/// Distance from the platform's middle to the middle of the player's path, in metres.
const OUT: f64 = 6.0;
/// Amplitude of the platform's vertical motion in metres.
const RISE: f64 = 3.0;
/// Angular frequency of the vertical motion in radians per second.
const BEAT: f64 = TAU / 4.0;

/// Back and forth at 3 m/s with 20 m/s² on a platform that turns and rises.
pub fn platform(seconds: f64, seed: u64) -> Truth {
    let mut truth = walkers::adad(seconds, 20.0, 3.0, seed ^ 0x6);
    for (i, moment) in truth.moments.iter_mut().enumerate() {
        let t = i as f64 * truth.dt;
        let (x, v, a) = (OUT + moment.position.x, moment.velocity.x, moment.acceleration.x);
        let (sin, cos) = (TURN * t).sin_cos();
        let (out, along) = (DVec3::new(cos, 0.0, sin), DVec3::new(-sin, 0.0, cos));
        let (lift, lift_cos) = (BEAT * t).sin_cos();
        *moment = Moment {
            position: out * x + DVec3::Y * (RISE * lift),
            velocity: out * v + along * (x * TURN) + DVec3::Y * (RISE * BEAT * lift_cos),
            acceleration: out * (a - x * TURN * TURN) + along * (2.0 * v * TURN)
                - DVec3::Y * (RISE * BEAT * BEAT * lift),
            yaw: -TURN * t,
            yaw_rate: -TURN,
            ..*moment
        };
    }
    Truth::new(truth.moments)
}
