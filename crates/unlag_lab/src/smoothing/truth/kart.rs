//! Kart with slip that also reverses.

use bevy::math::{DQuat, DVec3};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::{DT, Moment, STEPS_PER_TICK, TICKS_PER_SECOND, Truth};

/// Distance from the start, in metres, beyond which the kart turns back.
const FAR: f64 = 200.0;

/// 12 to 28 m/s forwards or 6 m/s backwards, accelerating with 12 m/s², braking with 20 m/s² and steering
/// with 6 rad/s². The nose points up to 25° into the bend, away from the direction of motion.
pub fn kart(seconds: f64, seed: u64) -> Truth {
    let mut rng = SmallRng::seed_from_u64(seed ^ 0x5);
    let steps = (seconds * f64::from(TICKS_PER_SECOND)).round() as usize * STEPS_PER_TICK;
    let (mut position, mut speed, mut heading, mut turn, mut slip) = (DVec3::ZERO, 0.0, 0.0, 0.0, 0.0);
    let (mut wanted, mut wanted_turn, mut next, mut reverses) = (20.0, 0.0, 0.0, false);
    let (mut push, mut steer) = (0.0, 0.0);
    let mut moments = Vec::with_capacity(steps + 1);
    for step in 0..=steps {
        let now = step as f64 * DT;
        if step % STEPS_PER_TICK == 0 {
            if now >= next {
                reverses = !reverses && rng.random_bool(0.12);
                wanted = if reverses { -6.0 } else { rng.random_range(12.0..28.0) };
                let bend = rng.random_range(0.5..1.6) * f64::from(rng.random_range(-1_i8..=1));
                // Far from the start the bend leads back.
                let homeward = (DQuat::from_rotation_y(heading) * DVec3::NEG_X).dot(-position).signum();
                let bend = if position.length() > FAR { 1.2 * homeward } else { bend };
                wanted_turn = if reverses { bend * 0.5 } else { bend };
                next = now + rng.random_range(0.8..2.5);
            }
            push = ((wanted - speed) * f64::from(TICKS_PER_SECOND)).clamp(-20.0, 12.0);
            steer = ((wanted_turn - turn) * f64::from(TICKS_PER_SECOND)).clamp(-6.0, 6.0);
        }
        let forward = DQuat::from_rotation_y(heading) * DVec3::NEG_Z;
        let left = DQuat::from_rotation_y(heading) * DVec3::NEG_X;
        let into = (speed * turn / 40.0 * 0.44).clamp(-0.44, 0.44);
        let slipping = (into - slip) / 0.15;
        let (velocity, acceleration) = (forward * speed, forward * push + left * (speed * turn));
        moments.push(Moment {
            position,
            velocity,
            acceleration,
            yaw: heading + slip,
            yaw_rate: turn + slipping,
            teleports: 0,
            grounded: true,
        });
        position += velocity * DT + acceleration * (0.5 * DT * DT);
        slip += slipping * DT;
        speed += push * DT;
        heading += turn * DT;
        turn += steer * DT;
    }
    Truth::new(moments)
}
