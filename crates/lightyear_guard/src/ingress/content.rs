//! Content checks for lightyear's own messages: rejects values that make lightyear panic or keep state for
//! ever.

use super::{limits::IngressRefusal, packet::Bytes};

/// The content of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// A message of the game or of `bevy_replicon`; not checked here.
    Unchecked,
    /// A message that is bound to one channel, of at most this many bytes. Its receiver checks the rest.
    Bound(u16),
    /// lightyear's ping.
    Ping,
    /// lightyear's pong.
    Pong,
    /// lightyear's metadata about the sender.
    Metadata,
}

/// Longest plausible frame time, in ticks. lightyear reads values from 2^31 on as negative and panics.
const MAX_FRAME_TICKS: u32 = 4_096;

/// Entity id that a peer announces for its end of the link, in its wire format.
pub(super) type WireEntity = [u8; 12];

impl Content {
    /// Whether the message is one of lightyear's own.
    pub(super) fn is_service(self) -> bool {
        matches!(self, Self::Ping | Self::Pong | Self::Metadata)
    }

    /// Whether the message may be fragmented.
    pub(super) fn is_divisible(self) -> bool {
        self == Self::Unchecked
    }

    /// Checks a message. Returns the peer's entity id if the message contains one.
    pub(super) fn check(self, bytes: &[u8]) -> Result<Option<WireEntity>, IngressRefusal> {
        let fits = match (self, bytes) {
            (Self::Unchecked, _) => true,
            (Self::Bound(most), bytes) => bytes.len() <= usize::from(most),
            // Ping id.
            (Self::Ping, bytes) => bytes.len() == 2,
            // Ping id, then the frame time in ticks and 1/256 ticks.
            (Self::Pong, [_, _, time @ .., _]) => is_time(time),
            // Send interval, then an entity id.
            (Self::Metadata, &[a, b, c, d, _, ref name @ ..]) => {
                return match read_entity(name) {
                    Some(name) if is_time(&[a, b, c, d]) => Ok(Some(name)),
                    _ => Err(IngressRefusal::Content),
                };
            }
            _ => false,
        };
        if fits { Ok(None) } else { Err(IngressRefusal::Content) }
    }
}

fn is_time(ticks: &[u8]) -> bool {
    ticks.try_into().is_ok_and(|ticks| u32::from_be_bytes(ticks) <= MAX_FRAME_TICKS)
}

/// Reads an entity id: an index shifted by two bits, the lower of which says that no generation follows.
fn read_entity(bytes: &[u8]) -> Option<WireEntity> {
    let mut rest = Bytes(bytes);
    let index = rest.varint()?;
    let generation = if index & 1 == 0 { rest.varint()? } else { 0 };
    let named = index >> 2 < u64::from(u32::MAX) && generation <= u64::from(u32::MAX) && rest.0.is_empty();
    named.then(|| {
        let mut name = WireEntity::default();
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
    fn pong_is_accepted_only_with_a_plausible_frame_time() {
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
    fn ping_is_accepted_only_with_two_bytes() {
        let ping = Ping::from_bytes(&mut Reader::from(vec![1, 2])).unwrap();
        assert_eq!(written(&ping).len(), 2);
        assert!(Content::Ping.check(&[1, 2]).is_ok());
        assert!(Content::Ping.check(&[1]).is_err() && Content::Ping.check(&[1, 2, 3]).is_err());
    }

    #[test]
    fn metadata_is_accepted_as_lightyear_writes_it() {
        use bevy::prelude::Entity;
        for bits in [1_u32, 77, 70_000] {
            let read_entity = Entity::from_raw_u32(bits).unwrap();
            let metadata = SenderMetadata { send_interval: Default::default(), sender_entity: read_entity };
            let bytes = written(&metadata);
            let name = Content::Metadata.check(&bytes).unwrap();
            assert!(name.is_some_and(|name| name != WireEntity::default()));
            let mut slow = bytes.clone();
            slow[0] = 0x80;
            assert_eq!(Content::Metadata.check(&slow), Err(IngressRefusal::Content));
            for cut in 0..bytes.len() {
                assert!(Content::Metadata.check(&bytes[..cut]).is_err());
            }
        }
        // An index beyond the range of entities.
        let nobody = [&[0; 5][..], &[0xC0, 0, 0, 3, 255, 255, 255, 255]].concat();
        assert_eq!(Content::Metadata.check(&nobody), Err(IngressRefusal::Content));
    }
}
