//! Delay between a move of the own pawn and the server's tick that runs it.

use bevy::prelude::*;

use crate::tick::{SUB_TICKS, ViewTime};

/// Ticks from the tick of an own move to the server's tick in which it runs, as the server's newest acknowledgement
/// says: round trip, jitter buffer and the offset of the two clocks. `None` on a server, and before the first
/// acknowledgement.
///
/// Objects that the player must dodge, such as rockets, are drawn at [`server_time`](Self::server_time): where the
/// server has them when it runs the move that the screen shows now.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct OwnMoveDelay(pub Option<i32>);

impl OwnMoveDelay {
    /// Returns the moment of the server at which it runs the move that this screen shows at `frame`: the moment itself
    /// where no server is involved.
    #[must_use]
    pub fn server_time(self, frame: ViewTime) -> ViewTime {
        frame.later(i64::from(self.0.unwrap_or(0)) * SUB_TICKS)
    }
}
