//! Clock steering that keeps the client's ticks aligned with the server's despite clock drift.

use bevy::prelude::*;

/// Speed at which this app's game time should run, so that its ticks keep their offset from the server's.
/// The owner of [`Time<Virtual>`]'s speed has to multiply it in; `bevy_unlag_lightyear` does.
///
/// The steering learns from acknowledgements: the server sends how many ticks a move was behind the
/// server's own tick on arrival, and the round trip is known. The remainder grows when this clock is slow
/// and shrinks when it is fast, on any link whose uplink and downlink take about the same time.
///
/// A Kalman filter estimates the remainder and its rate of change, the drift. The drift is made up for at once, within
/// about a second after joining; an offset that has accumulated until then is brought back slowly.
///
/// With a transport of one's own:
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_prediction::ClockSteering;
///
/// /// In `First`, before Bevy's `TimeSystems`.
/// fn steer(steering: Res<ClockSteering>, mut time: ResMut<Time<Virtual>>) {
///     time.set_relative_speed(steering.speed as f32);
/// }
///
/// let mut app = App::new();
/// app.add_plugins(MinimalPlugins)
///     .init_resource::<ClockSteering>()
///     .add_systems(First, steer.before(bevy::time::TimeSystems));
/// app.update();
/// assert_eq!(app.world().resource::<Time<Virtual>>().relative_speed(), 1.0);
/// ```
#[doc(alias = "time dilation")]
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct ClockSteering {
    /// Speed relative to real time, within 6 % of 1: enough for a clock that is 5 % slow.
    pub speed: f64,
    /// Seconds by which this client's ticks are behind their initial offset.
    pub behind: f64,
    /// Drift of this machine's clock, which outlasts a change of the tick count.
    drift: Drift,
    filter: Option<OffsetFilter>,
    samples: u32,
}

impl Default for ClockSteering {
    fn default() -> Self {
        Self { speed: 1.0, behind: 0.0, drift: Drift::default(), filter: None, samples: 0 }
    }
}

impl ClockSteering {
    /// Maximum deviation of the speed from 1.
    const MAX_DEVIATION: f64 = 0.06;
    /// Error in seconds that counts as jitter of the link instead of drift.
    const JITTER_TOLERANCE: f64 = 0.03;
    /// Seconds in which an error beyond that is corrected.
    const CORRECTION_SECONDS: f64 = 4.0;
    /// Standard deviations that a drift must exceed to be made up for.
    const SIGNIFICANT: f64 = 3.0;
    /// Number of samples after which the initial value is fixed.
    const LEARNING_SAMPLES: u32 = 64;
    /// Error in seconds beyond which the cause is not drift but a change of the tick count.
    const RESET_ERROR: f64 = 1.0;

    /// Adds a sample: a move was `lag` seconds behind the server on arrival, of which half the round trip
    /// is due to the link. Both are in seconds of the game, `now` is in seconds of real time.
    pub(crate) fn sample(&mut self, lag: f64, rtt: f64, now: f64) {
        let sample = lag - rtt / 2.0;
        let known = self.filter.filter(|known| (sample - known.origin).abs() <= Self::RESET_ERROR);
        let Some(mut filter) = known else {
            self.restart();
            (self.filter, self.samples) = (Some(OffsetFilter::new(sample, now)), 1);
            return;
        };
        filter.sample(sample, &mut self.drift, self.speed, now);
        self.samples = self.samples.saturating_add(1);
        if self.samples <= Self::LEARNING_SAMPLES {
            filter.origin = filter.offset;
        }
        self.behind = filter.offset - filter.origin;
        self.filter = Some(filter);
        self.update_speed();
    }

    fn update_speed(&mut self) {
        let error = (self.behind.abs() - Self::JITTER_TOLERANCE).max(0.0).copysign(self.behind);
        let is_drift = self.drift.rate.abs() > Self::SIGNIFICANT * self.drift.variance.sqrt();
        let drift = if is_drift { self.drift.rate } else { 0.0 };
        let deviation = drift + error / Self::CORRECTION_SECONDS;
        self.speed = 1.0 + deviation.clamp(-Self::MAX_DEVIATION, Self::MAX_DEVIATION);
    }

