//! Entries of a recording: what happened in a tick.

mod facts;
mod publication;
mod shot;

use bevy_unlag_core::{SnapshotAck, Tick};

pub use facts::{Extra, HiddenNotice, Mark, RecordedCorrection, RecordedView};
pub(crate) use publication::Trails;
pub use publication::{Publication, Recipients};
pub use shot::{RecordedHit, RecordedShot, RecordedVerdict, ShotOutcome};

use crate::roster::{PlayerNumber, RosterChange};

/// Everything that was recorded in one tick of the server, in the order in which it was recorded.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecordedTick {
    /// Tick of the server.
    pub tick: Tick,
    /// Its entries.
    pub entries: Vec<Entry>,
}

/// Something that happened in a tick.
#[derive(Clone, PartialEq, Debug)]
pub enum Entry {
    /// Players or pawns have come, changed or gone.
    Roster(RosterChange),
    /// Updates of pawns, and who was sent them.
    Publication(Publication),
    /// A client was told that it is not sent some pawns until further notice.
    Hidden(HiddenNotice),
    /// Packets of players, with their snapshot acknowledgements.
    Acks(Vec<PlayerAck>),
    /// View of a player's screen in one frame.
    View(RecordedView),
    /// A shot and its verdict.
    Shot(Box<RecordedShot>),
    /// A verdict that came later than its shot, or without one.
    Verdict(RecordedVerdict),
    /// A correction of a player's pawn.
    Correction(RecordedCorrection),
    /// A mark of the game: a kill, a flag, a note.
    Mark(Mark),
    /// Bytes of another part of the suite or of the game.
    Extra(Extra),
}

/// Snapshot acknowledgement in a packet of a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayerAck {
    /// The player.
    pub player: PlayerNumber,
    /// The acknowledgement.
    pub ack: SnapshotAck,
}

/// Kinds of entries in a file. They take four bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EntryKind {
    End,
    NextTick,
    Roster,
    Publication,
    Hidden,
    Acks,
    View,
    Shot,
    Verdict,
    Correction,
    Mark,
    Extra,
}

impl EntryKind {
    pub const BITS: u32 = 4;

    pub const ALL: [Self; 12] = [
        Self::End,
        Self::NextTick,
        Self::Roster,
        Self::Publication,
        Self::Hidden,
        Self::Acks,
        Self::View,
        Self::Shot,
        Self::Verdict,
        Self::Correction,
        Self::Mark,
        Self::Extra,
    ];

    pub fn from_bits(bits: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u32 == bits)
    }

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::NextTick => "ticks",
            Self::Roster => "roster",
            Self::Publication => "updates",
            Self::Hidden => "hidden",
            Self::Acks => "acknowledgements",
            Self::View => "views",
            Self::Shot => "shots",
            Self::Verdict => "verdicts",
            Self::Correction => "corrections",
            Self::Mark => "marks",
            Self::Extra => "extra",
        }
    }
}
