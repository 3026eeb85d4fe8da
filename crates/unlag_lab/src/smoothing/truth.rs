//! Ground truth: continuous motion that drawn proxies are compared with.
//!
//! A truth is also defined between ticks. Synthetic truths are integrated 1,920 times per second, with their
//! events on ticks and their collisions between them; recorded truths use the partial steps that the owner's
//! client draws.

mod ball;
mod body;
mod kart;
mod platform;
pub mod recorded;
mod walkers;

use body::{Body, DT, STEPS_PER_TICK, acceleration_towards, horizontal, integrate, turning_acceleration};

use crate::prelude::*;

pub use body::{Moment, TICKS_PER_SECOND, Truth};

/// Motion of a truth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Path {
    /// Back and forth at 6 m/s, reversing with 20 m/s² every 0.25 to 0.7 s.
    Adad,
    /// Runs, stops, runs in another direction.
    StopStart,
    /// The same with instant changes of velocity.
    Instant,
    /// Runs and jumps.
    Jump,
    /// Jumps again on landing and turns in the air.
    Bhop,
    /// Walks with occasional knockback of 10 m/s.
    Knock,
    /// Drives at up to 28 m/s, slides, reverses.
    Kart,
    /// Back and forth on a platform that turns and rises.
    Platform,
    /// 6 m/s on a circle with a radius of 2 m.
    Circle,
    /// Bounces off the floor and four walls.
    Ball,
    /// Back and forth, with a teleport every 3 s.
    Teleport,
    /// Our capsule mover in the arena: strafing, stops, jumps, crouching, stairs and a ramp.
    Recorded,
    /// Our kart on a field with posts, sills and ramps.
    RecordedKart,
}

impl Path {
    /// All paths with their names in JSON keys.
    pub const ALL: [(Self, &str); 13] = [
        (Self::Adad, "adad"),
        (Self::StopStart, "stopstart"),
        (Self::Instant, "instant"),
        (Self::Jump, "jump"),
        (Self::Bhop, "bhop"),
        (Self::Knock, "knock"),
        (Self::Kart, "kart"),
        (Self::Platform, "platform"),
        (Self::Circle, "circle"),
        (Self::Ball, "ball"),
        (Self::Teleport, "teleport"),
        (Self::Recorded, "recorded"),
        (Self::RecordedKart, "recorded_kart"),
    ];

    /// Creates a truth of this path; equal seeds move alike.
    ///
    /// # Errors
    /// Returns a message if a recording failed.
    pub fn truth(self, seconds: f64, seed: u64) -> Result<Truth, String> {
        Ok(match self {
            Self::Adad => walkers::adad(seconds, 20.0, 6.0, seed),
            Self::StopStart => walkers::stop_start(seconds, seed),
            Self::Instant => walkers::instant(seconds, seed),
            Self::Jump => walkers::jump(seconds, seed),
            Self::Bhop => walkers::bhop(seconds),
            Self::Knock => walkers::knock(seconds, seed),
            Self::Kart => kart::kart(seconds, seed),
            Self::Platform => platform::platform(seconds, seed),
            Self::Circle => walkers::circle(seconds, 6.0, 2.0),
            Self::Ball => ball::ball(seconds, seed),
            Self::Teleport => walkers::teleport(seconds, seed),
            Self::Recorded => recorded::capsule(seconds, seed)?,
            Self::RecordedKart => recorded::kart(seconds, seed)?,
        })
    }
}

/// Creates a truth at 30 m/s on a wide circle.
pub fn fast_circle(seconds: f64) -> Truth {
    walkers::circle(seconds, 30.0, 60.0)
}