    /// Starts over for another server or another tick count. The known drift of this machine's clock stays.
    pub(crate) fn restart(&mut self) {
        *self = Self { drift: self.drift, ..Self::default() };
        self.update_speed();
    }
}

/// Estimated drift of a clock, in seconds that it loses per second.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
struct Drift {
    rate: f64,
    variance: f64,
}

impl Drift {
    /// Variance before anything is known: clocks are rarely off by more than 3 %.
    const INITIAL_VARIANCE: f64 = 0.03 * 0.03;
    /// Growth of the variance in a second: clocks change by up to 0.1 % in it.
    const CHANGE_VARIANCE: f64 = 1e-3 * 1e-3;
}

impl Default for Drift {
    fn default() -> Self {
        Self { rate: 0.0, variance: Self::INITIAL_VARIANCE }
    }
}

/// Kalman filter of the remainder. All values are in seconds and their squares.
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
struct OffsetFilter {
    /// Initial value of the offset.
    origin: f64,
    offset: f64,
    variance: f64,
    /// Covariance of the offset and the drift.
    covariance: f64,
    /// Variance of a sample.
    noise: f64,
    last_sample: f64,
    sampled_at: f64,
}

impl OffsetFilter {
    /// Initial and minimum variance of a sample. A lag is a whole number of ticks.
    const NOISE: (f64, f64) = (0.02 * 0.02, 0.006 * 0.006);
    /// Maximum square of the difference of two samples that counts as noise.
    const MAX_DIFFERENCE: f64 = 0.02;
    /// Time constant of the noise.
    const NOISE_SECONDS: f64 = 2.0;
    /// Standard deviations beyond which a sample counts as if it were that far away.
    const OUTLIER: f64 = 3.0;
    /// Maximum time between two samples that is predicted across.
    const MAX_GAP: f64 = 10.0;

    fn new(sample: f64, now: f64) -> Self {
        Self {
            origin: sample,
            offset: sample,
            variance: Self::NOISE.0,
            covariance: 0.0,
            noise: Self::NOISE.0,
            last_sample: sample,
            sampled_at: now,
        }
    }

