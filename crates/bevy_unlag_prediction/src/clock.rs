//! Keeps the client's ticks on the server's time line: two clocks never run equally fast.

use bevy::prelude::*;

/// How fast this app's game time should run, so that its ticks stay where they are on the server's
/// time line. Whoever sets the speed of [`Time<Virtual>`] multiplies it in; the lightyear glue does.
///
/// It learns from answers: the server says how far behind its own tick a move was when it arrived,
/// and the round trip is known. What is left grows when this clock is slow and shrinks when it is
/// fast, whatever the link does, as long as both ways are about equally long.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct ClockSteering {
    /// In parts of real time, within 5 % of 1.
    pub speed: f64,
    /// How far, in seconds, this client's ticks are behind where they began.
    pub behind: f64,
    /// Smoothed seconds behind, and where that began.
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
    /// The most that anything is steered.
    const MOST: f64 = 0.05;
    /// Seconds over which samples are smoothed.
    const MEMORY: f64 = 2.0;
    /// Seconds that are no drift but the weather of the link.
    const CALM: f64 = 0.03;
    /// Seconds in which an error beyond that is to be made up for.
    const PATIENCE: f64 = 4.0;
    /// Samples after which the beginning is known.
    const SETTLED: u32 = 64;
    /// An error beyond this many seconds is no drift: the time lines were set anew.
    const LOST: f64 = 1.0;

    /// Takes in that a move was `lag` seconds behind the server when it arrived, of which the link
    /// explains half the round trip.
    pub(crate) fn sample(&mut self, lag: f64, rtt: f64, now: f64) {
        let sample = lag - rtt / 2.0;
        let passed = (now - self.sampled_at).clamp(0.0, 1.0);
        self.sampled_at = now;
        let (smoothed, origin) = self.smoothed.unwrap_or((sample, sample));
        let smoothed = smoothed + (sample - smoothed) * (1.0 - (-passed / Self::MEMORY).exp());
        self.samples = self.samples.saturating_add(1);
        let lost = (sample - origin).abs() > Self::LOST;
        let origin = if self.samples <= Self::SETTLED || lost { smoothed } else { origin };
        self.smoothed = Some(if lost { (sample, sample) } else { (smoothed, origin) });
        self.behind = if lost { 0.0 } else { smoothed - origin };
        let error = self.behind.abs() - Self::CALM;
        let speed = (error.max(0.0) / Self::PATIENCE).min(Self::MOST);
        self.speed = 1.0 + speed.copysign(self.behind);
    }

    /// Begins anew: another server, another time line.
    pub(crate) fn restart(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a clock of this speed for a while and says how far it is off in the end, in seconds.
    fn off_after(speed: f64, seconds: f64) -> f64 {
        let mut steering = ClockSteering::default();
        let (mut client, mut now, mut worst) = (0.0, 0.0, 0.0_f64);
        let mut dice = 12_345_u64;
        while now < seconds {
            now += 1.0 / 32.0;
            client += speed * steering.speed / 32.0;
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let jitter = (dice >> 40) as f64 / (1 << 24) as f64 * 0.03;
            steering.sample(now - client + 0.045 + jitter, 0.09 + jitter, now);
            worst = worst.max((now - client).abs());
        }
        worst
    }

    #[test]
    fn a_slow_and_a_fast_clock_are_held() {
        for speed in [0.995, 1.005, 0.97, 1.03] {
            let off = off_after(speed, 600.0);
            assert!(off < 0.3, "a clock of {speed} is off by {off} s");
        }
        assert!(off_after(1.0, 60.0) < 0.02, "a good clock is left alone");
    }
}
