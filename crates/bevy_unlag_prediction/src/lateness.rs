//! Lateness statistics of received moves, from which the server derives its buffering delay.

use std::collections::VecDeque;

/// Lateness of the last moves in ticks: the server's tick on arrival minus the move's own tick. It includes
/// the offset of the two tick counts, so only differences are meaningful.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lateness {
    samples: VecDeque<i16>,
    scratch: Vec<i16>,
    /// Samples since the quantiles were updated.
    fresh: usize,
    /// Lateness that the buffer must cover at least, and lateness that covers almost all moves.
    quantiles: Option<(i32, i32)>,
}

impl Lateness {
    /// Four seconds at 64 Hz.
    const WINDOW: usize = 256;
    /// One move in 64 may be later than the target.
    const TARGET_LATE_SHARE: usize = 64;
    /// The delay is raised only if more than one move in eight is later than it: with two neighbouring
    /// ticks that are almost as good, the delay would alternate, and every change is visible. A burst of
    /// eight lost packets has no effect, because delaying every move for it would not help.
    const RAISE_LATE_SHARE: usize = 8;
    /// If the last 8 moves are all late, the link itself has become slower.
    const RECENT: usize = 8;
    /// Samples between two updates of the quantiles.
    const UPDATE_INTERVAL: usize = 16;

    /// Adds the lateness of a move.
    pub(crate) fn record(&mut self, ticks: i32) {
        if self.samples.len() == Self::WINDOW {
            self.samples.pop_front();
        }
        self.samples.push_back(ticks.clamp(-30_000, 30_000) as i16);
        self.fresh += 1;
    }

    /// Returns the minimum delay in ticks after which a move should be due, and the delay by which almost
    /// all moves have arrived. Returns `None` before the first move. Both are at least the fastest of the
    /// last 8 moves, and at most `most` ticks more.
    pub(crate) fn targets(&mut self, most: i32) -> Option<(i32, i32)> {
        let recent = || self.samples.iter().rev().take(Self::RECENT).copied();
        let fastest = i32::from(recent().min()?);
        if self.quantiles.is_none()
            || self.fresh >= Self::UPDATE_INTERVAL
            || self.samples.len() < Self::UPDATE_INTERVAL
        {
            self.fresh = 0;
            self.scratch.clear();
            self.scratch.extend(&self.samples);
            let last = self.scratch.len() - 1;
            let mut at = |rank: usize| i32::from(*self.scratch.select_nth_unstable(rank).1);
            self.quantiles =
                Some((at(last - last / Self::RAISE_LATE_SHARE), at(last - last / Self::TARGET_LATE_SHARE)));
        }
        let (enough, wanted) = self.quantiles.unwrap_or((fastest, fastest));
        // While the window fills, the wanted delay is learned; after that only the minimum raises it.
        let least = if self.samples.len() < Self::WINDOW { wanted } else { enough };
        // min and max, because clamp panics if its bounds are in the wrong order.
        let bounded = |ticks: i32| ticks.min(fastest + most.max(0)).max(fastest);
        Some((bounded(least), bounded(wanted)))
    }

    /// Returns the latest of the last 16 moves. If even this one is early, the client is ahead.
    pub(crate) fn latest_of_recent(&self) -> Option<i32> {
        self.samples.iter().rev().take(2 * Self::RECENT).max().map(|latest| i32::from(*latest))
    }

    /// Drops all samples but the last 16.
    pub(crate) fn forget_all_but_recent(&mut self) {
        self.samples.drain(..self.samples.len().saturating_sub(2 * Self::RECENT));
        self.quantiles = None;
    }

    /// Drops all samples, for a new epoch.
    pub(crate) fn forget(&mut self) {
        self.samples.clear();
        self.quantiles = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(samples: impl IntoIterator<Item = i32>) -> i32 {
        let mut lateness = Lateness::default();
        samples.into_iter().for_each(|sample| lateness.record(sample));
        lateness.targets(12).expect("there are samples").1
    }

    #[test]
    fn delay_covers_jitter_and_ignores_a_burst_of_loss() {
        assert_eq!(after((0..256).map(|i| 3 + i % 4)), 6);
        let mut lateness = Lateness::default();
        (0..256).for_each(|i| lateness.record(if (100..108).contains(&i) { 11 - (i - 100) } else { 3 }));
        assert_eq!(lateness.targets(12).map(|(least, _)| least), Some(3));
    }

    #[test]
    fn delay_follows_a_slower_link_within_eight_moves() {
        assert_eq!(after((0..264).map(|i| if i < 256 { 3 } else { 40 })), 40);
    }

    #[test]
    fn delay_never_exceeds_the_maximum_buffer() {
        assert_eq!(after((0..256).map(|i| if i % 2 == 0 { 2 } else { 60 })), 14);
    }
}
