//! Bouncing ball in a room.

use bevy::math::DVec3;

use super::{Moment, Truth, integrate};
use crate::prelude::*;

/// 13 m/s between walls 16 m apart. The floor takes a quarter of the energy and returns some before the ball
/// lies still.
pub fn ball(seconds: f64, seed: u64) -> Truth {
    const GRAVITY: f64 = 6.5;
    const WALL: f64 = 8.0;
    let mut rng = SmallRng::seed_from_u64(seed ^ 0x9);
    let start = Moment {
        position: DVec3::new(rng.random_range(-4.0..4.0), 3.0, 0.0),
        velocity: DVec3::new(11.0, 6.0, 7.0),
        ..Moment::default()
    };
    integrate(
        seconds,
        start,
        |_| {},
        |body| {
            let (p, v) = (&mut body.now.position, &mut body.now.velocity);
            if p.y <= 0.0 && v.y < 0.0 {
                p.y = 0.0;
                v.y = -0.85 * v.y + if v.y > -3.0 { 3.0 } else { 0.0 };
            }
            for axis in [0, 2] {
                if p[axis].abs() > WALL && p[axis] * v[axis] > 0.0 {
                    v[axis] = -v[axis];
                }
            }
            DVec3::NEG_Y * GRAVITY
        },
    )
}
