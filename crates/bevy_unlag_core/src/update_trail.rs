//! Encoding of a pawn's updates relative to the ones before.

use crate::{
    proxy_update::ProxyUpdate,
    snapshot::{Near, POSITION_BITS, Snapshot},
    tick::Tick,
    wire::{BitReader, BitWriter, WireError},
};

/// Longest time in ticks over which a path is continued.
const REACH: i32 = 64;

/// Newest updates of a pawn that the reader knows as well as the writer, so that the next one takes about half of the
/// bits. For recordings: on a link, the reader may lack any of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpdateTrail {
    last: Option<Snapshot>,
    before: Option<Snapshot>,
}

impl UpdateTrail {
    /// Appends an update like [`ProxyUpdate::write`], relative to the ones before.
    pub fn write(&mut self, update: &ProxyUpdate, tick: Tick, w: &mut BitWriter) {
        update.write_near(tick, |newest| self.near(newest), w);
        let newest = ProxyUpdate::clamped(update.snapshot.tick, tick);
        self.push(Snapshot { tick: newest, ..update.snapshot });
    }

    /// Reads an update that [`write`](Self::write) wrote with the same `tick`, after the same updates.
    ///
    /// # Errors
    /// Returns a [`WireError`] if the input ends early or is not a valid update.
    pub fn read(&mut self, tick: Tick, r: &mut BitReader<'_>) -> Result<ProxyUpdate, WireError> {
        let update = ProxyUpdate::read_near(tick, |newest| self.near(newest), r)?;
        self.push(update.snapshot);
        Ok(update)
    }

    fn push(&mut self, newest: Snapshot) {
        self.before = self.last.replace(newest);
    }

    /// Returns what is expected of the pawn in a tick: that it has gone on along its path.
    fn near(&self, tick: Tick) -> Near {
        let Some(last) = self.last else { return Near::default() };
        let (velocity, bound) = (last.velocity, (1 << (POSITION_BITS - 1)) - 1);
        let ahead = tick.since(last.tick);
        let path = self.before.map(|before| (before, last.tick.since(before.tick)));
        let path = path.filter(|(before, span)| {
            before.base == last.base && (1..=REACH).contains(span) && (1..=REACH).contains(&ahead)
        });
        let position = match path {
            Some((before, span)) => core::array::from_fn(|i| {
                let way = i64::from(last.position[i]) - i64::from(before.position[i]);
                let way = way * i64::from(ahead);
                let position = i64::from(last.position[i]) + way / i64::from(span);
                position.clamp(-i64::from(bound), i64::from(bound)) as i32
            }),
            None => last.position,
        };
        Near { position, velocity }
    }
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;

    use super::*;

    fn written(updates: &[ProxyUpdate]) -> (Vec<u8>, usize) {
        let (mut trail, mut w) = (UpdateTrail::default(), BitWriter::default());
        updates.iter().for_each(|update| trail.write(update, update.snapshot.tick, &mut w));
        let bits = w.len_bits();
        (w.finish(), bits)
    }

    #[test]
    fn updates_are_exact_and_those_of_a_runner_take_half_of_the_bits() {
        let at = |tick: i32, x: f32| {
            Snapshot::new(Tick(u32::MAX - 20).offset(tick), Vec3::new(x, 1.0, -9.0), Vec3::X * 6.0)
        };
        let mut run: Vec<ProxyUpdate> = (0..60).map(|i| at(i * 3, 0.28 * i as f32).into()).collect();
        let alone: usize = run
            .iter()
            .map(|update| {
                let mut w = BitWriter::default();
                update.write(update.snapshot.tick, &mut w);
                w.len_bits()
            })
            .sum();
        let (_, bits) = written(&run);
        assert!(bits * 10 < alone * 6, "{bits} of {alone} bits");
        // A teleport to the edge, another base, a repetition, and a jump back in time.
        let far = Vec3::new(-8_191.0, 8_191.0, 8_191.0);
        let edge = Snapshot { velocity: [4_095, -4_095, 4_095], ..Snapshot::new(Tick(470), far, Vec3::ZERO) };
        let back = Snapshot { position: edge.position.map(|v| -v), velocity: [-4_095; 3], ..edge };
        let based = Snapshot { base: 3, ..at(503, -2.0) };
        run.extend([edge.into(), back.into(), ProxyUpdate::new(based, &[edge, back]), at(3, 0.0).into()]);
        let (bytes, _) = written(&run);
        let (mut trail, mut r) = (UpdateTrail::default(), BitReader::new(&bytes));
        for update in run {
            assert_eq!(trail.read(update.snapshot.tick, &mut r), Ok(update));
        }
    }

    #[test]
    fn update_far_from_the_reference_tick_spoils_none_after_it() {
        let at = |tick: u32| Snapshot::new(Tick(tick), Vec3::X * tick as f32 * 0.01, Vec3::X);
        let (mut trail, mut w) = (UpdateTrail::default(), BitWriter::default());
        let (mut reader, ticks) = (UpdateTrail::default(), [10, 13, 50_000, 16, 19]);
        ticks.iter().for_each(|tick| trail.write(&at(*tick).into(), Tick(10), &mut w));
        let bytes = w.finish();
        let mut r = BitReader::new(&bytes);
        for tick in ticks {
            let read = reader.read(Tick(10), &mut r).expect("written above").snapshot;
            // Its tick is clamped, and nothing else.
            assert_eq!(read, Snapshot { tick: Tick(tick.min(30_010)), ..at(tick) });
        }
    }

    #[test]
    fn any_bits_are_updates_or_an_error() {
        let mut read = 0;
        for seed in 0..3_000u32 {
            let bytes: Vec<u8> =
                (0..400u32).map(|i| ((seed * 400 + i).wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let (mut trail, mut r) = (UpdateTrail::default(), BitReader::new(&bytes));
            for tick in 0.. {
                let Ok(update) = trail.read(Tick(tick), &mut r) else { break };
                assert!(update.iter().all(|snapshot| snapshot.position().is_finite()));
                read += 1;
            }
        }
        assert!(read > 500, "{read}");
    }
}
