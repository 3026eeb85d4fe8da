//! The lab's own paths, of which both are sent the same snapshots.

#[expect(dead_code, reason = "the lab asks for more")]
#[path = "../../../unlag_lab/src/smoothing/truth/body.rs"]
mod body;
#[path = "../../../unlag_lab/src/smoothing/truth/kart.rs"]
mod kart;
#[expect(dead_code, reason = "the lab has more of them")]
#[path = "../../../unlag_lab/src/smoothing/truth/walkers.rs"]
mod walkers;

use bevy_unlag_core::{Snapshot, Tick, angle_to_units};
use body::{Body, DT, FINE, integrate, level, towards, turning};
pub use body::{Moment, TICKS, Truth};

/// What is moving, and how: as in the lab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Path {
    /// To and fro at 6 m/s, turning with 20 m/s² every 0.25 to 0.7 s.
    Adad,
    /// Runs, stops, runs another way.
    StopStart,
    /// Jumps again as it lands, turning in the air.
    Bhop,
    /// Drives at up to 28 m/s, slides, reverses.
    Kart,
    /// To and fro, and every 3 s somewhere else; for the judge's own tests.
    #[cfg(test)]
    Teleport,
}

impl Path {
    /// Those that are watched.
    pub const ALL: [Self; 4] = [Self::Adad, Self::StopStart, Self::Bhop, Self::Kart];

    /// As in the figures' keys.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adad => "adad",
            Self::StopStart => "stopstart",
            Self::Bhop => "bhop",
            Self::Kart => "kart",
            #[cfg(test)]
            Self::Teleport => "teleport",
        }
    }

    /// The truth of this path for so many seconds; equal seeds move alike.
    ///
    /// # Errors
    /// Never; those of the lab may fail.
    pub fn truth(self, seconds: f64, seed: u64) -> Result<Truth, String> {
        Ok(match self {
            Self::Adad => walkers::adad(seconds, 20.0, 6.0, seed),
            Self::StopStart => walkers::stop_start(seconds, seed),
            Self::Bhop => walkers::bhop(seconds),
            Self::Kart => kart::kart(seconds, seed),
            #[cfg(test)]
            Self::Teleport => walkers::teleport(seconds, seed),
        })
    }
}
