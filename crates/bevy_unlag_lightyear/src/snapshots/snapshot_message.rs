//! Encoding of several pawns' snapshots in one message.

use bevy_unlag_core::{BitReader, BitWriter, NetId, ProxyUpdate, Tick, Wire, WireError};

/// Size at which a message is full, in bytes. One more update takes 13 as a rule and at most 400; lightyear splits what
/// does not fit in a packet.
const FULL: usize = 850;
/// Maximum number of pawns in one message; messages with more are invalid.
pub(super) const MAX_PAWNS: usize = 256;
/// Approximate number of bits per pawn in addition to its update.
pub(super) const NAME_BITS: usize = 4;
/// Approximate number of bytes per message in addition to its pawns.
pub(super) const HEAD_BYTES: usize = 5;

/// Encodes updates into as many messages as necessary. `updates` must be sorted by id, and each must have
/// been encoded relative to `base`. Of two updates with the same id the first is used.
pub(super) fn write<'a>(
    base: Tick,
    updates: impl Iterator<Item = (NetId, &'a BitWriter)>,
    mut send: impl FnMut(Vec<u8>),
) {
    let mut open: Option<(BitWriter, u16, usize)> = None;
    for (NetId(id), update) in updates {
        open = open.take().and_then(|(w, last, pawns)| {
            if w.len_bits() < FULL * 8 && pawns < MAX_PAWNS && id >= last {
                return Some((w, last, pawns));
            }
            send(close(w));
            None
        });
        let (w, last, pawns) = open.get_or_insert_with(|| {
            let mut w = BitWriter::with_capacity(FULL + 100);
            base.write(&mut w);
            (w, 0, 0)
        });
        if *pawns > 0 && id == *last {
            continue;
        }
        w.bool(true);
        // Number of skipped ids.
        w.golomb(if *pawns == 0 { id } else { id - *last - 1 }, 1);
        w.append(update);
        (*last, *pawns) = (id, *pawns + 1);
    }
    if let Some((w, ..)) = open {
        send(close(w));
    }
}

/// Encodes a message without updates, by which a client knows that the server's time goes on.
pub(super) fn without_updates(base: Tick) -> Vec<u8> {
    let mut w = BitWriter::default();
    base.write(&mut w);
    close(w)
}

fn close(mut w: BitWriter) -> Vec<u8> {
    w.bool(false);
    w.finish()
}

/// Decoder for messages of [`write`]. Ends with an error at the first invalid data.
pub(super) struct SnapshotReader<'a> {
    r: BitReader<'a>,
    base: Tick,
    next: u32,
    left: usize,
}

impl<'a> SnapshotReader<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut r = BitReader::new(bytes);
        let base = Tick::read(&mut r)?;
        Ok(Self { r, base, next: 0, left: MAX_PAWNS })
    }

    /// Returns the server's tick at which the message was sent.
    pub(super) fn base(&self) -> Tick {
        self.base
    }

    fn one(&mut self) -> Result<Option<(NetId, ProxyUpdate)>, WireError> {
        if !self.r.bool()? {
            return Ok(None);
        }
        if self.left == 0 {
            return Err(WireError::Invalid);
        }
        let id = self.next + u32::from(self.r.golomb(1)?);
        let name = NetId(u16::try_from(id).map_err(|_| WireError::Invalid)?);
        self.next = id + 1;
        self.left -= 1;
        Ok(Some((name, ProxyUpdate::read(self.base, &mut self.r)?)))
    }
}

