//! Segment of a match: a second or two, which can be read without those before it.

mod acks;
mod reader;
mod sizes;
mod writer;

use bevy_unlag_core::{BitReader, Tick, WireError};

pub use sizes::SegmentSizes;
pub(crate) use writer::SegmentWriter;

use crate::{
    entry::{Entry, RecordedTick},
    moves::MoveTrack,
    roster::Roster,
};

/// Most ticks of a segment.
pub const MAX_SEGMENT_TICKS: usize = 4_096;
/// Most entries of a segment, updates of pawns included: a reader needs no more than about 30 MB for one.
pub(crate) const MAX_SEGMENT_ENTRIES: usize = 40_000;

/// Segment of a match. It begins with the players and pawns at its first tick.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Segment {
    /// Players and pawns at the first tick.
    pub roster: Roster,
    /// Entries, tick by tick. Never empty.
    pub ticks: Vec<RecordedTick>,
    /// Moves that the server ran, one track per pawn.
    pub moves: Vec<MoveTrack>,
}

impl Segment {
    /// Reads the decompressed content of a chunk. Any bytes are a segment of bounded size or an error.
    ///
    /// # Errors
    /// Returns a [`WireError`] if the content ends early or is not a valid segment.
    pub fn from_content(content: &[u8]) -> Result<Self, WireError> {
        reader::read(&mut BitReader::new(content), &mut SegmentSizes::default())
    }

    /// Returns what the decompressed content of a chunk consists of.
    ///
    /// # Errors
    /// The same as [`from_content`](Self::from_content).
    pub(crate) fn sizes(content: &[u8]) -> Result<SegmentSizes, WireError> {
        let mut sizes = SegmentSizes::default();
        reader::read(&mut BitReader::new(content), &mut sizes).map(|_| sizes)
    }

    /// Returns the first tick.
    #[must_use]
    pub fn first(&self) -> Tick {
        self.ticks.first().map(|tick| tick.tick).unwrap_or_default()
    }

    /// Returns the last tick.
    #[must_use]
    pub fn last(&self) -> Tick {
        self.ticks.last().map(|tick| tick.tick).unwrap_or_default()
    }

    /// Returns all entries with their ticks, in the order in which they were recorded.
    pub fn entries(&self) -> impl Iterator<Item = (Tick, &Entry)> {
        self.ticks.iter().flat_map(|tick| tick.entries.iter().map(|entry| (tick.tick, entry)))
    }
}
