//! Offset and drift of the server's clock from the windows of exchanges, by two estimates.
//!
//! The fastest sample of a direction is exact on a link that now and then delays a packet by nothing but its
//! latency, however much others are delayed. Where no packet is that fast, as in a queue that is never empty,
//! it is an accident, and the mean of all samples is better. Each estimate comes with its error, as far as the
//! samples show it.

use bevy::prelude::*;

use super::exchange_sample::{Moments, OffsetWindow};

/// Offset (server − client, in seconds) and its drift.
#[derive(Clone, Copy, PartialEq, Debug, Default, Reflect)]
pub(super) struct OffsetLine {
    pub at: f64,
    pub offset: f64,
    pub drift: f64,
}

impl OffsetLine {
    /// Usual drift of quartz clocks, in seconds per second. A larger one must be observed for longer.
    const USUAL_DRIFT: f64 = 1.5e-4;
    /// Maximum drift of any clock.
    const MOST_DRIFT: f64 = 1e-3;

    pub(super) fn offset_at(&self, seconds: f64) -> f64 {
        self.offset + self.drift * (seconds - self.at)
    }

    /// Returns the least squares line through points of (time before `now`, offset, weight), and the variance of its
    /// drift. A weight is the inverse of the point's variance.
    fn through(points: impl Iterator<Item = (f64, f64, f64)> + Clone, now: f64) -> Option<(Self, f64, f64)> {
        let (mut weights, mut times, mut offsets) = (0.0, 0.0, 0.0);
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
        let line = Self { at: now, offset, drift };
        offset.is_finite().then_some((line, 1.0 / weights, time_mean * time_mean / spread))
    }
}

/// Line and its likely error.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct OffsetEstimate {
    pub line: OffsetLine,
    /// Likely error in seconds.
    pub error: f64,
}

impl OffsetEstimate {
    /// Minimum error of a window in seconds: the resolution of a frame's time stamp.
    const FLOOR: f64 = 3e-4;
    /// Error of a window as a fraction of how much its round trip exceeds the minimum possible one. At most
    /// a half; both directions share it, so it is usually half of that.
    const SHARE: f64 = 0.25;
    /// Number of exchanges that tell as much as one, because packets close in time wait in the same queue.
    const SAME_QUEUE: f64 = 3.0;
    /// Factor of the average's error in the comparison with the other estimate's: it is an upper bound more
    /// often.
    const AVERAGE_BOUND: f64 = 0.7;

    /// Returns the line through the fastest samples of each window, each window weighted by its round trip. A
    /// few excellent windows dominate, many equally bad ones are averaged, and one that was spoilt by a full
    /// buffer does not count. The error is half of what the third fastest samples are slower than the fastest.
    ///
    /// `best` is the fastest round trip, `below` by how much the minimum possible one may be lower.
    pub(super) fn fastest<'a>(
        windows: impl Iterator<Item = &'a OffsetWindow> + Clone,
        now: f64,
        best: f64,
        below: f64,
    ) -> Option<Self> {
        let points = windows.clone().map(|window| {
            let wrong = (window.round_trip() - best + below) * Self::SHARE;
            let weight = 1.0 / (Self::FLOOR * Self::FLOOR + wrong * wrong);
            ((window.up.0 + window.down.0) / 2.0 - now, (window.up.1 - window.down.1) / 2.0, weight)
        });
        let (line, ..) = OffsetLine::through(points, now)?;
        let ups = windows.clone().map(|window| window.up.1 - line.drift * (window.up.0 - now));
        let downs = windows.map(|window| window.down.1 + line.drift * (window.down.0 - now));
        Some(Self { line, error: third_over_first(ups).hypot(third_over_first(downs)) / 2.0 })
    }

    /// Returns the line through the means of each window. The error contains the difference of the two
    /// directions: one with a buffer that fills now and then is slower on average than the other by about as
    /// much as it varies more. `drift` is the estimate so far.
    pub(super) fn average<'a>(
        windows: impl Iterator<Item = &'a OffsetWindow> + Clone,
        now: f64,
        drift: f64,
    ) -> Option<Self> {
        let ups = variance(windows.clone(), |window| (window.ups, -drift * (window.at - now)))?;
        let downs = variance(windows.clone(), |window| (window.downs, drift * (window.at - now)))?;
        let each = ((ups + downs) / 4.0).max(Self::FLOOR * Self::FLOOR) * Self::SAME_QUEUE;
        let points = windows.map(|window| {
            (window.at - now, (window.ups.mean - window.downs.mean) / 2.0, window.count / each)
        });
        let (line, of_offset, of_drift) = OffsetLine::through(points, now)?;
        let asymmetry = ups.sqrt() - downs.sqrt();
        Some(Self { line, error: (of_offset + of_drift + asymmetry * asymmetry).sqrt() })
    }

    /// Returns the weighted mean of this line and that of the average. The more certain one prevails soon: their errors
    /// are not independent of each other.
    pub(super) fn combined_with(&self, average: &Self) -> OffsetLine {
        let weight = |error: f64| error.max(1e-6).powi(-4);
        let (own, other) = (weight(self.error), weight(average.error * Self::AVERAGE_BOUND));
        let share = other / (own + other);
        OffsetLine {
            at: self.line.at,
            offset: self.line.offset + share * (average.line.offset - self.line.offset),
            drift: self.line.drift + share * (average.line.drift - self.line.drift),
        }
    }
}

/// Returns the difference between the third smallest value, or the last of fewer, and the smallest.
fn third_over_first(values: impl Iterator<Item = f64>) -> f64 {
    let mut least = [f64::INFINITY; 3];
    for mut value in values {
        for place in &mut least {
            if value < *place {
                core::mem::swap(place, &mut value);
            }
        }
    }
    let last = least.into_iter().rfind(|value| value.is_finite());
    last.map_or(0.0, |last| last - least[0])
}

/// Returns the variance of all samples, `of` being the moments of a window and what to add to each of its
/// samples.
fn variance<'a>(
    windows: impl Iterator<Item = &'a OffsetWindow> + Clone,
    of: impl Fn(&OffsetWindow) -> (Moments, f64),
) -> Option<f64> {
    let (mut count, mut mean) = (0.0, 0.0);
    for window in windows.clone() {
        let (moments, shift) = of(window);
        count += window.count;
        mean += (moments.mean + shift - mean) * window.count / count;
    }
    let squares = windows.map(|window| {
        let (moments, shift) = of(window);
        moments.squares + window.count * (moments.mean + shift - mean).powi(2)
    });
    let variance = squares.sum::<f64>() / count;
    variance.is_finite().then_some(variance)
}
