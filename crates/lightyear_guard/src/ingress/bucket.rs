//! A budget that fills with time.

use core::time::Duration;

/// What may still be spent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket(f32);

impl Bucket {
    /// A full one, however large.
    pub(super) const FULL: Self = Self(f32::INFINITY);

    /// Fills up at this rate a second, to no more than comes in `burst`. A rate that is no number fills nothing.
    pub(super) fn fill(&mut self, rate: f32, burst: Duration, passed: Duration) {
        let rate = rate.max(0.0);
        self.0 = (self.0 + rate * passed.as_secs_f32()).min(rate * burst.as_secs_f32());
    }

    /// Whether there is as much.
    pub(super) fn has(self, cost: f32) -> bool {
        self.0 >= cost
    }

    /// Takes as much, which must be there.
    pub(super) fn spend(&mut self, cost: f32) {
        self.0 -= cost;
    }

    /// Takes as much if it is there.
    pub(super) fn take(&mut self, cost: f32) -> bool {
        let has = self.has(cost);
        if has {
            self.spend(cost);
        }
        has
    }
}

/// So many of something a second, counted when there is one of it.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    bucket: Bucket,
    filled: Duration,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { bucket: Bucket::FULL, filled: Duration::ZERO }
    }
}

impl Allowance {
    /// Takes one if there is one. At once may come what `burst` saves up, and never fewer than `least`.
    pub fn take(&mut self, per_second: f32, burst: Duration, least: f32, now: Duration) -> bool {
        let slow = Duration::try_from_secs_f32(least / per_second).unwrap_or(burst);
        self.bucket.fill(per_second, burst.max(slow), now.saturating_sub(self.filled));
        self.filled = now;
        self.bucket.take(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_the_rate() {
        let (burst, frame) = (Duration::from_secs(2), Duration::from_millis(10));
        let mut bucket = Bucket::FULL;
        let mut taken = [0; 2];
        for taken in &mut taken {
            for _ in 0..100 {
                bucket.fill(50.0, burst, frame);
                *taken += (0..10).filter(|_| bucket.take(1.0)).count();
            }
        }
        assert!((149..=151).contains(&taken[0]) && (49..=51).contains(&taken[1]), "{taken:?}");
    }

    #[test]
    fn no_rate_is_no_budget() {
        for rate in [0.0, -5.0, f32::NAN, f32::NEG_INFINITY] {
            let mut bucket = Bucket::FULL;
            bucket.fill(rate, Duration::from_secs(2), Duration::from_secs(100));
            assert!(!bucket.take(1.0), "{rate}");
        }
    }

    #[test]
    fn no_limit_is_no_limit() {
        let mut bucket = Bucket::FULL;
        for _ in 0..10 {
            bucket.fill(f32::INFINITY, Duration::from_secs(2), Duration::from_millis(1));
            assert!(bucket.take(1e9));
        }
    }

    #[test]
    fn an_allowance_counts_when_asked_and_has_room_for_one() {
        let burst = Duration::from_secs(1);
        let mut often = Allowance::default();
        let taken = |allowance: &mut Allowance, rate, now| {
            (0..100).filter(|_| allowance.take(rate, burst, 1.0, Duration::from_millis(now))).count()
        };
        assert_eq!(taken(&mut often, 10.0, 5_000), 10);
        assert_eq!(taken(&mut often, 10.0, 5_250), 2);
        assert_eq!(taken(&mut often, 10.0, 60_000), 10);
        let mut seldom = Allowance::default();
        assert_eq!([0, 9_000, 10_100].map(|now| taken(&mut seldom, 0.1, now)), [1, 0, 1]);
        for none in [0.0, -1.0, f32::NAN] {
            assert_eq!(taken(&mut Allowance::default(), none, 60_000), 0, "{none}");
        }
        assert_eq!(taken(&mut Allowance::default(), f32::INFINITY, 60_000), 100);
    }
}
