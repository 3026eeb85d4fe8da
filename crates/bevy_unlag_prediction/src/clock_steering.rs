//! Clock steering that keeps the client's ticks aligned with the server's despite clock drift.

use bevy::prelude::*;

/// Speed at which this app's game time should run, so that its ticks keep their offset from the server's.
/// The owner of [`Time<Virtual>`]'s speed has to multiply it in; `bevy_unlag_lightyear` does.
///
/// The steering learns from acknowledgements: the server sends how many ticks a move was behind the
/// server's own tick on arrival, and the round trip is known. The remainder grows when this clock is slow
/// and shrinks when it is fast, on any link whose uplink and downlink take about the same time.
#[doc(alias = "time dilation")]
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct ClockSteering {
    /// Speed relative to real time, within 6 % of 1: enough for a clock that is 5 % slow.
    pub speed: f64,
    /// Seconds by which this client's ticks are behind their initial offset.
    pub behind: f64,
    /// Smoothed remainder in seconds, and its initial value.
    smoothed: Option<(f64, f64)>,
    samples: u32,
    sampled_at: f64,
}

impl Default for ClockSteering {
    fn default() -> Self {
        Self { speed: 1.0, behind: 0.0, smoothed: None, samples: 0, sampled_at: 0.0 }
    }
}

impl ClockSteering {
    /// Maximum deviation of the speed from 1.
    const MAX_DEVIATION: f64 = 0.06;
    /// Time constant of the smoothing, in seconds.
    const SMOOTHING_SECONDS: f64 = 2.0;
    /// Error in seconds that counts as jitter of the link instead of drift.
    const JITTER_TOLERANCE: f64 = 0.03;
    /// Seconds in which an error beyond that is corrected.
    const CORRECTION_SECONDS: f64 = 4.0;
    /// Number of samples after which the initial value is fixed.
    const LEARNING_SAMPLES: u32 = 64;
    /// Error in seconds beyond which the cause is not drift but a change of the tick count.
    const RESET_ERROR: f64 = 1.0;

    /// Adds a sample: a move was `lag` seconds behind the server on arrival, of which half the round trip
    /// is due to the link. Both are in seconds of the game, `now` is in seconds of real time.
    pub(crate) fn sample(&mut self, lag: f64, rtt: f64, now: f64) {
        let sample = lag - rtt / 2.0;
        let passed = (now - self.sampled_at).clamp(0.0, 1.0);
        self.sampled_at = now;
        let (smoothed, origin) = self.smoothed.unwrap_or((sample, sample));
        let smoothed = smoothed + (sample - smoothed) * (1.0 - (-passed / Self::SMOOTHING_SECONDS).exp());
        self.samples = self.samples.saturating_add(1);
        let lost = (sample - origin).abs() > Self::RESET_ERROR;
        let origin = if self.samples <= Self::LEARNING_SAMPLES || lost { smoothed } else { origin };
        self.smoothed = Some(if lost { (sample, sample) } else { (smoothed, origin) });
        self.behind = if lost { 0.0 } else { smoothed - origin };
        let error = self.behind.abs() - Self::JITTER_TOLERANCE;
        let speed = (error.max(0.0) / Self::CORRECTION_SECONDS).min(Self::MAX_DEVIATION);
        self.speed = 1.0 + speed.copysign(self.behind);
    }

    /// Starts over for another server or another tick count.
    pub(crate) fn restart(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;

    /// Returns the largest error in seconds of a steered clock with this speed.
    fn off_after(speed: f64, seconds: f64) -> f64 {
        let mut steering = ClockSteering::default();
        let (mut client, mut now, mut worst) = (0.0, 0.0, 0.0_f64);
        let mut rng = SmallRng::seed_from_u64(12_345);
        while now < seconds {
            now += 1.0 / 32.0;
            client += speed * steering.speed / 32.0;
            let jitter = rng.random_range(0.0..0.03);
            steering.sample(now - client + 0.045 + jitter, 0.09 + jitter, now);
            worst = worst.max((now - client).abs());
        }
        worst
    }

    #[test]
    fn steering_bounds_the_error_of_slow_and_fast_clocks() {
        for speed in [0.995, 1.005, 0.97, 1.03, 0.95, 1.05] {
            let off = off_after(speed, 600.0);
            assert!(off < 0.3, "a clock of {speed} is off by {off} s");
        }
        assert!(off_after(1.0, 60.0) < 0.02, "a correct clock is not steered");
    }
}
