//! Move packets: the newest move, a check of its result, and older moves whose packets may be lost.

use bevy_unlag_core::{BitReader, BitWriter, LastReceivedSnapshot, Tick, Wire, WireError};

use crate::state_check::StateCheck;

/// Maximum number of moves in one packet.
pub const MAX_MOVES: usize = 160;

/// Consecutive moves with the same input, one per tick. The counterpart of Unreal's combined moves, except
/// that client and server still simulate each tick.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoveRun<I> {
    /// Age of the run's newest move in ticks, relative to the packet's newest move.
    pub age: u16,
    /// Number of moves, at least 1.
    pub length: u16,
    /// Input of each of the moves.
    pub input: I,
}

/// Moves on their way to the server. Unreal's `ServerMove`, `ServerMoveDual` and `ServerMoveOld` in one.
#[derive(Clone, PartialEq, Debug)]
#[doc(alias = "ServerMove")]
pub struct MovePacket<I> {
    /// Epoch of the pawn to which the ticks belong, 3 bits; see
    /// [`MoveAck::epoch`](crate::MoveAck::epoch).
    pub epoch: u8,
    /// Sequence number of the packet, by which the server measures packet loss. It wraps.
    pub sequence: u8,
    /// Lowest bits of the newest move's tick. The server reconstructs the others.
    pub newest: u16,
    /// Snapshot acknowledgement: the lowest bits of the tick of the newest snapshot message that the client
    /// had received when it wrote this packet. Its screen cannot have shown anything newer. `None` if it
    /// has not received one recently.
    pub ack_bits: Option<u8>,
    /// Check of the newest move's result on the client.
    pub check: StateCheck,
    /// The moves, newest first. The first run has age 0. At most [`MAX_MOVES`] moves.
    pub runs: Vec<MoveRun<I>>,
}

/// Returns the epoch of an encoded packet, whatever its model; `None` for an empty one.
#[must_use]
pub fn packet_epoch(bytes: &[u8]) -> Option<u8> {
    BitReader::new(bytes).bits(EPOCH_BITS).ok().map(|epoch| epoch as u8)
}

/// Bits of an epoch, first in every packet.
const EPOCH_BITS: u32 = 3;

impl<I> MovePacket<I> {
    /// Gaps between runs are shorter than this.
    pub(crate) const MAX_GAP: u16 = 128;

    /// Returns whether the packet with this sequence number has a coarse check.
    #[must_use]
    pub fn is_coarse(sequence: u8) -> bool {
        sequence.is_multiple_of(8)
    }

    /// Returns the tick of the newest snapshot message that the client had received, reconstructed at the
    /// server's tick `now`. It is never newer than `now`.
    #[must_use]
    pub fn last_received_snapshot(&self, now: Tick) -> Option<Tick> {
        self.ack_bits.map(|low| LastReceivedSnapshot::from_ack_bits(low, self.newest_tick(now), now))
    }

    /// Returns the tick of the newest move: of all ticks with these lowest bits the one closest to `now`.
    #[must_use]
    pub fn newest_tick(&self, now: Tick) -> Tick {
        nearest_tick(now, self.newest)
    }
}

/// Returns of all ticks with these lowest bits the one closest to `reference`.
pub(crate) fn nearest_tick(reference: Tick, low: u16) -> Tick {
    let apart = low.wrapping_sub(reference.0 as u16).cast_signed();
    reference.offset(i32::from(apart))
}

impl<I: Wire + Copy> Wire for MovePacket<I> {
    fn write(&self, w: &mut BitWriter) {
        debug_assert!(self.runs.first().is_some_and(|run| run.age == 0));
        w.bits(u32::from(self.epoch & 7), EPOCH_BITS);
        w.bits(u32::from(self.sequence), 8);
        w.bits(u32::from(self.newest), 16);
        w.bool(self.ack_bits.is_some());
        if let Some(ack_bits) = self.ack_bits {
            w.bits(u32::from(ack_bits), 8);
        }
        self.check.write(w);
        let mut newer: Option<&MoveRun<I>> = None;
        for run in &self.runs {
            match newer {
                None => run.input.write(w),
                Some(newer) => {
                    let gap = run.age - (newer.age + newer.length);
                    debug_assert!(gap < Self::MAX_GAP, "a gap of {gap} ticks");
                    w.bool(true);
                    w.bool(gap != 0);
                    if gap != 0 {
                        w.golomb(gap - 1, 1);
                    }
                    run.input.write_delta(&newer.input, w);
                }
            }
            w.golomb(run.length - 1, 0);
            newer = Some(run);
        }
        w.bool(false);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let epoch = r.bits(EPOCH_BITS)? as u8;
        let sequence = r.bits(8)? as u8;
        let newest = r.bits(16)? as u16;
        let ack_bits = if r.bool()? { Some(r.bits(8)? as u8) } else { None };
        let check = StateCheck::read(r)?.read_as(Self::is_coarse(sequence));
        let mut runs: Vec<MoveRun<I>> = Vec::with_capacity(8);
        let mut total = 0;
        let (mut age, mut input) = (0, I::read(r)?);
        loop {
            let length = r.golomb(0)?.saturating_add(1);
            total += usize::from(length);
            if total > MAX_MOVES {
                return Err(WireError::Invalid);
            }
            runs.push(MoveRun { age, length, input });
            if !r.bool()? {
                return Ok(Self { epoch, sequence, newest, ack_bits, check, runs });
            }
            let gap = if r.bool()? { r.golomb(1)?.saturating_add(1) } else { 0 };
            if gap >= Self::MAX_GAP {
                return Err(WireError::Invalid);
            }
            // Each run has at least one move, so there are at most MAX_MOVES gaps before the loop ends.
            age = age + length + gap;
            input = I::read_delta(&input, r)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_bits_restore_the_tick_across_every_wrap() {
        for now in [0, 5, 40_000, 65_535, 65_536, u32::MAX - 3, u32::MAX] {
            for apart in [-32_768, -300, -1, 0, 1, 32_767] {
                let tick = Tick(now).offset(apart);
                assert_eq!(nearest_tick(Tick(now), tick.0 as u16), tick, "{apart} from {now}");
            }
        }
    }
}
