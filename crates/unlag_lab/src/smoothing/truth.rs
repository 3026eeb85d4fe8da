//! How things really moved: what every drawn proxy is held against.
//!
//! A truth is known between ticks too. What is made up is integrated 1,920 times a second with its
//! events on ticks and its collisions between them; what was recorded comes from the step that the
//! owner draws with.

mod ball;
mod body;
mod kart;
mod platform;
pub mod recorded;
mod walkers;

use bevy_unlag::core::{Snapshot, Tick, angle_to_units};

use body::{Body, DT, FINE, integrate, level, towards, turning};
pub use body::{Moment, TICKS, Truth};

/// What is moving, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Path {
    /// To and fro at 6 m/s, turning with 20 m/s² every 0.25 to 0.7 s.
    Adad,
    /// Runs, stops, runs another way.
    StopStart,
    /// The same, at once.
    Instant,
    /// Runs and jumps.
    Jump,
    /// Jumps again as it lands, turning in the air.
    Bhop,
    /// Walks and is knocked back by 10 m/s now and then.
    Knock,
    /// Drives at up to 28 m/s, slides, reverses.
    Kart,
    /// To and fro on a platform that turns and rises.
    Platform,
    /// 6 m/s in a circle of 2 m.
    Circle,
    /// Bounces off the floor and four walls.
    Ball,
    /// To and fro, and every 3 s somewhere else.
    Teleport,
    /// 30 m/s in a wide circle; not one of [`ALL`](Self::ALL).
    Fast,
    /// Our capsule mover in the arena: strafes, stops, jumps, crouches, stairs and a ramp.
    Recorded,
    /// Our kart on a field with posts, sills and ramps.
    RecordedKart,
}

impl Path {
    /// Those of the figures of every path.
    pub const ALL: [Self; 13] = [
        Self::Adad,
        Self::StopStart,
        Self::Instant,
        Self::Jump,
        Self::Bhop,
        Self::Knock,
        Self::Kart,
        Self::Platform,
        Self::Circle,
        Self::Ball,
        Self::Teleport,
        Self::Recorded,
        Self::RecordedKart,
    ];

    /// As in the figures' keys.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adad => "adad",
            Self::StopStart => "stopstart",
            Self::Instant => "instant",
            Self::Jump => "jump",
            Self::Bhop => "bhop",
            Self::Knock => "knock",
            Self::Kart => "kart",
            Self::Platform => "platform",
            Self::Circle => "circle",
            Self::Ball => "ball",
            Self::Teleport => "teleport",
            Self::Fast => "fast",
            Self::Recorded => "recorded",
            Self::RecordedKart => "recorded_kart",
        }
    }

    /// The truth of this path for so many seconds; equal seeds move alike.
    ///
    /// # Errors
    /// One line when a recording failed.
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
            Self::Fast => walkers::circle(seconds, 30.0, 60.0),
            Self::Ball => ball::ball(seconds, seed),
            Self::Teleport => walkers::teleport(seconds, seed),
            Self::Recorded => recorded::capsule(seconds, seed)?,
            Self::RecordedKart => recorded::kart(seconds, seed)?,
        })
    }
}
