//! Encoding of changes of pawn states.

use bevy_unlag_core::{NetId, Tick, Wire};

use super::MAX_VALUE_BYTES;

/// Length of a message after which the next one begins.
const FULL: usize = 700;
/// Length that stands for a component that was removed.
const REMOVED: u8 = 255;

/// A change of one state of one pawn, or an event of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    pub pawn: NetId,
    pub kind: u8,
    pub tick: Tick,
    /// Encoded value; `None` if the component was removed.
    pub bytes: Option<Vec<u8>>,
}

/// Writes changes to as many messages as they need. `now` is the server's tick.
pub(super) fn write<'a>(now: Tick, changes: impl Iterator<Item = &'a Change>, mut send: impl FnMut(Vec<u8>)) {
    let head = now.0.to_le_bytes();
    let mut message = head.to_vec();
    for change in changes {
        let age = now.since(change.tick).clamp(0, 255) as u8;
        let value = change.bytes.as_deref().filter(|value| value.len() <= MAX_VALUE_BYTES);
        message.extend(change.pawn.0.to_le_bytes());
        message.extend([change.kind, age, value.map_or(REMOVED, |value| value.len() as u8)]);
        message.extend(value.unwrap_or_default());
        if message.len() > FULL {
            send(core::mem::replace(&mut message, head.to_vec()));
        }
    }
    if message.len() > head.len() {
        send(message);
    }
}

/// Reads the changes of a message, up to the first invalid byte.
pub(super) fn read(message: &[u8]) -> Vec<Change> {
    let mut changes = Vec::new();
    let Some((head, mut rest)) = message.split_first_chunk::<4>() else { return changes };
    let Ok(now) = Tick::from_bytes(head) else { return changes };
    while let Some(([low, high, kind, age, length], after)) = rest.split_first_chunk::<5>() {
        let (bytes, after) = match *length {
            REMOVED => (None, after),
            length => {
                let Some((value, after)) = after.split_at_checked(usize::from(length)) else { break };
                (Some(value.to_vec()), after)
            }
        };
        rest = after;
        let (pawn, tick) = (NetId(u16::from_le_bytes([*low, *high])), now.offset(-i32::from(*age)));
        changes.push(Change { pawn, kind: *kind, tick, bytes });
    }
    changes
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;

    #[test]
    fn changes_survive_a_round_trip_in_bounded_messages() {
        let now = Tick(3);
        let changes: Vec<_> = (0..300u16)
            .map(|pawn| Change {
                pawn: NetId(pawn),
                kind: (pawn % 5) as u8,
                tick: now.offset(-i32::from(pawn % 256)),
                bytes: (pawn % 7 != 0).then(|| vec![pawn as u8; usize::from(pawn % 255)]),
            })
            .collect();
        let mut read_back = Vec::new();
        write(now, changes.iter(), |message| {
            assert!(message.len() < 1_000, "{} bytes", message.len());
            read_back.extend(read(&message));
        });
        assert_eq!(read_back, changes);
    }

    #[test]
    fn any_bytes_give_a_bounded_number_of_changes() {
        let mut rng = SmallRng::seed_from_u64(4);
        for length in 0..1_100 {
            let bytes: Vec<u8> = (0..length).map(|_| rng.random()).collect();
            assert!(read(&bytes).len() <= length / 5);
        }
    }
}
