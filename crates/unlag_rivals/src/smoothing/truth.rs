//! Paths of the lab, from which both sides receive the same snapshots.

#[expect(dead_code, reason = "the lab asks for more")]
#[path = "../../../unlag_lab/src/smoothing/truth/body.rs"]
mod body;
#[path = "../../../unlag_lab/src/smoothing/truth/kart.rs"]
mod kart;
#[expect(dead_code, reason = "the lab has more of them")]
#[path = "../../../unlag_lab/src/smoothing/truth/walkers.rs"]
mod walkers;

use bevy_unlag_core::{Snapshot, Tick, angle_to_units};
use body::{Body, DT, STEPS_PER_TICK, acceleration_towards, horizontal, integrate, turning_acceleration};
pub use body::{Moment, TICKS_PER_SECOND, Truth};

/// Motion of a truth, as in the lab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Path {
    /// Back and forth at 6 m/s, reversing with 20 m/s² every 0.25 to 0.7 s.
    Adad,
    /// Runs, stops, runs in another direction.
    StopStart,
    /// Jumps again on landing and turns in the air.
    Bhop,
    /// Drives at up to 28 m/s, slides, reverses.
    Kart,
    /// Back and forth, with a teleport every 3 s; for the tests of the error metrics.
    #[cfg(test)]
    Teleport,
}

impl Path {
    /// Measured paths with their names in JSON keys.
    pub const ALL: [(Self, &str); 4] =
        [(Self::Adad, "adad"), (Self::StopStart, "stopstart"), (Self::Bhop, "bhop"), (Self::Kart, "kart")];

    /// Creates a truth of this path; equal seeds move alike.
    ///
    /// # Errors
    /// Never fails; the lab's function of this name can.
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
