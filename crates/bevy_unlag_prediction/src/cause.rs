//! Causes of corrections.

use bevy::prelude::*;
use bevy_unlag_core::Wire;

bevy_unlag_core::named_enum! {
    /// Cause of a correction, as far as client and server can determine it.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Reflect, Wire)]
    pub enum CorrectionCause {
        /// No cause is known. The two sides run different builds, or the step reads something other than its
        /// arguments.
        #[default]
        Unknown => "unknown",
        /// Moves did not arrive in time, and the server extrapolated the pawn without them.
        MissingMoves => "missing moves",
        /// The server stalled.
        ServerStall => "server stall",
        /// This client stalled.
        ClientHitch => "client hitch",
        /// The client's clock ran too fast, and the server did not run all its moves.
        ClientClock => "clock too fast",
        /// The pawn was in contact with another pawn, whose position differed on the two sides.
        OtherPawn => "other pawn",
        /// A push by the server reached the owner late.
        ServerPush => "server push",
        /// The configurations of the two sides differ.
        Configuration => "configuration differs",
        /// The levels of the two sides differ around the pawn.
        Terrain => "terrain differs",
        /// A test forced the correction.
        Forced => "forced",
        /// The initial state, which is not an error.
        InitialState => "start",
        /// The server changed the pawn's state beside its moves, as a death and a respawn do. The owner predicted
        /// nothing wrong, and it does not count as a correction.
        ServerChange => "server change",
    }
}

impl core::fmt::Display for CorrectionCause {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_the_index_of_its_place_in_all() {
        for (index, cause) in CorrectionCause::ALL.iter().enumerate() {
            assert_eq!(*cause as usize, index);
        }
    }
}
