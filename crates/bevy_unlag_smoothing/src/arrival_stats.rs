//! Statistics of arrivals on a link: minimum latency and the distribution of gaps.

use std::collections::VecDeque;

use crate::config::PlayoutConfig;

/// Number of gaps below which a quantile is unreliable and the longest gap counts.
const FEW: usize = 20;

/// Seconds between updates to which [`PlayoutConfig::quantile`] refers.
const USUAL_INTERVAL: f64 = 0.05;
/// Seconds after a lost update in which further losses are expected.
const LOSS_MEMORY: f64 = 60.0;
/// Minimum and maximum number of gaps that are remembered.
const MIN_GAPS: usize = 64;
const MAX_GAPS: usize = 1_024;
/// Statistics of the arrivals on a link. All times are in seconds. A slot is the tick of a snapshot on the
/// server's time line; an arrival is on this machine's.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalStats {
    /// (arrival, arrival − slot), offsets increasing from front to back: a sliding minimum.
    offsets: VecDeque<(f64, f64)>,
    base: f64,
    /// (arrival, last frame without the snapshot − slot of the newest snapshot before), newest last.
    /// Independent of the base, so that a change of the base does not invalidate old gaps.
    gaps: VecDeque<(f64, f64)>,
    scratch: Vec<f64>,
    needed: Option<f64>,
    /// Seconds between updates.
    interval: f64,
    /// Arrival after the last gap in which an update was missing.
    missed_at: Option<f64>,
}

impl ArrivalStats {
    /// Creates the statistics with the first snapshot, of slot 0.
    pub(crate) fn new(arrival: f64, interval: f64) -> Self {
        Self {
            offsets: VecDeque::from([(arrival, arrival)]),
            base: arrival,
            gaps: VecDeque::new(),
            scratch: Vec::new(),
            needed: None,
            interval,
            missed_at: None,
        }
    }

    /// Returns the minimum of arrival − slot in the window: a snapshot without queueing. Anything above it
    /// is jitter.
    pub(crate) fn base(&self) -> f64 {
        self.base
    }

    /// Returns the delay relative to the base at which playout covers the configured fraction of gaps. On a link that
    /// loses updates it is longer by `repeated_after`, the seconds after which the server repeats updates that
    /// clients cannot foresee, as far as it does not cover a lost update anyway. `None` before the second snapshot.
    pub(crate) fn delay(&self, repeated_after: f64) -> Option<f64> {
        let covered = self.needed? - self.base;
        let is_lossy = self.missed_at.is_some();
        let reserve = if is_lossy { repeated_after.min(2.0 * self.interval - covered).max(0.0) } else { 0.0 };
        Some(covered + reserve)
    }

    /// Returns whether there are too few gaps for a quantile.
    pub(crate) fn is_young(&self) -> bool {
        self.gaps.len() < FEW
    }

    /// Records the arrival of a snapshot that is newer than all previous ones of its pawn.
    ///
    /// `gap` is the time from the slot of the newest snapshot before it to the last frame without it: until
    /// then, playout beyond that slot had to wait. This one number covers jitter and loss, and a machine
    /// with few frames per second is not mistaken for a bad link. An outage counts like any other gap: half
    /// a second without updates now and then must not delay all pawns by half a second.
    /// `missed` states whether an update between these two was lost or has not arrived yet.
    pub(crate) fn record(
        &mut self,
        (arrival, slot): (f64, f64),
        (gap, missed): (Option<f64>, bool),
        config: &PlayoutConfig,
    ) {
        if missed {
            self.missed_at = Some(arrival);
        }
        self.missed_at = self.missed_at.filter(|at| arrival - at <= LOSS_MEMORY);
        let offset = arrival - slot;
        while self.offsets.back().is_some_and(|&(_, o)| o >= offset) {
            self.offsets.pop_back();
        }
        self.offsets.push_back((arrival, offset));
        while self.offsets.len() > 1
            && self.offsets.front().is_some_and(|&(at, _)| arrival - at > config.window)
        {
            self.offsets.pop_front();
        }
        self.base = self.offsets.front().map_or(offset, |&(_, o)| o);

        let Some(gap) = gap else { return };
        if gap - self.base <= config.max_delay {
            self.gaps.push_back((arrival, gap));
        }
        let old = |&(at, _): &(f64, f64)| arrival - at > config.gap_memory;
        while self.gaps.len() > MAX_GAPS || (self.gaps.len() > MIN_GAPS && self.gaps.front().is_some_and(old))
        {
            self.gaps.pop_front();
        }
        let longest = self.gaps.iter().map(|&(_, gap)| gap).fold(f64::MIN, f64::max);
        self.needed = self
            .quantile(self.covered(config.quantile))
            .map(|most| if longest <= most + config.slack { longest } else { most });
    }

