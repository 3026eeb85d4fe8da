//! Exchanges of a bounded time, in windows: the fastest samples of each, and the moments of all.

use std::collections::VecDeque;

use super::{
    ServerClockConfig,
    exchange_sample::{ExchangeSample, OffsetWindow},
    offset_line::{OffsetEstimate, OffsetLine},
};

/// Bounded list of windows, oldest first.
#[derive(Clone, Debug)]
pub(super) struct OffsetWindows(VecDeque<OffsetWindow>);

impl OffsetWindows {
    /// Maximum number of windows, whatever the configuration is.
    const MOST: usize = 64;

    pub(super) fn new() -> Self {
        Self(VecDeque::with_capacity(Self::MOST))
    }

    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.0.capacity()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the fastest round trip, and by how much the minimum possible one may be lower: about as much
    /// as the third fastest is higher.
    pub(super) fn best(&self) -> Option<(f64, f64)> {
        let mut fastest = [f64::INFINITY; 3];
        for window in &self.0 {
            let mut slower = window.round_trip();
            for place in &mut fastest {
                if slower < *place {
                    core::mem::swap(place, &mut slower);
                }
            }
        }
        let mut known = fastest.iter().filter(|round_trip| round_trip.is_finite());
        Some((fastest[0], known.next_back()? - fastest[0]))
    }

    pub(super) fn add_sample(&mut self, legs: &ExchangeSample, config: &ServerClockConfig) {
        match self.0.back_mut() {
            Some(window) if legs.at - window.began < config.window_seconds => window.add_sample(legs),
            _ => {
                while self.0.len() >= config.max_windows.clamp(1, Self::MOST) {
                    self.0.pop_front();
                }
                self.0.push_back(OffsetWindow::new(legs));
            }
        }
        // Also by age: after an outage, old windows are useless for a clock that drifts.
        let oldest =
            legs.at - config.window_seconds.max(0.0) * config.max_windows.clamp(1, Self::MOST) as f64;
        while self.0.front().is_some_and(|window| window.began < oldest) {
            self.0.pop_front();
        }
    }

    /// Returns the estimate by the fastest samples; see [`OffsetEstimate::fastest`].
    pub(super) fn fastest(&self, now: f64) -> Option<OffsetEstimate> {
        let (best, below) = self.best()?;
        OffsetEstimate::fastest(self.0.iter(), now, best, below)
    }

    /// Returns the line for `now`: that of the fastest samples, that of all samples, or one between the two,
    /// whichever is more certain.
    pub(super) fn line(&self, now: f64) -> Option<OffsetLine> {
        let fastest = self.fastest(now)?;
        let average = OffsetEstimate::average(self.0.iter(), now, fastest.line.drift)?;
        // One window does not show how much its fastest samples owe to chance.
        let error = if self.0.len() == 1 { average.error } else { fastest.error };
        Some(OffsetEstimate { error, ..fastest }.combined_with(&average))
    }
}
