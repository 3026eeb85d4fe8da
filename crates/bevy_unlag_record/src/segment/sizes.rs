//! Sizes of what a segment holds.

use core::ops::AddAssign;

use crate::entry::EntryKind;

/// Bits of a segment by what they hold, before compression.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SegmentSizes {
    /// Bits of the entries of each kind.
    entries: [u64; EntryKind::ALL.len()],
    /// Bits of the roster at the first tick.
    pub roster: u64,
    /// Bits of the moves.
    pub moves: u64,
}

impl SegmentSizes {
    pub(super) fn add(&mut self, kind: EntryKind, bits: usize) {
        self.entries[kind as usize] += bits as u64;
    }

    /// Returns the bits by name: updates of pawns, acknowledgements, shots and so on.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let entries = EntryKind::ALL.into_iter().map(|kind| (kind.name(), self.entries[kind as usize]));
        entries.chain([("roster_at_start", self.roster), ("moves", self.moves)])
    }
}

impl AddAssign for SegmentSizes {
    fn add_assign(&mut self, other: Self) {
        for (sum, bits) in self.entries.iter_mut().zip(other.entries) {
            *sum += bits;
        }
        self.roster += other.roster;
        self.moves += other.moves;
    }
}
