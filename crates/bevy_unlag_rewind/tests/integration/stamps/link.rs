//! One direction of a simulated link, seeded.

use rand::{Rng, SeedableRng, rngs::SmallRng};

/// A link direction with latency, jitter, reordering and loss.
pub struct LinkDirection<T> {
    /// In seconds.
    latency: f64,
    /// Greatest deviation from the latency, in seconds.
    jitter: f64,
    loss: f64,
    rng: SmallRng,
    waiting: Vec<(f64, T)>,
}

impl<T> LinkDirection<T> {
    pub fn new(latency: f64, jitter: f64, loss: f64, seed: u64) -> Self {
        Self { latency, jitter, loss, rng: SmallRng::seed_from_u64(seed), waiting: Vec::new() }
    }

    pub fn send(&mut self, now: f64, message: T) {
        let (luck, off) = (self.rng.random::<f64>(), self.rng.random_range(-1.0..=1.0));
        if luck >= self.loss {
            self.waiting.push((now + (self.latency + off * self.jitter).max(0.0), message));
        }
    }

    /// Removes and returns the messages that have arrived by `now`, in order of arrival and with their
    /// times.
    pub fn arrived(&mut self, now: f64) -> Vec<(f64, T)> {
        let mut due: Vec<_> = self.waiting.extract_if(.., |(at, _)| *at <= now).collect();
        due.sort_by(|a, b| a.0.total_cmp(&b.0));
        due
    }
}
