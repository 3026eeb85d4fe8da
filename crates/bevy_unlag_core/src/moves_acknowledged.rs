//! Message about moves that the server has acknowledged, and which of them never ran.

use bevy::prelude::*;

use crate::tick::Tick;

/// Acknowledgement of the own pawn's moves. Written on the owner's client for each acknowledgement that brings news,
/// and when the server ends the count of moves.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct MovesAcknowledged {
    /// The own pawn.
    pub entity: Entity,
    /// Newest acknowledged move; `None` when the count of moves has ended, as after a long silence: no further move of
    /// it will run.
    pub acked: Option<Tick>,
    /// Newest move that ran with this client's input; `None` if none did.
    pub ran: Option<Tick>,
    /// Bit n: the n-th move before [`ran`](Self::ran) did not run with this client's input. It was lost, or came after
    /// the server had stopped waiting for it, or was beyond the time that this client is granted.
    pub missed: u64,
}

/// Fate of a move on the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Reflect)]
pub enum MoveFate {
    /// It may still run.
    Pending,
    /// It ran with its owner's input.
    Ran,
    /// It did not run, or not with its owner's input.
    Missed,
    /// It was due more than 63 moves before the newest one that ran.
    Unknown,
}

impl MovesAcknowledged {
    /// Returns the fate of the move of `tick`.
    #[must_use]
    pub fn fate(&self, tick: Tick) -> MoveFate {
        match self.ran.map(|ran| ran.since(tick)) {
            Some(back @ 0..64) if self.missed >> back & 1 == 1 => MoveFate::Missed,
            Some(0..64) => MoveFate::Ran,
            Some(64..) => MoveFate::Unknown,
            _ if self.acked.is_some_and(|acked| tick.is_newer_than(acked)) => MoveFate::Pending,
            _ => MoveFate::Missed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fate_of_a_move_is_told_by_its_bit_its_place_and_the_end_of_the_count() {
        let acked = MovesAcknowledged {
            entity: Entity::PLACEHOLDER,
            acked: Some(Tick(5)),
            ran: Some(Tick(2)),
            missed: 0b100 | 1 << 63,
        };
        let fate = |back: i32| acked.fate(Tick(2).offset(-back));
        use MoveFate::{Missed, Pending, Ran, Unknown};
        assert_eq!([fate(0), fate(1), fate(2), fate(3)], [Ran, Ran, Missed, Ran]);
        assert_eq!([fate(63), fate(64), fate(-3), fate(-4)], [Missed, Unknown, Missed, Pending]);
        let last = MovesAcknowledged { acked: None, ..acked };
        assert_eq!([last.fate(Tick(3)), last.fate(Tick(900)), last.fate(Tick(2))], [Missed, Missed, Ran]);
        let none = MovesAcknowledged { ran: None, ..acked };
        assert_eq!([none.fate(Tick(5)), none.fate(Tick(6))], [Missed, Pending]);
    }
}
