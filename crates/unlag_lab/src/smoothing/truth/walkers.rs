//! Players on foot.

use core::f64::consts::TAU;

use bevy::math::DVec3;
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::{
    Body, Moment, STEPS_PER_TICK, TICKS_PER_SECOND, Truth, acceleration_towards, horizontal, integrate,
    turning_acceleration,
};

const STANDING: Moment = Moment {
    position: DVec3::ZERO,
    velocity: DVec3::ZERO,
    acceleration: DVec3::ZERO,
    yaw: 0.0,
    yaw_rate: 0.0,
    teleports: 0,
    grounded: true,
};

/// Integrates with an acceleration that is decided on each tick and held until the next one.
fn integrate_held(seconds: f64, start: Moment, mut decide: impl FnMut(&mut Body) -> DVec3) -> Truth {
    let decided = core::cell::Cell::new(DVec3::ZERO);
    integrate(seconds, start, |body| decided.set(decide(body)), |_| decided.get())
}

/// Moves back and forth along X.
pub fn adad(seconds: f64, acceleration: f64, speed: f64, seed: u64) -> Truth {
    let mut rng = SmallRng::seed_from_u64(seed);
    let (mut way, mut next) = (-1.0, 0.0);
    integrate_held(seconds, STANDING, |body| {
        if body.seconds >= next {
            way = -way;
            next = body.seconds + rng.random_range(0.25..0.7);
        }
        acceleration_towards(DVec3::X * (speed * way), body.now.velocity, acceleration)
    })
}

/// Alternates between 0.4 to 1.4 s of running in a random direction and 0.2 to 1 s of standing.
struct RandomStops {
    rng: SmallRng,
    next: f64,
    wanted: DVec3,
}

impl RandomStops {
    fn new(seed: u64) -> Self {
        Self { rng: SmallRng::seed_from_u64(seed ^ 0x57), next: 0.0, wanted: DVec3::ZERO }
    }

    fn at(&mut self, seconds: f64) -> DVec3 {
        if seconds >= self.next {
            let stands = self.wanted == DVec3::ZERO;
            let (angle, run, rest): (f64, f64, f64) = (
                self.rng.random_range(0.0..TAU),
                self.rng.random_range(0.4..1.4),
                self.rng.random_range(0.2..1.0),
            );
            self.wanted = if stands { horizontal(angle) * 6.0 } else { DVec3::ZERO };
            self.next = seconds + if stands { run } else { rest };
        }
        self.wanted
    }
}

/// Runs and stops at 6 m/s with 20 m/s².
pub fn stop_start(seconds: f64, seed: u64) -> Truth {
    let mut whim = RandomStops::new(seed);
    integrate_held(seconds, STANDING, |body| {
        acceleration_towards(whim.at(body.seconds), body.now.velocity, 20.0)
    })
}

/// Runs and stops at 6 m/s with instant changes of velocity.
pub fn instant(seconds: f64, seed: u64) -> Truth {
    let mut whim = RandomStops::new(seed ^ 0x1257);
    integrate_held(seconds, STANDING, |body| {
        body.now.velocity = whim.at(body.seconds);
        DVec3::ZERO
    })
}

/// Runs straight ahead at 6 m/s with jumps of 0.9 m, 0.05 to 0.5 s after each landing.
pub fn jump(seconds: f64, seed: u64) -> Truth {
    const GRAVITY: f64 = 9.8;
    let mut rng = SmallRng::seed_from_u64(seed ^ 0x3);
    let next = core::cell::Cell::new(0.3);
    let start = Moment { velocity: DVec3::X * 6.0, ..STANDING };
    let leap = |body: &mut Body| {
        if body.now.grounded && body.seconds >= next.get() {
            body.now.velocity.y = 4.2;
            body.now.grounded = false;
        }
    };
    integrate(seconds, start, leap, |body| {
        let now = &mut body.now;
        if !now.grounded && now.position.y <= 0.0 && now.velocity.y < 0.0 {
            (now.position.y, now.velocity.y, now.grounded) = (0.0, 0.0, true);
            next.set(body.seconds + rng.random_range(0.05..0.5));
        }
        if now.grounded { DVec3::ZERO } else { DVec3::NEG_Y * GRAVITY }
    })
}

/// Hops at 8 m/s without pause, 45 ticks per hop, turning the other way with each hop.
pub fn bhop(seconds: f64) -> Truth {
    const GRAVITY: f64 = 10.0;
    const HOP: u32 = 45;
    let up = GRAVITY * 0.5 * f64::from(HOP) / f64::from(TICKS_PER_SECOND);
    let side = core::cell::Cell::new(-1.0);
    let mut ticks = 0;
    let start = Moment { velocity: DVec3::new(8.0, up, 0.0), grounded: false, ..STANDING };
    let hop = |body: &mut Body| {
        if ticks % HOP == 0 {
            (body.now.velocity.y, body.now.position.y) = (up, 0.0);
            side.set(-side.get());
        }
        ticks += 1;
    };
    integrate(seconds, start, hop, |body| {
        turning_acceleration(body.now.velocity, 2.5 * side.get()).with_y(-GRAVITY)
    })
}

/// Walks along X at 3 m/s with 12 m/s² and is knocked back at 10 m/s in a random direction every 0.8 to 1.8
/// s.
pub fn knock(seconds: f64, seed: u64) -> Truth {
    let mut rng = SmallRng::seed_from_u64(seed ^ 0x8);
    let mut next = 0.5;
    integrate_held(seconds, STANDING, |body| {
        if body.seconds >= next {
            body.now.velocity += horizontal(rng.random_range(0.0..TAU)) * 10.0;
            next = body.seconds + rng.random_range(0.8..1.8);
        }
        acceleration_towards(DVec3::X * 3.0, body.now.velocity, 12.0)
    })
}

/// Moves on a circle.
pub fn circle(seconds: f64, speed: f64, radius: f64) -> Truth {
    let start = Moment { velocity: DVec3::X * speed, ..STANDING };
    integrate(seconds, start, |_| {}, |body| turning_acceleration(body.now.velocity, -speed / radius))
}

/// Moves back and forth with a teleport of 15 m every 3 s, at a different phase of the send interval each
/// time.
pub fn teleport(seconds: f64, seed: u64) -> Truth {
    let truth = adad(seconds, 20.0, 6.0, seed ^ 0x7);
    let mut rng = SmallRng::seed_from_u64(seed ^ 0x107);
    let mut moments = truth.moments;
    let (mut offset, mut count) = (DVec3::ZERO, 0_u8);
    for (i, moment) in moments.iter_mut().enumerate() {
        let (tick, part) = (i / STEPS_PER_TICK, i % STEPS_PER_TICK);
        let (round, phase) = (tick / 192, tick % 192);
        if part == 0 && phase == 7 * (1 + round % 5) {
            offset += horizontal(rng.random_range(0.0..TAU)) * 15.0;
            count = count.wrapping_add(1);
        }
        moment.position += offset;
        moment.teleports = count;
    }
    Truth::new(moments)
}
