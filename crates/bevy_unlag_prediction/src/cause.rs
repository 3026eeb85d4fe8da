//! Causes of corrections.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError};

/// Cause of a correction, as far as client and server can determine it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Reflect)]
pub enum CorrectionCause {
    /// No cause is known. The two sides run different builds, or the step reads something other than its
    /// arguments.
    #[default]
    Unknown,
    /// Moves did not arrive in time, and the server extrapolated the pawn without them.
    MissingMoves,
    /// The server stalled.
    ServerStall,
    /// This client stalled.
    ClientHitch,
    /// The client's clock ran too fast, and the server did not run all its moves.
    ClientClock,
    /// The pawn was in contact with another pawn, whose position differed on the two sides.
    OtherPawn,
    /// The server moved the pawn, but not by a scheduled push.
    ServerPush,
    /// The configurations of the two sides differ.
    Configuration,
    /// The levels of the two sides differ around the pawn.
    Terrain,
    /// A test forced the correction.
    Forced,
    /// The initial state, which is not an error.
    InitialState,
}

impl CorrectionCause {
    /// All causes, in the order of [`index`](Self::index).
    pub const ALL: [Self; 11] = [
        Self::Unknown,
        Self::MissingMoves,
        Self::ServerStall,
        Self::ClientHitch,
        Self::ClientClock,
        Self::OtherPawn,
        Self::ServerPush,
        Self::Configuration,
        Self::Terrain,
        Self::Forced,
        Self::InitialState,
    ];

    /// Returns the index of the cause in [`ALL`](Self::ALL).
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns the cause in words, for logs and overlays.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::MissingMoves => "missing moves",
            Self::ServerStall => "server stall",
            Self::ClientHitch => "client hitch",
            Self::ClientClock => "clock too fast",
            Self::OtherPawn => "other pawn",
            Self::ServerPush => "server push",
            Self::Configuration => "configuration differs",
            Self::Terrain => "terrain differs",
            Self::Forced => "forced",
            Self::InitialState => "start",
        }
    }
}

impl core::fmt::Display for CorrectionCause {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

impl Wire for CorrectionCause {
    fn write(&self, w: &mut BitWriter) {
        w.bits(self.index() as u32, 4);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Self::ALL.get(r.bits(4)? as usize).copied().ok_or(WireError::Invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_the_index_of_its_place_in_all() {
        for (index, cause) in CorrectionCause::ALL.iter().enumerate() {
            assert_eq!(cause.index(), index);
        }
    }
}
