//! Wire format of a remote pawn's update: its newest snapshot, the path knots before it, and the update before where a
//! client could not do without.

use bevy::prelude::*;

use crate::{
    snapshot::{Near, Snapshot},
    tick::Tick,
    wire::{BitReader, BitWriter, WireError},
};

/// Maximum number of path knots in one update.
pub const MAX_PATH_KNOTS: usize = 3;
/// Maximum number of snapshots in one update that are sent again: all of the update before.
pub const MAX_RESENT_SNAPSHOTS: usize = MAX_PATH_KNOTS + 1;

/// One update of a remote pawn: its newest snapshot, up to [`MAX_PATH_KNOTS`] path knots, and up to
/// [`MAX_RESENT_SNAPSHOTS`] snapshots of the update before it.
///
/// A path knot is a full snapshot of an earlier tick. It is sent only where a curve from the previous update
/// to the newest snapshot would miss the pawn's path. The previous update is sent again, as a whole, only where a
/// client that did not receive it would miss the path; all other clients know its snapshots already.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub struct ProxyUpdate {
    /// Newest snapshot.
    pub snapshot: Snapshot,
    knots: [Snapshot; MAX_PATH_KNOTS],
    count: u8,
    resent: [Snapshot; MAX_RESENT_SNAPSHOTS],
    resent_count: u8,
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

    /// Returns this update with the path knots and the newest snapshot of the one before.
    #[must_use]
    pub fn resending(mut self, previous: &Self) -> Self {
        self.resent = [Snapshot::default(); MAX_RESENT_SNAPSHOTS];
        self.resent_count = 0;
        for (slot, snapshot) in
            self.resent.iter_mut().zip(previous.knots().iter().chain([&previous.snapshot]))
        {
            *slot = *snapshot;
            self.resent_count += 1;
        }
        self
    }

    /// Returns the path knots, oldest first.
    #[must_use]
    pub fn knots(&self) -> &[Snapshot] {
        &self.knots[..usize::from(self.count).min(MAX_PATH_KNOTS)]
    }

    /// Returns the snapshots of the update before that are sent again, oldest first. Usually there are none.
    #[must_use]
    pub fn resent(&self) -> &[Snapshot] {
        &self.resent[..usize::from(self.resent_count).min(MAX_RESENT_SNAPSHOTS)]
    }

    /// Returns all snapshots but the newest, oldest first.
    pub fn earlier(&self) -> impl Iterator<Item = &Snapshot> {
        self.resent().iter().chain(self.knots())
    }

    /// Returns all snapshots, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Snapshot> {
        self.earlier().chain([&self.snapshot])
    }

    /// Appends the update. `tick` is a reference tick that the reader knows, close to the update's own. A
    /// distance beyond 30,000 ticks (eight minutes at 64 Hz) is clamped.
    pub fn write(&self, tick: Tick, w: &mut BitWriter) {
        self.write_near(tick, |_| Near::default(), w);
    }

    /// Returns the tick that a reader will have: one too far from its reference tick is clamped.
    pub(crate) fn clamped(newest: Tick, tick: Tick) -> Tick {
        tick.offset(newest.since(tick).clamp(-30_000, 30_000))
    }

    /// Appends the update relative to what is expected of the tick of its newest snapshot.
    pub(crate) fn write_near(&self, tick: Tick, expected: impl FnOnce(Tick) -> Near, w: &mut BitWriter) {
        let newest = Self::clamped(self.snapshot.tick, tick);
        w.signed_golomb(newest.since(tick) as i16, 1);
        self.snapshot.write_body(&expected(newest), w);
        w.bool(self.count > 0 || self.resent_count > 0);
        if self.count == 0 && self.resent_count == 0 {
            return;
        }
        w.bits(u32::from(self.count), 2);
        w.bits(u32::from(self.resent_count), 3);
        for earlier in self.earlier() {
            w.golomb(newest.since(earlier.tick).clamp(0, 30_000) as u16, 2);
            // Relative to the newest snapshot if both are on the same base.
            let same = earlier.base == self.snapshot.base;
            w.bool(same);
            earlier.write_body(&if same { Near::from(&self.snapshot) } else { Near::default() }, w);
        }
    }

    /// Reads an update that [`write`](Self::write) wrote with the same `tick`.
    ///
    /// # Errors
    /// Returns a [`WireError`] if the input ends early or is not a valid update.
    pub fn read(tick: Tick, r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Self::read_near(tick, |_| Near::default(), r)
    }

    /// Reads what [`write_near`](Self::write_near) wrote.
    pub(crate) fn read_near(
        tick: Tick,
        expected: impl FnOnce(Tick) -> Near,
        r: &mut BitReader<'_>,
    ) -> Result<Self, WireError> {
        let newest = tick.offset(i32::from(r.signed_golomb(1)?));
        let snapshot = Snapshot::read_body(newest, &expected(newest), r)?;
        let mut update = Self { snapshot, ..Self::default() };
        if !r.bool()? {
            return Ok(update);
        }
        // Two bits hold no more than the maximum number of path knots.
        update.count = r.bits(2)? as u8;
        update.resent_count = r.bits(3)? as u8;
        let (knots, resent) = (usize::from(update.count), usize::from(update.resent_count));
        if resent > MAX_RESENT_SNAPSHOTS {
            return Err(WireError::Invalid);
        }
        for slot in update.resent[..resent].iter_mut().chain(&mut update.knots[..knots]) {
            let tick = newest.offset(-i32::from(r.golomb(2)?));
            let near = if r.bool()? { Near::from(&update.snapshot) } else { Near::default() };
            *slot = Snapshot::read_body(tick, &near, r)?;
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
    use crate::{snapshot::Arrival, up::Up};

    fn written(update: &ProxyUpdate, tick: Tick) -> BitWriter {
        let mut w = BitWriter::default();
        update.write(tick, &mut w);
        w
    }

    fn at(tick: u32, x: f32) -> Snapshot {
        Snapshot::new(Tick(tick), Vec3::new(x, 0.0, 3.0), Vec3::X * 6.0)
    }

    #[test]
    fn update_round_trips_and_one_without_path_knots_fits_13_bytes() {
        let knot = Snapshot { base: 3, ..at(u32::MAX, 0.7) };
        let update = ProxyUpdate::new(at(3, 1.0), &[at(u32::MAX - 1, 0.5), knot]);
        let later = ProxyUpdate::new(at(6, 1.3), &[at(5, 1.2)]);
        for update in [update, later, later.resending(&update), at(6, 1.3).into()] {
            let bytes = written(&update, Tick(2)).finish();
            assert_eq!(ProxyUpdate::read(Tick(2), &mut BitReader::new(&bytes)), Ok(update));
        }
        let bits = written(&ProxyUpdate::new(at(9, 1.0), &[]), Tick(9)).len_bits();
        assert!(bits < 13 * 8, "{bits} bits");
    }

    #[test]
    fn update_sent_again_is_whole_and_without_the_one_before_it() {
        let [oldest, before, now] = [0, 3, 6].map(|tick| {
            let knots = [1, 2].map(|k| at(tick + k, 0.1));
            ProxyUpdate::new(at(tick + 3, 0.2), &knots[..if tick == 0 { 0 } else { 2 }])
        });
        let update = now.resending(&before.resending(&oldest));
        let ticks: Vec<u32> = update.iter().map(|snapshot| snapshot.tick.0).collect();
        assert_eq!(ticks, [4, 5, 6, 7, 8, 9]);
        assert_eq!((update.resent().len(), update.knots().len()), (3, 2));
        // A shorter update replaces a longer one.
        assert_eq!(update.resending(&oldest), now.resending(&oldest));
    }

    #[test]
    fn update_of_more_snapshots_than_the_limit_is_invalid_and_the_largest_takes_400_bytes() {
        let odd = Snapshot {
            base: u16::MAX,
            turns_with_base: true,
            crouch: 1,
            up: Up::new(Vec3::new(0.3, -1.0, 0.2)),
            spin: Some(i16::MIN),
            acceleration: [i8::MIN; 3],
            arrival: Some(Arrival { velocity: [4_095; 3], spin: Some(i16::MAX) }),
            velocity: [-4_095; 3],
            ..Snapshot::new(Tick(0), Vec3::splat(8_191.0), Vec3::ZERO)
        };
        let arrival = Some(Arrival { velocity: [-4_095; 3], spin: Some(i16::MAX) });
        let far = Snapshot { position: odd.position.map(|v| -v), velocity: [4_095; 3], arrival, ..odd };
        let full = ProxyUpdate::new(Snapshot { tick: Tick(30_000), ..odd }, &[far; MAX_PATH_KNOTS]);
        let full = full.resending(&ProxyUpdate::new(far, &[far; MAX_PATH_KNOTS]));
        let w = written(&full, Tick(0));
        assert!(w.len_bits() <= 400 * 8, "{} bits", w.len_bits());
        assert_eq!(ProxyUpdate::read(Tick(0), &mut BitReader::new(&w.finish())), Ok(full));
        // Without path knots, and with more snapshots of the update before than one can have.
        for resent in 0..8 {
            let mut w = BitWriter::default();
            w.signed_golomb(0, 1);
            at(9, 1.0).write_body(&Near::default(), &mut w);
            w.bool(true);
            w.bits(0, 2);
            w.bits(resent, 3);
            for _ in 0..resent {
                w.golomb(3, 2);
                w.bool(true);
                at(6, 0.5).write_body(&Near::from(&at(9, 1.0)), &mut w);
            }
            let read = ProxyUpdate::read(Tick(9), &mut BitReader::new(&w.finish()));
            let count = read.map(|update| update.resent().len());
            assert_eq!(count, if resent <= 4 { Ok(resent as usize) } else { Err(WireError::Invalid) });
        }
    }

    #[test]
    fn arbitrary_bits_are_rejected_or_give_an_update_within_its_limits() {
        let mut accepted = 0;
        for seed in 0..4_000u32 {
            let bytes: Vec<u8> =
                (0..90u32).map(|i| ((seed * 90 + i).wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let Ok(update) = ProxyUpdate::read(Tick(7), &mut BitReader::new(&bytes)) else { continue };
            accepted += 1;
            assert!(update.iter().count() <= 1 + MAX_PATH_KNOTS + MAX_RESENT_SNAPSHOTS);
            let newest = update.snapshot.tick;
            assert!(update.earlier().all(|earlier| newest.since(earlier.tick) >= 0));
        }
        assert!(accepted > 100, "{accepted} accepted");
    }
}