    /// Adds a sample of a clock with this drift that has been steered to `speed` since the last one. Improves the
    /// estimate of the drift.
    fn sample(&mut self, sample: f64, drift: &mut Drift, speed: f64, now: f64) {
        let passed = (now - self.sampled_at).clamp(0.0, Self::MAX_GAP);
        self.sampled_at = now;
        self.offset += (1.0 + drift.rate - speed) * passed;
        self.variance += passed * (2.0 * self.covariance + passed * drift.variance);
        self.covariance += passed * drift.variance;
        drift.variance = (drift.variance + Drift::CHANGE_VARIANCE * passed).min(Drift::INITIAL_VARIANCE);

        // Of the difference of two samples, which contains neither the offset nor much of the drift.
        let difference = core::mem::replace(&mut self.last_sample, sample) - sample;
        let noise = (difference * difference).min(Self::MAX_DIFFERENCE) / 2.0;
        let weight = 1.0 - (-passed / Self::NOISE_SECONDS).exp();
        self.noise = (self.noise + (noise - self.noise) * weight).max(Self::NOISE.1);

        let expected = self.variance + self.noise;
        let most = Self::OUTLIER * expected.sqrt();
        let surprise = (sample - self.offset).min(most).max(-most);
        let (to_offset, to_drift) = (self.variance / expected, self.covariance / expected);
        self.offset += to_offset * surprise;
        drift.rate += to_drift * surprise;
        drift.variance -= to_drift * self.covariance;
        self.covariance -= to_offset * self.covariance;
        self.variance -= to_offset * self.variance;
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;

    #[test]
    fn noise_of_samples_is_forgotten_with_its_time_constant() {
        let (mut filter, mut drift) = (OffsetFilter::new(0.0, 0.0), Drift::default());
        for step in 1..=64 {
            filter.sample(0.0, &mut drift, 1.0, f64::from(step) / 32.0);
        }
        let left = filter.noise / OffsetFilter::NOISE.0;
        assert!((left - (-2.0 / OffsetFilter::NOISE_SECONDS).exp()).abs() < 0.01, "{left}");
    }

    #[test]
    fn noise_is_the_variance_of_a_sample_by_the_differences_of_two() {
        let (mut filter, mut drift) = (OffsetFilter::new(0.0, 0.0), Drift::default());
        for step in 1..=640 {
            // A standard deviation of 10 ms, and differences of 20 ms.
            filter.sample(f64::from(step % 2) * 0.02, &mut drift, 1.0, f64::from(step) / 32.0);
        }
        assert!((filter.noise - 2e-4).abs() < 1e-5, "{}", filter.noise);
    }

    /// Error of a steered clock.
    #[derive(Debug)]
    struct Steered {
        /// Largest error in seconds.
        off: f64,
        /// Largest deviation from the right speed after the first two seconds.
        wrong_speed: f64,
    }

    /// Steers a clock whose speed is 1, and `speed` from `changes_at` on.
    fn steer(speed: f64, changes_at: f64, seconds: f64) -> Steered {
        let mut steering = ClockSteering::default();
        let (mut client, mut real, mut now) = (0.0, 0.0, 0.0);
        let mut worst = Steered { off: 0.0, wrong_speed: 0.0 };
        let mut rng = SmallRng::seed_from_u64(12_345);
        while now < seconds {
            now += 1.0 / 32.0;
            let speed = if now < changes_at { 1.0 } else { speed };
            real += speed / 32.0;
            client += speed * steering.speed / 32.0;
            let [up, down] = [0; 2].map(|_| rng.random_range(0.0..0.03));
            let lag = ((now - client + 0.045 + up) * 64.0).round() / 64.0;
            steering.sample(lag, 0.09 + up + down, real);
            worst.off = worst.off.max((now - client).abs());
            if now > 2.0 {
                worst.wrong_speed = worst.wrong_speed.max((speed * steering.speed - 1.0).abs());
            }
        }
        worst
    }

    #[test]
    fn clock_that_is_wrong_from_the_start_is_steered_to_the_right_speed_within_two_seconds() {
        for speed in [0.998, 0.995, 1.005, 0.97, 1.03, 0.95, 1.05] {
            let worst = steer(speed, 0.0, 600.0);
            assert!(worst.off < 0.1 && worst.wrong_speed < 0.01, "a clock of {speed}: {worst:?}");
        }
        let right = steer(1.0, 0.0, 60.0);
        assert!(
            right.off < 0.01 && right.wrong_speed < 0.002,
            "a correct clock is hardly steered: {right:?}"
        );
    }

    #[test]
    fn clock_whose_speed_changes_in_the_middle_of_the_game_is_brought_back() {
        for speed in [0.95, 1.05] {
            let worst = steer(speed, 10.0, 60.0);
            assert!(worst.off < 0.2, "a clock that changes to {speed}: {worst:?}");
        }
    }

    #[test]
    fn samples_from_another_tick_count_start_the_steering_over() {
        let mut steering = ClockSteering::default();
        (0..100).for_each(|k| steering.sample(0.05, 0.1, f64::from(k) / 32.0));
        steering.sample(7.0, 0.1, 4.0);
        assert_eq!((steering.speed, steering.behind), (1.0, 0.0));
    }

    #[test]
    fn drift_outlasts_a_change_of_the_tick_count() {
        let mut steering = ClockSteering::default();
        let (mut server, mut client) = (0.0, 0.0);
        for k in 0..96 {
            let real = f64::from(k) / 32.0;
            steering.sample(0.05 + server - client, 0.1, real);
            server += 1.05 / 32.0;
            client += steering.speed / 32.0;
        }
        assert!((1.04..1.06).contains(&steering.speed), "{steering:?}");
        steering.restart();
        assert!((1.04..1.06).contains(&steering.speed) && steering.behind == 0.0, "{steering:?}");
    }
}
