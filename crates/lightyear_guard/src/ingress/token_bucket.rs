//! Token bucket rate limiter for incoming packets.

use core::time::Duration;

/// Remaining budget of a token bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket(f32);

impl Default for TokenBucket {
    fn default() -> Self {
        Self::FULL
    }
}

impl TokenBucket {
    /// A bucket that is full, whatever its capacity.
    pub(crate) const FULL: Self = Self(f32::INFINITY);

    /// Adds tokens at `rate` per second, up to the capacity of `rate` × `burst`. A negative or NaN rate
    /// counts as 0.
    pub(crate) fn fill(&mut self, rate: f32, burst: Duration, passed: Duration) {
        let rate = rate.max(0.0);
        self.0 = (self.0 + rate * passed.as_secs_f32()).min(rate * burst.as_secs_f32());
    }

    /// Whether the bucket holds `cost` tokens.
    pub(crate) fn has(self, cost: f32) -> bool {
        self.0 >= cost
    }

    /// Takes `cost` tokens, which must be there.
    pub(crate) fn spend(&mut self, cost: f32) {
        self.0 -= cost;
    }

    /// Takes `cost` tokens if they are there. Returns whether they were.
    pub(crate) fn take(&mut self, cost: f32) -> bool {
        let has = self.has(cost);
        if has {
            self.spend(cost);
        }
        has
    }
}

/// Rate limiter for single events, refilled when it is queried.
#[derive(Clone, Copy, Default, Debug)]
pub struct RateLimiter {
    bucket: TokenBucket,
    filled: Duration,
}

impl RateLimiter {
    /// Admits one event if the rate allows. The capacity is what accumulates in `burst`, at least `least`
    /// events.
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
    fn bucket_admits_a_burst_and_then_its_rate() {
        let (burst, frame) = (Duration::from_secs(2), Duration::from_millis(10));
        let mut bucket = TokenBucket::FULL;
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
    fn bucket_without_a_valid_rate_admits_nothing() {
        for rate in [0.0, -5.0, f32::NAN, f32::NEG_INFINITY] {
            let mut bucket = TokenBucket::FULL;
            bucket.fill(rate, Duration::from_secs(2), Duration::from_secs(100));
            assert!(!bucket.take(1.0), "{rate}");
        }
    }

    #[test]
    fn bucket_with_an_infinite_rate_admits_everything() {
        let mut bucket = TokenBucket::FULL;
        for _ in 0..10 {
            bucket.fill(f32::INFINITY, Duration::from_secs(2), Duration::from_millis(1));
            assert!(bucket.take(1e9));
        }
    }

    #[test]
    fn rate_limiter_refills_on_query_and_always_has_room_for_one() {
        let burst = Duration::from_secs(1);
        let mut often = RateLimiter::default();
        let taken = |allowance: &mut RateLimiter, rate, now| {
            (0..100).filter(|_| allowance.take(rate, burst, 1.0, Duration::from_millis(now))).count()
        };
        assert_eq!(taken(&mut often, 10.0, 5_000), 10);
        assert_eq!(taken(&mut often, 10.0, 5_250), 2);
        assert_eq!(taken(&mut often, 10.0, 60_000), 10);
        let mut seldom = RateLimiter::default();
        assert_eq!([0, 9_000, 10_100].map(|now| taken(&mut seldom, 0.1, now)), [1, 0, 1]);
        for none in [0.0, -1.0, f32::NAN] {
            assert_eq!(taken(&mut RateLimiter::default(), none, 60_000), 0, "{none}");
        }
        assert_eq!(taken(&mut RateLimiter::default(), f32::INFINITY, 60_000), 100);
    }
}
