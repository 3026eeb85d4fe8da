//! Encoding of several tracers in one message.

use bevy_unlag_core::{BitReader, BitWriter, Wire};
use bevy_unlag_weapons::Tracer;

/// Size at which a message is full, in bytes. One more tracer takes 11.
const FULL: usize = 850;

/// Encodes tracers into as many messages as necessary.
pub(super) fn write<'a>(tracers: impl Iterator<Item = &'a BitWriter>, mut send: impl FnMut(Vec<u8>)) {
    let mut open: Option<BitWriter> = None;
    for tracer in tracers {
        let mut w = open.take().unwrap_or_default();
        w.bool(true);
        w.append(tracer);
        if w.len_bits() < FULL * 8 {
            open = Some(w);
        } else {
            send(close(w));
        }
    }
    if let Some(w) = open {
        send(close(w));
    }
}

fn close(mut w: BitWriter) -> Vec<u8> {
    w.bool(false);
    w.finish()
}

/// Decodes the tracers of a message, up to the first invalid one.
pub(super) fn read(bytes: &[u8]) -> impl Iterator<Item = Tracer> {
    let mut r = BitReader::new(bytes);
    core::iter::from_fn(move || if r.bool().ok()? { Tracer::read(&mut r).ok() } else { None }).fuse()
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;
    use bevy_unlag_core::NetId;
    use bevy_unlag_weapons::{TracerPath, WeaponId};
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;

    fn tracers(count: u16) -> Vec<Tracer> {
        let tracer = |id: u16| Tracer {
            shooter: NetId(id),
            weapon: WeaponId(2),
            trail: TracerPath::To(Vec3::new(f32::from(id), 1.0, -2.5)),
        };
        (0..count).map(tracer).collect()
    }

    fn messages(tracers: &[Tracer]) -> Vec<Vec<u8>> {
        let bits: Vec<_> = tracers
            .iter()
            .map(|tracer| {
                let mut w = BitWriter::default();
                tracer.write(&mut w);
                w
            })
            .collect();
        let mut messages = Vec::new();
        write(bits.iter(), |message| messages.push(message));
        messages
    }

    #[test]
    fn tracers_survive_a_round_trip_in_messages_of_at_most_a_kilobyte() {
        for count in [0, 1, 5, 76, 77, 78, 300] {
            let sent = tracers(count);
            let messages = messages(&sent);
            assert_eq!(messages.len(), usize::from(count.div_ceil(80)), "{count} tracers");
            assert!(messages.iter().all(|message| message.len() <= 1_000));
            let read: Vec<_> = messages.iter().flat_map(|message| read(message)).collect();
            assert_eq!(read, sent);
        }
    }

    #[test]
    fn tracers_of_a_tick_take_less_than_one_message_each() {
        let sent = tracers(5);
        let alone: usize = sent.iter().map(|tracer| tracer.to_bytes().len()).sum();
        assert!(messages(&sent)[0].len() <= alone);
    }

    #[test]
    fn truncated_and_random_messages_give_a_bounded_number_of_tracers() {
        let sent = tracers(5);
        let whole = messages(&sent).remove(0);
        for cut in 0..whole.len() - 1 {
            let read: Vec<_> = read(&whole[..cut]).collect();
            assert!(read.len() < 5 && read == sent[..read.len()], "cut to {cut} bytes");
        }
        let mut rng = SmallRng::seed_from_u64(1);
        for length in 0..1_100 {
            for fill in [None, Some(0xFF), Some(0)] {
                let bytes: Vec<u8> = (0..length).map(|_| fill.unwrap_or_else(|| rng.random())).collect();
                assert!(read(&bytes).count() <= length);
            }
        }
    }
}
