//! Why a client was corrected, as far as either side can know.

use bevy_unlag_core::{BitReader, BitWriter, Wire, WireError};

/// Why a client was corrected, as far as either side can know it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum CorrectionCause {
    /// Neither side knows. Two builds, or a step that reads something else than its arguments.
    #[default]
    Unknown,
    /// Moves did not arrive in time; the server carried the pawn on without them.
    MissingMoves,
    /// The server stood still for a moment.
    ServerStall,
    /// This client stood still for a moment.
    ClientHitch,
    /// The client's clock ran too fast, and its moves were not all run.
    Clock,
    /// The pawn met another pawn, which the other side saw elsewhere.
    OtherPawn,
    /// The server moved the pawn, not in a scheduled push.
    ServerPush,
    /// The two sides are tuned differently.
    Configuration,
    /// The two sides' levels differ around the pawn.
    Terrain,
    /// A test asked for it.
    Forced,
    /// The first state: not an error.
    Start,
}

impl CorrectionCause {
    /// All causes, in the order of [`index`](Self::index).
    pub const ALL: [Self; 11] = [
        Self::Unknown,
        Self::MissingMoves,
        Self::ServerStall,
        Self::ClientHitch,
        Self::Clock,
        Self::OtherPawn,
        Self::ServerPush,
        Self::Configuration,
        Self::Terrain,
        Self::Forced,
        Self::Start,
    ];

    /// Its place in [`ALL`](Self::ALL).
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// What to tell a developer.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::MissingMoves => "missing moves",
            Self::ServerStall => "server stall",
            Self::ClientHitch => "client hitch",
            Self::Clock => "clock too fast",
            Self::OtherPawn => "other pawn",
            Self::ServerPush => "server push",
            Self::Configuration => "configuration differs",
            Self::Terrain => "terrain differs",
            Self::Forced => "forced",
            Self::Start => "start",
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
    fn every_cause_is_in_its_place() {
        for (index, cause) in CorrectionCause::ALL.iter().enumerate() {
            assert_eq!(cause.index(), index);
        }
    }
}
