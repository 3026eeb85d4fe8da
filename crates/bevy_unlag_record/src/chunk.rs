//! Chunks of a file: each has a header with a checksum of its own, and can be read alone.

use bevy_unlag_core::Tick;

use crate::crc::crc32;

/// Largest chunk in bytes, compressed or not. A reader allocates no more for one.
pub const MAX_CHUNK_BYTES: usize = 256 * 1024;
/// Bytes of a chunk's header.
pub(crate) const HEADER_BYTES: usize = 36;
/// First bytes of every chunk, by which a reader finds the next one after damage.
pub(crate) const CHUNK_MAGIC: [u8; 4] = *b"UCHK";

/// Content of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChunkKind {
    /// The [`RecordSetup`](crate::RecordSetup). The first chunk of a file.
    Setup,
    /// A [`Segment`](crate::Segment) of the match.
    Segment,
    /// Positions of all segments. The last chunk of a file that was closed.
    Index,
}

impl ChunkKind {
    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Setup, Self::Segment, Self::Index].into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// Header of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkHeader {
    /// Content.
    pub kind: ChunkKind,
    /// Whether the content is compressed with LZ4; otherwise it is stored as it is.
    pub is_compressed: bool,
    /// Bytes of the content in the file.
    pub stored_bytes: u32,
    /// Bytes of the content once decompressed.
    pub raw_bytes: u32,
    /// Number of the segment, counted from 0 since recording began. A gap is a segment that could not be written.
    pub sequence: u32,
    /// First tick of the segment.
    pub first: Tick,
    /// Last tick of the segment.
    pub last: Tick,
    /// Checksum of the content in the file.
    pub checksum: u32,
}

impl ChunkHeader {
    /// Returns the bytes of the header.
    #[must_use]
    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&CHUNK_MAGIC);
        bytes[4] = self.kind as u8;
        bytes[5] = u8::from(self.is_compressed);
        let words =
            [self.stored_bytes, self.raw_bytes, self.sequence, self.first.0, self.last.0, self.checksum];
        for (slot, word) in bytes[8..32].chunks_exact_mut(4).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        let check = crc32(&bytes[..32]);
        bytes[32..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Reads a header; `None` if its checksum is wrong or it exceeds the limits.
    pub(crate) fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if bytes[..4] != CHUNK_MAGIC || word(32) != crc32(&bytes[..32]) {
            return None;
        }
        let header = Self {
            kind: ChunkKind::from_byte(bytes[4])?,
            is_compressed: bytes[5] & 1 == 1,
            stored_bytes: word(8),
            raw_bytes: word(12),
            sequence: word(16),
            first: Tick(word(20)),
            last: Tick(word(24)),
            checksum: word(28),
        };
        let most = MAX_CHUNK_BYTES as u32;
        let fits = header.stored_bytes <= most && header.raw_bytes <= most;
        let is_whole = header.is_compressed || header.stored_bytes == header.raw_bytes;
        (fits && is_whole).then_some(header)
    }

    /// Returns the content, decompressed; `None` if it is damaged.
    pub(crate) fn content(&self, stored: Vec<u8>) -> Option<Vec<u8>> {
        if stored.len() != self.stored_bytes as usize || crc32(&stored) != self.checksum {
            return None;
        }
        if !self.is_compressed {
            return Some(stored);
        }
        let raw = lz4_flex::block::decompress(&stored, self.raw_bytes as usize).ok()?;
        (raw.len() == self.raw_bytes as usize).then_some(raw)
    }
}

/// Compresses content into a chunk, with its header. `None` if it is larger than [`MAX_CHUNK_BYTES`].
pub(crate) fn encode(
    kind: ChunkKind,
    raw: &[u8],
    sequence: u32,
    (first, last): (Tick, Tick),
) -> Option<(ChunkHeader, Vec<u8>)> {
    if raw.len() > MAX_CHUNK_BYTES {
        return None;
    }
    let compressed = lz4_flex::block::compress(raw);
    let is_compressed = compressed.len() < raw.len();
    let stored = if is_compressed { &compressed[..] } else { raw };
    let header = ChunkHeader {
        kind,
        is_compressed,
        stored_bytes: stored.len() as u32,
        raw_bytes: raw.len() as u32,
        sequence,
        first,
        last,
        checksum: crc32(stored),
    };
    let mut bytes = Vec::with_capacity(HEADER_BYTES + stored.len());
    bytes.extend_from_slice(&header.to_bytes());
    bytes.extend_from_slice(stored);
    Some((header, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(raw: &[u8]) -> (ChunkHeader, Vec<u8>) {
        encode(ChunkKind::Segment, raw, 7, (Tick(u32::MAX), Tick(3))).expect("it is small")
    }

    #[test]
    fn chunk_is_read_back_compressed_or_not() {
        for raw in
            [vec![], vec![5; 900], (0..900u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()]
        {
            let (header, bytes) = chunk(&raw);
            let (head, stored) = bytes.split_first_chunk().expect("a header");
            assert_eq!(ChunkHeader::from_bytes(head), Some(header));
            assert_eq!(header.content(stored.to_vec()), Some(raw));
        }
    }

    #[test]
    fn every_changed_bit_of_a_chunk_is_noticed() {
        let (header, bytes) = chunk(&[9; 300]);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let (head, stored) = damaged.split_first_chunk().expect("a header");
            let read = ChunkHeader::from_bytes(head).and_then(|header| header.content(stored.to_vec()));
            assert_eq!(read, None, "bit {bit}");
        }
        assert!(header.content(bytes[HEADER_BYTES..bytes.len() - 1].to_vec()).is_none());
    }

    #[test]
    fn content_beyond_the_limit_is_refused_before_it_is_allocated() {
        assert!(encode(ChunkKind::Segment, &vec![0; MAX_CHUNK_BYTES + 1], 0, default_ticks()).is_none());
        let (header, _) = chunk(&[1; 50]);
        let large = ChunkHeader { raw_bytes: u32::MAX, ..header }.to_bytes();
        assert_eq!(ChunkHeader::from_bytes(&large), None);
    }

    fn default_ticks() -> (Tick, Tick) {
        (Tick(0), Tick(0))
    }
}
