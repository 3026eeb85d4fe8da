//! Stream of a recording for spectators: the chunks of a file, as they are written.

use std::{collections::VecDeque, sync::Arc};

use bevy_unlag_core::{Tick, Wire};

use crate::{
    chunk::{ChunkHeader, ChunkKind, HEADER_BYTES, MAX_CHUNK_BYTES, encode},
    crc::crc32,
    error::RecordError,
    setup::RecordSetup,
};

/// Most chunks that wait for [`MatchRecorder::take_stream`](crate::MatchRecorder::take_stream).
const MOST_WAITING: usize = 64;

/// Chunk of a recording, compressed once for everybody: copies share their bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamChunk {
    header: ChunkHeader,
    bytes: Arc<[u8]>,
}

impl StreamChunk {
    pub(crate) fn new(header: ChunkHeader, bytes: &[u8]) -> Self {
        Self { header, bytes: bytes.into() }
    }

    /// Returns the chunk with which a stream begins. `None` if the setup is too large for a chunk.
    #[must_use]
    pub fn of_setup(setup: &RecordSetup) -> Option<Self> {
        let (header, bytes) = encode(ChunkKind::Setup, &setup.to_bytes(), 0, (Tick(0), Tick(0)))?;
        Some(Self { header, bytes: bytes.into() })
    }

    /// Returns the header.
    #[must_use]
    pub fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// Returns the bytes, header included, as they are in a file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn shared(&self) -> Arc<[u8]> {
        Arc::clone(&self.bytes)
    }

    /// Returns the setup that the chunk contains.
    ///
    /// # Errors
    /// Returns [`RecordError::NoSetup`] if it is damaged or of another kind.
    pub fn setup(&self) -> Result<RecordSetup, RecordError> {
        let stored = self.bytes.get(HEADER_BYTES..).unwrap_or_default().to_vec();
        let content = self.header.content(stored).filter(|_| self.header.kind == ChunkKind::Setup);
        RecordSetup::from_bytes(&content.ok_or(RecordError::NoSetup)?).map_err(|_| RecordError::NoSetup)
    }
}

/// Reader of a stream: cuts bytes, as they arrive, into chunks. It keeps less than one chunk.
#[derive(Clone, Debug, Default)]
pub struct StreamReader {
    bytes: Vec<u8>,
    /// Bytes before those that are kept.
    passed: u64,
}

impl StreamReader {
    /// Appends bytes, and returns the chunks that are whole now. Only a chunk whose checksum is right is returned.
    ///
    /// # Errors
    /// Returns [`RecordError::Damaged`] if the bytes are no stream. The reader is of no use after that.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<StreamChunk>, RecordError> {
        let mut chunks = Vec::new();
        // In parts, so that a long input needs no more memory than a chunk.
        for part in bytes.chunks(MAX_CHUNK_BYTES) {
            self.bytes.extend_from_slice(part);
            while let Some(chunk) = self.next()? {
                chunks.push(chunk);
            }
        }
        Ok(chunks)
    }

    fn next(&mut self) -> Result<Option<StreamChunk>, RecordError> {
        let Some((head, rest)) = self.bytes.split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let damaged = RecordError::Damaged { offset: self.passed };
        let Some(header) = ChunkHeader::from_bytes(head) else { return Err(damaged) };
        let Some(stored) = rest.get(..header.stored_bytes as usize) else { return Ok(None) };
        if crc32(stored) != header.checksum {
            return Err(damaged);
        }
        let length = HEADER_BYTES + stored.len();
        let chunk = StreamChunk { header, bytes: self.bytes.drain(..length).collect() };
        self.passed += length as u64;
        Ok(Some(chunk))
    }
}

/// Chunks between the thread of a recorder and its app.
#[derive(Debug, Default)]
pub(crate) struct StreamQueue(VecDeque<StreamChunk>);

impl StreamQueue {
    /// Adds a chunk. Beyond the limit the oldest is dropped.
    pub fn push(&mut self, chunk: StreamChunk) {
        if self.0.len() >= MOST_WAITING {
            self.0.pop_front();
        }
        self.0.push_back(chunk);
    }

    pub fn take(&mut self) -> impl Iterator<Item = StreamChunk> {
        core::mem::take(&mut self.0).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks() -> Vec<StreamChunk> {
        let setup = StreamChunk::of_setup(&RecordSetup::default()).expect("it is small");
        let segment = |number: u32| {
            let content: Vec<u8> = (0..900).map(|i| ((i * number) >> 3) as u8).collect();
            let ticks = (Tick(number), Tick(number + 1));
            let (header, bytes) = encode(ChunkKind::Segment, &content, number, ticks).expect("it is small");
            StreamChunk::new(header, &bytes)
        };
        [setup].into_iter().chain((1..5).map(segment)).collect()
    }

    #[test]
    fn stream_is_cut_into_the_same_chunks_however_it_arrives() {
        let chunks = chunks();
        assert_eq!(chunks[0].setup().ok(), Some(RecordSetup::default()));
        assert!(chunks[1].setup().is_err());
        let bytes: Vec<u8> = chunks.iter().flat_map(|chunk| chunk.bytes().to_vec()).collect();
        for length in [1, 7, 35, 36, 37, 1_000, bytes.len()] {
            let mut reader = StreamReader::default();
            let read: Vec<_> =
                bytes.chunks(length).flat_map(|part| reader.push(part).expect("a stream")).collect();
            assert_eq!(read, chunks, "in parts of {length} bytes");
        }
    }

    #[test]
    fn every_changed_bit_of_a_stream_ends_it() {
        let chunk = &chunks()[1];
        for bit in 0..chunk.bytes().len() * 8 {
            let mut damaged = chunk.bytes().to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(StreamReader::default().push(&damaged).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn queue_that_nobody_empties_is_bounded() {
        let mut queue = StreamQueue::default();
        let chunk = &chunks()[1];
        (0..MOST_WAITING * 2).for_each(|_| queue.push(chunk.clone()));
        assert_eq!((queue.take().count(), queue.take().count()), (MOST_WAITING, 0));
    }
}
