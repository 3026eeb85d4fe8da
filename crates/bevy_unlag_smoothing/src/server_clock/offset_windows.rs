//! Offset and drift of the server's clock: a weighted line through the best samples of each window.

use std::collections::VecDeque;

use bevy::prelude::*;

use super::ServerClockConfig;

/// Sample of one exchange: the apparent latency of each direction, without knowledge of the server's clock.
/// Both contain the offset, with opposite signs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ExchangeSample {
    /// Arrival of the reply, in seconds of this machine.
    pub at: f64,
    /// Server's time of arrival − this machine's time of sending.
    pub up: f64,
    /// This machine's time of arrival − server's time of sending.
    pub down: f64,
}

impl ExchangeSample {
    /// Returns the distance of an offset from the range that this exchange allows. Nothing arrives before it
    /// was sent, so the offset is at most `up` and at least −`down`, however bad the link is.
    pub(super) fn distance_outside(&self, offset: f64) -> f64 {
        (offset - self.up).max(-self.down - offset).max(0.0)
    }
}

/// Fastest uplink and fastest downlink sample within a window of a few seconds, usually from two different
/// exchanges.
#[derive(Clone, Copy, Debug)]
struct OffsetWindow {
    began: f64,
    up: (f64, f64),
    down: (f64, f64),
}

impl OffsetWindow {
    fn new(legs: &ExchangeSample) -> Self {
        Self { began: legs.at, up: (legs.at, legs.up), down: (legs.at, legs.down) }
    }

    fn add_sample(&mut self, legs: &ExchangeSample) {
        if legs.up < self.up.1 {
            self.up = (legs.at, legs.up);
        }
        if legs.down < self.down.1 {
            self.down = (legs.at, legs.down);
        }
    }

    fn round_trip(&self) -> f64 {
        self.up.1 + self.down.1
    }
}

/// Offset (server − client, in seconds) and its drift.
#[derive(Clone, Copy, PartialEq, Debug, Default, Reflect)]
pub(super) struct OffsetLine {
    pub at: f64,
    pub offset: f64,
    pub drift: f64,
}

impl OffsetLine {
    pub(super) fn offset_at(&self, seconds: f64) -> f64 {
        self.offset + self.drift * (seconds - self.at)
    }
}

/// Bounded list of windows, oldest first.
#[derive(Clone, Debug)]
pub(super) struct OffsetWindows(VecDeque<OffsetWindow>);

impl OffsetWindows {
    /// Maximum number of windows, whatever the configuration is.
    const MOST: usize = 64;
    /// Minimum error of a window in seconds: the resolution of a frame's time stamp.
    const FLOOR: f64 = 3e-4;
    /// Error of a window as a fraction of how much its round trip exceeds the minimum possible one. At most
    /// a half; both directions share it, so it is usually half of that.
    const SHARE: f64 = 0.25;
    /// Usual drift of quartz clocks, in seconds per second. A larger one must be observed for longer.
    const USUAL_DRIFT: f64 = 1.5e-4;
    /// Maximum drift of any clock.
    const MOST_DRIFT: f64 = 1e-3;

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
        for spell in &self.0 {
            let mut slower = spell.round_trip();
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
            Some(spell) if legs.at - spell.began < config.spell => spell.add_sample(legs),
            _ => {
                while self.0.len() >= config.spells.clamp(1, Self::MOST) {
                    self.0.pop_front();
                }
                self.0.push_back(OffsetWindow::new(legs));
            }
        }
        // Also by age: after an outage, old windows are useless for a clock that drifts.
        let oldest = legs.at - config.spell.max(0.0) * config.spells.clamp(1, Self::MOST) as f64;
        while self.0.front().is_some_and(|spell| spell.began < oldest) {
            self.0.pop_front();
        }
    }

    /// Returns the least squares line through the windows, each weighted by its round trip. A few excellent
    /// windows dominate, many equally bad ones are averaged, and one that was spoilt by a full buffer does
    /// not count. `now` is the time for which the line is requested.
    pub(super) fn line(&self, now: f64) -> Option<OffsetLine> {
        let (best, below) = self.best()?;
        let (mut weights, mut times, mut offsets) = (0.0, 0.0, 0.0);
        let points = self.0.iter().map(|spell| {
            let wrong = (spell.round_trip() - best + below) * Self::SHARE;
            let weight = 1.0 / (Self::FLOOR * Self::FLOOR + wrong * wrong);
            ((spell.up.0 + spell.down.0) / 2.0 - now, (spell.up.1 - spell.down.1) / 2.0, weight)
        });
        for (time, offset, weight) in points.clone() {
            weights += weight;
            times += weight * time;
            offsets += weight * offset;
        }
        let (time_mean, offset_mean) = (times / weights, offsets / weights);
        let (mut spread, mut slope) = (1.0 / (Self::USUAL_DRIFT * Self::USUAL_DRIFT), 0.0);
        for (time, offset, weight) in points {
            spread += weight * (time - time_mean) * (time - time_mean);
            slope += weight * (time - time_mean) * (offset - offset_mean);
        }
        let drift = (slope / spread).clamp(-Self::MOST_DRIFT, Self::MOST_DRIFT);
        let offset = offset_mean - drift * time_mean;
        offset.is_finite().then_some(OffsetLine { at: now, offset, drift })
    }
}