impl Iterator for SnapshotReader<'_> {
    type Item = Result<(NetId, ProxyUpdate), WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        let one = self.one().transpose();
        if matches!(one, Some(Err(_))) {
            // Data after an error cannot be trusted.
            self.r = BitReader::new(&[0]);
        }
        one
    }
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;
    use bevy_unlag_core::Snapshot;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;

    fn update(tick: u32, x: f32) -> ProxyUpdate {
        let at = |tick: u32| Snapshot::new(Tick(tick), Vec3::new(x, 1.0, -x), Vec3::X * 6.0);
        let knots = [at(tick.wrapping_sub(2)), at(tick.wrapping_sub(1))];
        let update = ProxyUpdate::new(at(tick), if x == 9.0 { &knots } else { &[] });
        if x == 8.0 {
            update.resending(&ProxyUpdate::new(at(tick.wrapping_sub(3)), &knots[..1]))
        } else {
            update
        }
    }

    fn messages(base: Tick, updates: &[(NetId, ProxyUpdate)]) -> Vec<Vec<u8>> {
        let bits: Vec<_> = updates
            .iter()
            .map(|(id, update)| {
                let mut w = BitWriter::default();
                update.write(base, &mut w);
                (*id, w)
            })
            .collect();
        let mut messages = Vec::new();
        write(base, bits.iter().map(|(id, w)| (*id, w)), |message| messages.push(message));
        messages
    }

    #[test]
    fn updates_survive_a_round_trip_in_messages_of_at_most_a_kilobyte() {
        for ids in [vec![0u16], vec![65_535], vec![0, 1, 2, 65_535], (7..300).map(|id| id * 3).collect()] {
            let base = Tick(u32::MAX - 1);
            let updates: Vec<_> = ids
                .iter()
                .map(|id| (NetId(*id), update(base.0.wrapping_add(u32::from(id % 3)), f32::from(id % 50))))
                .collect();
            let messages = messages(base, &updates);
            assert!(messages.iter().all(|message| message.len() <= 1_000), "a message is too long");
            let read: Vec<_> = messages
                .iter()
                .flat_map(|message| SnapshotReader::read(message).expect("a message of ours"))
                .map(|one| one.expect("an update of ours"))
                .collect();
            assert_eq!(read, updates);
        }
    }

    #[test]
    fn overhead_of_a_message_with_twelve_pawns_is_small() {
        let base = Tick(70);
        let updates: Vec<_> = (0..12).map(|id| (NetId(id), update(70, f32::from(id)))).collect();
        let bits: usize = updates
            .iter()
            .map(|(_, update)| {
                let mut w = BitWriter::default();
                update.write(base, &mut w);
                w.len_bits()
            })
            .sum();
        let messages = messages(base, &updates);
        assert_eq!(messages.len(), 1);
        assert!(
            messages[0].len() <= HEAD_BYTES + (bits + 12 * NAME_BITS).div_ceil(8),
            "{}",
            messages[0].len()
        );
    }

    #[test]
    fn message_without_updates_has_its_tick() {
        let bytes = without_updates(Tick(70));
        let mut read = SnapshotReader::read(&bytes).expect("a message of ours");
        assert_eq!((read.base(), read.next()), (Tick(70), None));
    }

    #[test]
    fn first_of_two_updates_with_the_same_id_is_used() {
        let base = Tick(70);
        let all = [(NetId(3), update(70, 1.0)), (NetId(3), update(70, 2.0)), (NetId(4), update(70, 3.0))];
        let messages = messages(base, &all);
        let read: Vec<_> = SnapshotReader::read(&messages[0]).expect("ours").flatten().collect();
        assert_eq!(read, [all[0], all[2]]);
    }

    #[test]
    fn random_bytes_give_a_bounded_number_of_pawns_and_at_most_one_error() {
        let mut rng = SmallRng::seed_from_u64(1);
        for length in (0..1_100).chain([100_000]) {
            for fill in [None, Some(0xFF), Some(0)] {
                let bytes: Vec<u8> = (0..length).map(|_| fill.unwrap_or_else(|| rng.random())).collect();
                let Ok(updates) = SnapshotReader::read(&bytes) else { continue };
                let (mut pawns, mut errors) = (0, 0);
                for one in updates {
                    pawns += usize::from(one.is_ok());
                    errors += usize::from(one.is_err());
                }
                assert!(pawns <= MAX_PAWNS && errors <= 1, "{pawns} pawns, {errors} errors");
            }
        }
        // Truncated messages are errors.
        let whole = messages(Tick(70), &[(NetId(3), update(70, 1.0)), (NetId(9), update(70, 2.0))]).remove(0);
        for cut in 4..whole.len() - 1 {
            let last = SnapshotReader::read(&whole[..cut]).expect("a tick").last();
            assert!(last.is_some_and(|one| one.is_err()), "cut to {cut} bytes");
        }
    }
}
