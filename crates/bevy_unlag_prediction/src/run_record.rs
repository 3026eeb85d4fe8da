//! Record of the owner's moves that ran, so that an owner learns which of its inputs never took effect.

use bevy_unlag_core::{BitReader, BitWriter, Tick, Wire, WireError, wire_format::WireFormat};

/// Newest move that ran with its owner's input, and the missed ones among the 63 before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct RunRecord {
    newest: Option<Tick>,
    /// Bit n: the n-th move before the newest did not run with its owner's input.
    missed: u64,
}

impl RunRecord {
    /// Records that the move of `tick` ran with its owner's input. Moves between it and the last one did not.
    pub(crate) fn record(&mut self, tick: Tick) {
        let Some(newest) = self.newest else {
            *self = Self { newest: Some(tick), missed: u64::MAX << 1 };
            return;
        };
        let Ok(passed) = u32::try_from(tick.since(newest)) else { return };
        if passed > 0 {
            let between = low_ones(passed - 1).checked_shl(1).unwrap_or(0);
            self.missed = self.missed.checked_shl(passed).unwrap_or(0) | between;
            self.newest = Some(tick);
        }
    }

    /// Returns the run report for the acknowledgement of move `acked`; without one once its epoch has ended.
    pub(crate) fn for_ack(&self, acked: Option<Tick>) -> RanMoves {
        match self.newest {
            None => RanMoves::None,
            Some(newest) if acked == Some(newest) && self.missed == 0 => RanMoves::All,
            Some(newest) => RanMoves::Newest { ran: newest.0 as u16, missed: self.missed },
        }
    }

    /// Returns whether any move ran.
    pub(crate) fn is_empty(&self) -> bool {
        self.newest.is_none()
    }
}

/// Moves that ran with their owner's input, in an acknowledgement.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RanMoves {
    /// The acknowledged move and the 63 before it.
    #[default]
    All,
    /// A move, possibly an older one than the acknowledged one, and those before it without the missed ones.
    Newest {
        /// Lowest bits of the tick of the newest move that ran.
        ran: u16,
        /// Bit n: the n-th move before it did not run with the owner's input.
        #[wire(with = SparseBits)]
        missed: u64,
    },
    /// No move of this epoch.
    None,
}

/// Returns a number of which the lowest `count` bits are set.
fn low_ones(count: u32) -> u64 {
    if count >= u64::BITS { u64::MAX } else { (1 << count) - 1 }
}

/// Bits of which few or none are set: one bit if none is, else as many as the highest one needs.
struct SparseBits;

impl SparseBits {
    const LENGTH_BITS: u32 = 6;
}

impl WireFormat<u64> for SparseBits {
    fn write(&self, value: &u64, w: &mut BitWriter) {
        Wire::write(&(*value != 0), w);
        let length = u64::BITS - value.leading_zeros();
        if length > 0 {
            w.bits(length - 1, Self::LENGTH_BITS);
            w.bits(*value as u32, length.min(32));
            if length > 32 {
                w.bits((*value >> 32) as u32, length - 32);
            }
        }
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<u64, WireError> {
        if !<bool as Wire>::read(r)? {
            return Ok(0);
        }
        let length = r.bits(Self::LENGTH_BITS)? + 1;
        let low = u64::from(r.bits(length.min(32))?);
        let high = if length > 32 { u64::from(r.bits(length - 32)?) } else { 0 };
        Ok(high << 32 | low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_that_never_ran_are_missed_and_the_others_are_not() {
        for origin in [Tick(70_000), Tick(u32::MAX - 100)] {
            let mut record = RunRecord::default();
            assert_eq!(record.for_ack(Some(origin)), RanMoves::None, "nothing ran yet");
            let ran = |k: i32| k % 7 != 3 && !(90..110).contains(&k);
            for k in 0..200 {
                if ran(k) {
                    record.record(origin.offset(k));
                }
                let RanMoves::Newest { ran: newest, missed } = record.for_ack(Some(origin.offset(k))) else {
                    panic!("moves are missing");
                };
                let newest_k = (0..=k).rfind(|k| ran(*k)).expect("the first move ran");
                assert_eq!(newest, origin.offset(newest_k).0 as u16);
                for back in 0..=63.min(newest_k) {
                    assert_eq!(missed >> back & 1 == 0, ran(newest_k - back), "{back} before {newest_k}");
                }
            }
            (200..263).for_each(|k| record.record(origin.offset(k)));
            assert_ne!(record.for_ack(Some(origin.offset(262))), RanMoves::All);
            record.record(origin.offset(263));
            assert_eq!(record.for_ack(Some(origin.offset(263))), RanMoves::All);
            assert_ne!(
                record.for_ack(Some(origin.offset(264))),
                RanMoves::All,
                "the acknowledged move is missing"
            );
            assert_ne!(record.for_ack(None), RanMoves::All);
        }
    }

    #[test]
    fn sparse_bits_survive_the_wire_in_as_many_bits_as_they_need() {
        for (value, bytes) in [(0, 1), (1, 1), (6, 2), (1 << 31, 5), (1 << 40 | 5, 6), (u64::MAX, 9)] {
            let mut w = BitWriter::default();
            SparseBits.write(&value, &mut w);
            let written = w.finish();
            assert_eq!(written.len(), bytes, "{value:b}");
            assert_eq!(SparseBits.read(&mut BitReader::new(&written)), Ok(value));
        }
        let truncated: Result<u64, _> = SparseBits.read(&mut BitReader::new(&[0xff]));
        assert!(truncated.is_err());
    }
}
