//! How late moves arrive, and from that how long the server holds them back.

use std::collections::VecDeque;

/// The lateness of the last moves, in ticks: the server's tick of the arrival less the move's own.
/// The ways of time lines are in it, so only differences mean anything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lateness {
    samples: VecDeque<i16>,
    scratch: Vec<i16>,
    /// Samples since the target was found.
    fresh: usize,
    /// What covers enough, and what covers almost all.
    quantiles: Option<(i32, i32)>,
}

impl Lateness {
    /// Four seconds at 64 Hz.
    const WINDOW: usize = 256;
    /// A share of one in 64 may be later than what is aimed at.
    const LATER: usize = 64;
    /// Only when more than one in eight is later than what is held back is more held back: two
    /// neighbouring ticks that are almost as good would take turns, and every change shows. A burst of
    /// eight lost packets changes nothing: holding every move back for it would help nobody.
    const TOO_MANY: usize = 8;
    /// When all of the last few are late, the link itself has become slower.
    const RECENT: usize = 8;
    /// How often the target is found anew, in samples.
    const EVERY: usize = 16;

    /// Takes the lateness of a move in.
    pub(crate) fn take(&mut self, ticks: i32) {
        if self.samples.len() == Self::WINDOW {
            self.samples.pop_front();
        }
        self.samples.push_back(ticks.clamp(-30_000, 30_000) as i16);
        self.fresh += 1;
    }

    /// How many ticks after its own a move should be due at the least, and how many so that almost
    /// all are there. `None` before the first move. Never more than `most` beyond what the fastest of
    /// the last few needed, and never less than that.
    pub(crate) fn targets(&mut self, most: i32) -> Option<(i32, i32)> {
        let recent = || self.samples.iter().rev().take(Self::RECENT).copied();
        let fastest = i32::from(recent().min()?);
        if self.quantiles.is_none() || self.fresh >= Self::EVERY || self.samples.len() < Self::EVERY {
            self.fresh = 0;
            self.scratch.clear();
            self.scratch.extend(&self.samples);
            let last = self.scratch.len() - 1;
            let mut at = |rank: usize| i32::from(*self.scratch.select_nth_unstable(rank).1);
            self.quantiles = Some((at(last - last / Self::TOO_MANY), at(last - last / Self::LATER)));
        }
        let (enough, wanted) = self.quantiles.unwrap_or((fastest, fastest));
        // At first it is learnt; then it is kept.
        let least = if self.samples.len() < Self::WINDOW { wanted } else { enough };
        // min and max, not clamp: it panics on bounds that make no sense.
        let bounded = |ticks: i32| ticks.min(fastest + most.max(0)).max(fastest);
        Some((bounded(least), bounded(wanted)))
    }

    /// The latest of the last few: when even it is early, the client is ahead.
    pub(crate) fn latest_of_recent(&self) -> Option<i32> {
        self.samples.iter().rev().take(2 * Self::RECENT).max().map(|latest| i32::from(*latest))
    }

    /// What was before the last few means nothing any more.
    pub(crate) fn forget_all_but_recent(&mut self) {
        self.samples.drain(..self.samples.len().saturating_sub(2 * Self::RECENT));
        self.quantiles = None;
    }

    /// Another time line begins.
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
        samples.into_iter().for_each(|sample| lateness.take(sample));
        lateness.targets(12).expect("there are samples").1
    }

    #[test]
    fn jitter_is_covered_and_a_burst_is_not_learnt_from() {
        assert_eq!(after((0..256).map(|i| 3 + i % 4)), 6);
        let mut lateness = Lateness::default();
        (0..256).for_each(|i| lateness.take(if (100..108).contains(&i) { 11 - (i - 100) } else { 3 }));
        assert_eq!(lateness.targets(12).map(|(least, _)| least), Some(3));
    }

    #[test]
    fn a_slower_link_is_followed_at_once() {
        assert_eq!(after((0..264).map(|i| if i < 256 { 3 } else { 40 })), 40);
    }

    #[test]
    fn no_more_is_held_back_than_allowed() {
        assert_eq!(after((0..256).map(|i| if i % 2 == 0 { 2 } else { 60 })), 14);
    }
}
