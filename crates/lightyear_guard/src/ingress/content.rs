//! Values inside of lightyear's own messages that its code does not survive, or keeps for ever.

use super::{limits::Refusal, packet::Bytes};

/// What is inside of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// A game's or replicon's.
    Any,
    /// A message that is bound to one channel, of at most this many bytes. Its owner judges the rest.
    Bound(u16),
    /// lightyear's question.
    Ping,
    /// lightyear's answer.
    Pong,
    /// What a peer says about itself.
    Metadata,
}

/// The longest time, in ticks, that an honest frame takes. From 2^31 on it is a negative one to lightyear,
/// which then panics.
const LONGEST: u32 = 4_096;

/// A name that a peer has for its end of the link, as it is on the wire.
pub(super) type Name = [u8; 12];

impl Content {
    /// Whether it is lightyear's own.
    pub(super) fn is_service(self) -> bool {
        matches!(self, Self::Ping | Self::Pong | Self::Metadata)
    }

    /// Whether it may come in parts.
    pub(super) fn is_divisible(self) -> bool {
        self == Self::Any
    }

    /// Looks at a message. The peer's name, if it says one.
    pub(super) fn check(self, bytes: &[u8]) -> Result<Option<Name>, Refusal> {
        let fits = match (self, bytes) {
            (Self::Any, _) => true,
            (Self::Bound(most), bytes) => bytes.len() <= usize::from(most),
            // A number.
            (Self::Ping, bytes) => bytes.len() == 2,
            // A number, and the time that it took in ticks and 1/256 of them.
            (Self::Pong, [_, _, time @ .., _]) => is_time(time),
            // The time between two updates, and a name.
            (Self::Metadata, &[a, b, c, d, _, ref name @ ..]) => {
                return match entity(name) {
                    Some(name) if is_time(&[a, b, c, d]) => Ok(Some(name)),
                    _ => Err(Refusal::Content),
                };
            }
            _ => false,
        };
        if fits { Ok(None) } else { Err(Refusal::Content) }
    }
}

fn is_time(ticks: &[u8]) -> bool {
    ticks.try_into().is_ok_and(|ticks| u32::from_be_bytes(ticks) <= LONGEST)
}

/// An index above two bits, the lower of which says that there is no generation behind it.
fn entity(bytes: &[u8]) -> Option<Name> {
    let mut rest = Bytes(bytes);
    let index = rest.varint()?;
    let generation = if index & 1 == 0 { rest.varint()? } else { 0 };
    let named = index >> 2 < u64::from(u32::MAX) && generation <= u64::from(u32::MAX) && rest.0.is_empty();
    named.then(|| {
        let mut name = Name::default();
        name[..8].copy_from_slice(&index.to_be_bytes());
        name[8..].copy_from_slice(&(generation as u32).to_be_bytes());
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightyear::prelude::{Ping, Pong, SenderMetadata};
    use lightyear_serde::{ToBytes, reader::Reader, writer::Writer};

    fn written(message: &impl ToBytes) -> Vec<u8> {
        let mut w = Writer::default();
        message.to_bytes(&mut w).unwrap();
        w.into_bytes().to_vec()
    }

    #[test]
    fn pongs_of_an_honest_frame_time_pass_and_no_others() {
        for (ticks, passes) in [(0, true), (4_096, true), (4_097, false), (1 << 31, false), (u32::MAX, false)]
        {
            let bytes = [&[0, 7][..], &u32::to_be_bytes(ticks), &[128]].concat();
            let pong = Pong::from_bytes(&mut Reader::from(bytes.clone())).unwrap();
            assert_eq!(pong.frame_time.tick_diff(), ticks);
            assert_eq!(written(&pong), bytes);
            assert_eq!(Content::Pong.check(&bytes).is_ok(), passes, "{ticks}");
            for cut in 0..bytes.len() {
                assert!(Content::Pong.check(&bytes[..cut]).is_err());
            }
        }
    }

    #[test]
    fn pings_are_a_number() {
        let ping = Ping::from_bytes(&mut Reader::from(vec![1, 2])).unwrap();
        assert_eq!(written(&ping).len(), 2);
        assert!(Content::Ping.check(&[1, 2]).is_ok());
        assert!(Content::Ping.check(&[1]).is_err() && Content::Ping.check(&[1, 2, 3]).is_err());
    }

    #[test]
    fn metadata_passes_as_lightyear_writes_it() {
        use bevy::prelude::Entity;
        for bits in [1_u32, 77, 70_000] {
            let entity = Entity::from_raw_u32(bits).unwrap();
            let metadata = SenderMetadata { send_interval: Default::default(), sender_entity: entity };
            let bytes = written(&metadata);
            let name = Content::Metadata.check(&bytes).unwrap();
            assert!(name.is_some_and(|name| name != Name::default()));
            let mut slow = bytes.clone();
            slow[0] = 0x80;
            assert_eq!(Content::Metadata.check(&slow), Err(Refusal::Content));
            for cut in 0..bytes.len() {
                assert!(Content::Metadata.check(&bytes[..cut]).is_err());
            }
        }
        // An index that no entity has.
        let nobody = [&[0; 5][..], &[0xC0, 0, 0, 3, 255, 255, 255, 255]].concat();
        assert_eq!(Content::Metadata.check(&nobody), Err(Refusal::Content));
    }
}
