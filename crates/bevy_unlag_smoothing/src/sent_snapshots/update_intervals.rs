//! Update intervals of a pawn, as sent to one client.

use bevy_unlag_core::Tick;

/// Number of stored intervals: as many as the client's playout estimates a pawn's rate from, plus one.
const CAPACITY: usize = 8;
/// Length of a window in ticks. A client's playout takes two windows to change over to another clock.
const WINDOW: i32 = 256;

/// Update intervals of one pawn over a period, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IntervalSummary {
    /// Shortest interval, ignoring outliers; 0 if unknown.
    pub shortest: u8,
    /// Usual interval, not affected by an occasional omitted update.
    pub usual: u8,
    /// Longest interval.
    pub longest: u8,
}

impl IntervalSummary {
    fn with(self, other: Self) -> Self {
        let shortest = match (self.shortest, other.shortest) {
            (0, one) | (one, 0) => one,
            (a, b) => a.min(b),
        };
        Self { shortest, usual: self.usual.max(other.usual), longest: self.longest.max(other.longest) }
    }
}

/// Recent update intervals of one pawn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UpdateIntervals {
    /// Last intervals in ticks, newest first, and how many are known.
    last: [u8; CAPACITY],
    known: u8,
    /// Summaries of the current window and the previous one, and the start of the current one.
    said: [IntervalSummary; 2],
    began: Tick,
}

impl UpdateIntervals {
    /// Returns the last interval; 0 if there is none.
    pub fn newest(&self) -> u8 {
        self.last[0]
    }

    /// Records that an update of `tick` followed the one of `before`.
    pub fn take(&mut self, before: Tick, tick: Tick) {
        let space = tick.since(before);
        if space <= 0 {
            return;
        }
        self.last.rotate_right(1);
        self.last[0] = space.min(i32::from(u8::MAX)) as u8;
        if self.known == 0 || tick.since(self.began) >= WINDOW {
            self.said = [IntervalSummary::default(), self.said[0]];
            self.began = tick;
        }
        self.known = (self.known + 1).min(CAPACITY as u8);
        // A single interval may just be the time for which the pawn was out of sight.
        if self.known > 1 {
            self.said[0] = self.said[0].with(self.now());
        }
    }

    /// Summarises the stored intervals.
    fn now(&self) -> IntervalSummary {
        let mut last = self.last;
        let known = usize::from(self.known);
        let last = &mut last[..known];
        last.sort_unstable();
        // The client's playout uses the shortest interval as long as it knows only two.
        let usual = if known <= 2 { 0 } else { known * 5 / 8 };
        let at = |index: usize| last.get(index).copied().unwrap_or(0);
        IntervalSummary {
            shortest: at(usize::from(known > 3)),
            usual: at(usual),
            longest: at(known.saturating_sub(1)),
        }
    }

    /// Returns the summary of recent intervals; `usual` is the pawn's own interval.
    pub fn rates(&self, usual: i32) -> IntervalSummary {
        if self.known == 1 {
            let space = i32::from(self.last[0]).min(usual.max(1)) as u8;
            return IntervalSummary { shortest: space, usual: space, longest: space };
        }
        self.said[0].with(self.said[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(spaces: impl IntoIterator<Item = i32>) -> UpdateIntervals {
        let (mut known, mut tick) = (UpdateIntervals::default(), Tick(u32::MAX - 20));
        for space in spaces {
            let before = tick;
            tick = tick.offset(space);
            known.take(before, tick);
        }
        known
    }

    fn rates(shortest: u8, usual: u8, longest: u8) -> IntervalSummary {
        IntervalSummary { shortest, usual, longest }
    }

    #[test]
    fn slow_update_rate_is_known_from_the_second_update_on() {
        assert_eq!(after([]).rates(13), IntervalSummary::default());
        for count in 1..20 {
            assert_eq!(after(vec![13; count]).rates(13), rates(13, 13, 13), "{count}");
        }
    }

    #[test]
    fn gap_while_out_of_sight_does_not_count_as_a_slow_rate() {
        assert_eq!(after([100]).rates(3), rates(3, 3, 3));
        assert_eq!(after([100, 3]).rates(3), rates(3, 3, 100));
        assert_eq!(after([3, 3, 3, 3, 3, 90, 3, 3]).rates(3).usual, 3);
        assert_eq!(after([3, 12].repeat(8)).rates(3).usual, 12, "it is often omitted");
    }

    #[test]
    fn old_rate_is_kept_until_client_clocks_have_changed_over() {
        let changed = |updates: usize| after([13].repeat(10).into_iter().chain([3].repeat(updates)));
        assert_eq!(changed(80).rates(3).usual, 13);
        assert_eq!(changed(200).rates(3), rates(3, 3, 3));
    }
}
