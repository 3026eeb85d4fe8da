//! Offers of control: messages that hand a pawn to a client that did not control it.

use bevy_unlag_core::{BitReader, BitWriter, MoveModel, Tick, Wire, WireError};

use crate::move_queue::MoveQueue;

/// Tick count of the moves of a pawn that is offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfferedMoves {
    /// The client restarts its tick count at the server's tick and controls the pawn at once.
    Restart {
        /// Server tick at which the offer was sent.
        now: Tick,
    },
    /// The client continues its tick count. Up to the move before `first` the pawn has neutral input, and from
    /// then on the client's.
    Continue {
        /// Move after which the pawn has the offered state.
        last: Tick,
        /// First move of the client.
        first: Tick,
    },
}

/// Offer of control over a pawn. The server repeats it until the client's first move. Unreal's `Possess`.
#[doc(alias = "Possess")]
#[derive(Clone, PartialEq, Debug)]
pub struct ControlOffer<I, S> {
    /// Epoch of the moves, 3 bits.
    pub epoch: u8,
    /// Tick count of the moves.
    pub moves: OfferedMoves,
    /// Neutral input of the moves before the client's first one.
    pub input: I,
    /// State of the pawn.
    pub state: S,
}

impl<I: Wire + Copy, S: Wire + Copy> ControlOffer<I, S> {
    /// Maximum number of ticks by which a state may be older than the client's first move.
    const MAX_TICKS: i32 = 1_000;

    pub(crate) fn of<M: MoveModel<Input = I, State = S>>(queue: &MoveQueue<M>, state: &S, now: Tick) -> Self {
        let moves = match queue.transfer() {
            Some((first, last)) => OfferedMoves::Continue { last, first },
            None => OfferedMoves::Restart { now },
        };
        Self { epoch: queue.clock.epoch.unwrap_or(0), moves, input: queue.last_input, state: *state }
    }

    /// Returns the tick from which the client controls the pawn, by which later offers are told from earlier
    /// ones.
    pub(crate) fn from(&self) -> Tick {
        match self.moves {
            OfferedMoves::Restart { now } => now,
            OfferedMoves::Continue { first, .. } => first,
        }
    }
}

impl<I: Wire + Copy, S: Wire + Copy> Wire for ControlOffer<I, S> {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.epoch & 7), 3);
        match self.moves {
            OfferedMoves::Restart { now } => {
                w.bool(false);
                now.write(w);
            }
            OfferedMoves::Continue { last, first } => {
                w.bool(true);
                last.write(w);
                w.signed(first.since(last).clamp(-Self::MAX_TICKS, Self::MAX_TICKS), 12);
            }
        }
        self.input.write(w);
        self.state.write(w);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let epoch = r.bits(3)? as u8;
        let moves = if r.bool()? {
            let last = Tick::read(r)?;
            OfferedMoves::Continue { last, first: last.offset(r.signed(12)?) }
        } else {
            OfferedMoves::Restart { now: Tick::read(r)? }
        };
        Ok(Self { epoch, moves, input: I::read(r)?, state: S::read(r)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_epoch_and_both_tick_counts_survive_the_wire() {
        let [last, first] = [Tick(70_000), Tick(70_012)];
        for epoch in 0..8 {
            for moves in [OfferedMoves::Restart { now: last }, OfferedMoves::Continue { last, first }] {
                let offer = ControlOffer { epoch, moves, input: true, state: false };
                let mut w = BitWriter::default();
                offer.write(&mut w);
                let bytes = w.finish();
                assert_eq!(ControlOffer::read(&mut BitReader::new(&bytes)), Ok(offer));
            }
        }
    }
}
