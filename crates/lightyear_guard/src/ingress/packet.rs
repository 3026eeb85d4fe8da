//! Parser for lightyear's packet format that trusts nothing: no allocation, no panic, no trailing bytes.
//!
//! ```text
//! packet   = kind u8, id u16, last acked u16, acks u32, tick u32, body                      (big-endian)
//! body     = batch*                  kind 0: data
//!          | fragment batch*         kind 1: one fragment of a large message
//!          | nothing                 kind 4: acknowledgements only
//! batch    = channel varint, count u8, count × message
//! message  = 0 | 1 id u16, length varint, bytes
//! fragment = channel varint, id u16, index varint, parts varint, (0 when the index is 0), length varint, bytes
//! ```
//!
//! Kinds 2 and 3 are their compressed variants.

use super::limits::IngressRefusal;

/// A message or fragment in a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item<'a> {
    /// A whole message.
    Message { channel: u16, id: Option<u16>, bytes: &'a [u8] },
    /// A fragment of a message.
    Fragment { channel: u16, id: u16, index: u64, parts: u64, bytes: &'a [u8] },
}

/// Length of a packet header, in bytes.
pub(super) const HEADER: usize = 13;

/// Calls `visit` for each item of a packet, in order. Returns the first error of the parser or of `visit`.
pub(super) fn walk<'a>(
    packet: &'a [u8],
    mut visit: impl FnMut(Item<'a>) -> Result<(), IngressRefusal>,
) -> Result<(), IngressRefusal> {
    const DATA: u8 = 0;
    const FRAGMENT: u8 = 1;
    const ACKNOWLEDGEMENTS: u8 = 4;
    let (header, body) = packet.split_at_checked(HEADER).ok_or(IngressRefusal::Size)?;
    let mut rest = Bytes(body);
    match header[0] {
        DATA => {}
        FRAGMENT => visit(rest.fragment().ok_or(IngressRefusal::Malformed)?)?,
        ACKNOWLEDGEMENTS if body.is_empty() => {}
        ACKNOWLEDGEMENTS => return Err(IngressRefusal::Malformed),
        _ => return Err(IngressRefusal::PacketKind),
    }
    while !rest.0.is_empty() {
        let (channel, count) = rest.batch().ok_or(IngressRefusal::Malformed)?;
        for _ in 0..count {
            visit(rest.message(channel).ok_or(IngressRefusal::Malformed)?)?;
        }
    }
    Ok(())
}

/// Byte reader. Reading past the end returns `None`.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn word(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// Reads an integer of 1, 2, 4 or 8 bytes; its two highest bits encode the length.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let first = *self.0.first()?;
        let bytes = self.take(1 << (first >> 6))?;
        let value = bytes.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        // Without the two length bits.
        Some(value & (u64::MAX >> (66 - 8 * bytes.len())))
    }

    /// Reads an id of at most 16 bits. lightyear itself truncates larger ones, so that one id could pass for
    /// another.
    pub(super) fn net_id(&mut self) -> Option<u16> {
        self.varint()?.try_into().ok()
    }

    fn counted(&mut self) -> Option<&'a [u8]> {
        let length = self.varint()?.try_into().ok()?;
        self.take(length)
    }

    /// Reads the head of a batch: channel and message count. lightyear never writes an empty batch.
    fn batch(&mut self) -> Option<(u16, u8)> {
        Some((self.net_id()?, self.byte().filter(|count| *count > 0)?))
    }

    fn message(&mut self, channel: u16) -> Option<Item<'a>> {
        let id = match self.byte()? {
            0 => None,
            1 => Some(self.word()?),
            _ => return None,
        };
        Some(Item::Message { channel, id, bytes: self.counted()? })
    }

    fn fragment(&mut self) -> Option<Item<'a>> {
        let (channel, id) = (self.net_id()?, self.word()?);
        let (index, parts) = (self.varint()?, self.varint()?);
        if index == 0 && self.byte()? != 0 {
            return None; // compressed
        }
        Some(Item::Fragment { channel, id, index, parts, bytes: self.counted()? })
    }
}

#[cfg(test)]
#[path = "packet/tests.rs"]
mod tests;
