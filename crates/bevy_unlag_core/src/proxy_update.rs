//! Wire format of a remote pawn's update: its newest snapshot and the path knots before it.

use bevy::prelude::*;

use crate::{
    snapshot::Snapshot,
    tick::Tick,
    wire::{BitReader, BitWriter, WireError},
};

/// Maximum number of path knots in one update.
pub const MAX_PATH_KNOTS: usize = 3;

/// One update of a remote pawn: its newest snapshot and up to [`MAX_PATH_KNOTS`] path knots.
///
/// A path knot is a full snapshot of an earlier tick. It is sent only where a curve from the previous update
/// to the newest snapshot would miss the pawn's path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub struct ProxyUpdate {
    /// Newest snapshot.
    pub snapshot: Snapshot,
    knots: [Snapshot; MAX_PATH_KNOTS],
    count: u8,
}

impl ProxyUpdate {
    /// Creates an update from the newest snapshot and up to [`MAX_PATH_KNOTS`] older ones, oldest first.
    /// Further ones are ignored.
    #[must_use]
    pub fn new(snapshot: Snapshot, knots: &[Snapshot]) -> Self {
        let mut update = Self { snapshot, ..Self::default() };
        for (slot, knot) in update.knots.iter_mut().zip(knots) {
            *slot = *knot;
            update.count += 1;
        }
        update
    }

    /// Returns the path knots, oldest first.
    #[must_use]
    pub fn knots(&self) -> &[Snapshot] {
        &self.knots[..usize::from(self.count).min(MAX_PATH_KNOTS)]
    }

    /// Returns all snapshots, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Snapshot> {
        self.knots().iter().chain([&self.snapshot])
    }

    /// Appends the update. `tick` is a reference tick that the reader knows, close to the update's own. A
    /// distance beyond 30,000 ticks (eight minutes at 64 Hz) is clamped.
    pub fn write(&self, tick: Tick, w: &mut BitWriter) {
        let newest = self.snapshot.tick;
        w.signed_golomb(newest.since(tick).clamp(-30_000, 30_000) as i16, 1);
        self.snapshot.write_body([0; 3], w);
        w.bool(self.count > 0);
        if self.count == 0 {
            return;
        }
        w.bits(u32::from(self.count), 2);
        for knot in self.knots() {
            w.golomb(newest.since(knot.tick).clamp(0, 30_000) as u16, 2);
            // Relative to the newest snapshot if both are on the same base.
            let same = knot.base == self.snapshot.base;
            w.bool(same);
            knot.write_body(if same { self.snapshot.position } else { [0; 3] }, w);
        }
    }

    /// Reads an update that [`write`](Self::write) wrote with the same `tick`.
    ///
    /// # Errors
    /// Returns a [`WireError`] if the input ends early or is not a valid update.
    pub fn read(tick: Tick, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let newest = tick.offset(i32::from(r.signed_golomb(1)?));
        let mut update = Self { snapshot: Snapshot::read_body(newest, [0; 3], r)?, ..Self::default() };
        if !r.bool()? {
            return Ok(update);
        }
        update.count = r.bits(2)? as u8;
        for i in 0..usize::from(update.count).min(MAX_PATH_KNOTS) {
            let tick = newest.offset(-i32::from(r.golomb(2)?));
            let near = if r.bool()? { update.snapshot.position } else { [0; 3] };
            update.knots[i] = Snapshot::read_body(tick, near, r)?;
        }
        Ok(update)
    }
}

impl From<Snapshot> for ProxyUpdate {
    fn from(snapshot: Snapshot) -> Self {
        Self::new(snapshot, &[])
    }
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;

    use super::*;

    #[test]
    fn update_round_trips_and_one_without_path_knots_fits_13_bytes() {
        let at = |tick: u32, x: f32| Snapshot::new(Tick(tick), Vec3::new(x, 0.0, 3.0), Vec3::X * 6.0);
        let knot = Snapshot { base: 3, ..at(u32::MAX, 0.7) };
        let update = ProxyUpdate::new(at(3, 1.0), &[at(u32::MAX - 1, 0.5), knot]);
        let mut w = BitWriter::default();
        update.write(Tick(2), &mut w);
        assert_eq!(ProxyUpdate::read(Tick(2), &mut BitReader::new(&w.finish())), Ok(update));
        let mut w = BitWriter::default();
        ProxyUpdate::new(at(9, 1.0), &[]).write(Tick(9), &mut w);
        assert!(w.len_bits() < 13 * 8, "{} bits", w.len_bits());
    }
}