    /// Returns the fraction to cover at this rate, because the cost of an uncovered gap increases with its
    /// length.
    fn covered(&self, quantile: f64) -> f64 {
        let rate = (USUAL_INTERVAL / self.interval.max(1e-3)).sqrt();
        1.0 - ((1.0 - quantile) * rate).clamp(0.0, 1.0)
    }

    fn quantile(&mut self, quantile: f64) -> Option<f64> {
        let count = self.gaps.len();
        let last = count.checked_sub(1)?;
        let quantile = if count < FEW { 1.0 } else { quantile };
        // A negative or NaN product casts to 0.
        let rank = ((quantile * count as f64).ceil() as usize).saturating_sub(1).min(last);
        self.scratch.clear();
        self.scratch.extend(self.gaps.iter().map(|&(_, gap)| gap));
        Some(*self.scratch.select_nth_unstable_by(rank, f64::total_cmp).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_latency_follows_a_slower_route_after_the_window() {
        let config = PlayoutConfig::default();
        let mut link = ArrivalStats::new(0.03, 0.05);
        for k in 1..2_000 {
            let slot = f64::from(k) * 0.05;
            let latency = if slot < 20.0 { 0.03 } else { 0.08 };
            link.record((slot + latency, slot), (Some(latency + 0.05), false), &config);
            if slot < 34.0 {
                assert!((link.base() - 0.03).abs() < 1e-9);
            }
        }
        assert!((link.base() - 0.08).abs() < 1e-9);
        assert!(link.delay(0.0).is_some_and(|d| (d - 0.05).abs() < 1e-9), "{:?}", link.delay(0.0));
    }

    #[test]
    fn outage_beyond_the_maximum_delay_is_ignored() {
        let config = PlayoutConfig::default();
        let mut link = ArrivalStats::new(0.0, 0.05);
        link.record((0.05, 0.05), (Some(0.05), false), &config);
        link.record((60.0, 60.0), (Some(59.95), false), &config);
        assert!(link.delay(0.0).is_some_and(|d| (d - 0.05).abs() < 1e-9), "{:?}", link.delay(0.0));
    }

    #[test]
    fn lossy_link_is_delayed_until_an_update_that_is_sent_twice_has_arrived_twice() {
        let config = PlayoutConfig::default();
        let mut link = ArrivalStats::new(0.0, 0.05);
        let mut at = |k: u32, missed: bool| {
            let (now, gap) = (f64::from(k) * 0.05, if missed { 0.1 } else { 0.05 });
            link.record((now, now), (Some(gap), missed), &config);
            link.delay(0.016).unwrap_or(f64::NAN)
        };
        for k in 1..100 {
            assert!((at(k, false) - 0.05).abs() < 1e-9, "{k}");
        }
        assert!((at(101, true) - 0.066).abs() < 1e-9);
        for k in 102..1_300 {
            assert!((at(k, false) - 0.066).abs() < 1e-9, "{k}");
        }
        assert!((at(1_303, false) - 0.05).abs() < 1e-9, "nothing was lost for a minute");
        // So many are lost that the delay covers a lost update by itself.
        let often = (1_304..1_500).map(|k| at(k, k % 4 == 0)).last();
        assert!(often.is_some_and(|delay| (delay - 0.1).abs() < 1e-9), "{often:?}");
    }
}
