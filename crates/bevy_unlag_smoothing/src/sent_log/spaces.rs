//! How often a client is sent a pawn.

use bevy_unlag_core::Tick;

/// Spaces between updates that are remembered: as many as a screen tells a pawn's rate by, and one.
const REMEMBERED: usize = 8;
/// Ticks in a window. A screen takes two of them to come over to another clock.
const WINDOW: i32 = 256;

/// The ticks between updates of one pawn, in some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rates {
    /// Few are shorter; 0 when nothing is known.
    pub shortest: u8,
    /// As long as they usually are: one that was left out now and then does not count.
    pub usual: u8,
    /// The longest.
    pub longest: u8,
}

impl Rates {
    /// No update is known.
    pub const NONE: Self = Self { shortest: 0, usual: 0, longest: 0 };

    fn with(self, other: Self) -> Self {
        let shortest = match (self.shortest, other.shortest) {
            (0, one) | (one, 0) => one,
            (a, b) => a.min(b),
        };
        Self { shortest, usual: self.usual.max(other.usual), longest: self.longest.max(other.longest) }
    }
}

/// The ticks between one update and the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spaces {
    /// The last ones, newest first, and how many are known.
    last: [u8; REMEMBERED],
    known: u8,
    /// What they said in this window and in the one before, and when this one began.
    said: [Rates; 2],
    began: Tick,
}

impl Default for Spaces {
    fn default() -> Self {
        Self { last: [0; REMEMBERED], known: 0, said: [Rates::NONE; 2], began: Tick(0) }
    }
}

impl Spaces {
    /// The last one; 0 before it.
    pub fn newest(&self) -> u8 {
        self.last[0]
    }

    /// An update of `tick` came after the one of `before`.
    pub fn take(&mut self, before: Tick, tick: Tick) {
        let space = tick.since(before);
        if space <= 0 {
            return;
        }
        self.last.rotate_right(1);
        self.last[0] = space.min(i32::from(u8::MAX)) as u8;
        if self.known == 0 || tick.since(self.began) >= WINDOW {
            self.said = [Rates::NONE, self.said[0]];
            self.began = tick;
        }
        self.known = (self.known + 1).min(REMEMBERED as u8);
        // A single one may also be how long the pawn was out of sight.
        if self.known > 1 {
            self.said[0] = self.said[0].with(self.now());
        }
    }

    /// What the last ones say.
    fn now(&self) -> Rates {
        let mut last = self.last;
        let known = usize::from(self.known);
        let last = &mut last[..known];
        last.sort_unstable();
        // A screen goes by the shortest as long as it knows two.
        let usual = if known <= 2 { 0 } else { known * 5 / 8 };
        let at = |index: usize| last.get(index).copied().unwrap_or(0);
        Rates { shortest: at(usize::from(known > 3)), usual: at(usual), longest: at(known.saturating_sub(1)) }
    }

    /// What they said of late; `usual` is the pawn's own interval.
    pub fn rates(&self, usual: i32) -> Rates {
        if self.known == 1 {
            let space = i32::from(self.last[0]).min(usual.max(1)) as u8;
            return Rates { shortest: space, usual: space, longest: space };
        }
        self.said[0].with(self.said[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(spaces: impl IntoIterator<Item = i32>) -> Spaces {
        let (mut known, mut tick) = (Spaces::default(), Tick(u32::MAX - 20));
        for space in spaces {
            let before = tick;
            tick = tick.offset(space);
            known.take(before, tick);
        }
        known
    }

    fn rates(shortest: u8, usual: u8, longest: u8) -> Rates {
        Rates { shortest, usual, longest }
    }

    #[test]
    fn a_slow_pawn_is_known_for_one_from_its_second_update_on() {
        assert_eq!(after([]).rates(13), Rates::NONE);
        for count in 1..20 {
            assert_eq!(after(vec![13; count]).rates(13), rates(13, 13, 13), "{count}");
        }
    }

    #[test]
    fn what_was_out_of_sight_for_a_while_is_no_slow_pawn() {
        assert_eq!(after([100]).rates(3), rates(3, 3, 3));
        assert_eq!(after([100, 3]).rates(3), rates(3, 3, 100));
        assert_eq!(after([3, 3, 3, 3, 3, 90, 3, 3]).rates(3).usual, 3);
        assert_eq!(after([3, 12].repeat(8)).rates(3).usual, 12, "it is often left out");
    }

    #[test]
    fn another_rate_is_remembered_until_screens_are_used_to_it() {
        let changed = |updates: usize| after([13].repeat(10).into_iter().chain([3].repeat(updates)));
        assert_eq!(changed(80).rates(3).usual, 13);
        assert_eq!(changed(200).rates(3), rates(3, 3, 3));
    }
}
