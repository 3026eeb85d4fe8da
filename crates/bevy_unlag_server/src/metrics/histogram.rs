//! Histograms of durations, with fixed bounds.

use core::time::Duration;

/// Bounds in seconds for the time that a part of a frame takes. 1/128 s and 1/64 s are among them: half a tick and a
/// tick at 64 Hz.
pub(super) const FRAME_BOUNDS: &[f64] = &[
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.004, 0.0078125, 0.015625, 0.03125, 0.0625, 0.125, 0.25,
    1.0,
];

/// Bounds in seconds for the age of the poses against which shots are tested.
pub(super) const REWIND_BOUNDS: &[f64] = &[0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0];

/// Counts of durations by bucket.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Histogram {
    /// Largest value of each bucket but the last one, ascending.
    bounds: &'static [f64],
    /// Number of values by bucket; the last one has those beyond all bounds.
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    /// Creates an empty histogram.
    pub fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: 0.0 }
    }

    /// Adds a value.
    pub fn observe(&mut self, value: Duration) {
        let seconds = value.as_secs_f64();
        // A value that equals a bound is within it.
        let bucket = self.bounds.partition_point(|bound| *bound < seconds);
        self.counts[bucket] += 1;
        self.sum += seconds;
    }

    /// Returns each bound with the number of values up to it.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        self.bounds.iter().zip(&self.counts).scan(0, |sum, (bound, count)| {
            *sum += count;
            Some((*bound, *sum))
        })
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of the values in seconds.
    pub fn sum(&self) -> f64 {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_at_a_bound_is_within_it_and_counts_add_up() {
        let mut histogram = Histogram::new(&[0.25, 0.5, 1.0]);
        for ms in [0, 250, 251, 500, 1_000, 1_001, 60_000] {
            histogram.observe(Duration::from_millis(ms));
        }
        let buckets: Vec<_> = histogram.cumulative().collect();
        assert_eq!(buckets, [(0.25, 2), (0.5, 4), (1.0, 5)]);
        assert_eq!(histogram.count(), 7);
        assert!((histogram.sum() - 63.002).abs() < 1e-9, "{}", histogram.sum());
    }

    #[test]
    fn bounds_of_all_histograms_ascend() {
        for bounds in [FRAME_BOUNDS, REWIND_BOUNDS] {
            assert!(bounds.is_sorted_by(|a, b| a < b), "{bounds:?}");
        }
    }
}
