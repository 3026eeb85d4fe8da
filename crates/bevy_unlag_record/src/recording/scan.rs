//! Search for the segments of a file: by its index if it was closed, otherwise from header to header.

use std::io::{Read, Seek, SeekFrom};

use bevy_unlag_core::Wire;

use super::{FileEnd, MAX_SEGMENTS, SegmentPlace, read_chunk, read_header};
use crate::{
    FILE_MAGIC, FORMAT_VERSION,
    chunk::{CHUNK_MAGIC, ChunkHeader, ChunkKind, HEADER_BYTES},
    error::RecordError,
    file_writer::{INDEX_ENTRY_BYTES, PRELUDE_BYTES, TRAILER_BYTES, TRAILER_MAGIC},
    setup::RecordSetup,
};

/// Result of a scan.
pub(super) struct Found {
    pub setup: RecordSetup,
    pub segments: Vec<SegmentPlace>,
    pub end: FileEnd,
    pub skipped_bytes: u64,
}

pub(super) fn scan<R: Read + Seek>(source: &mut R) -> Result<Found, RecordError> {
    let length = source.seek(SeekFrom::End(0))?;
    source.seek(SeekFrom::Start(0))?;
    let mut prelude = [0; PRELUDE_BYTES];
    match source.read_exact(&mut prelude) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            return Err(RecordError::NotARecording);
        }
        Err(error) => return Err(error.into()),
    }
    if prelude[..8] != FILE_MAGIC {
        return Err(RecordError::NotARecording);
    }
    let file = u16::from_le_bytes([prelude[8], prelude[9]]);
    if file != FORMAT_VERSION {
        return Err(RecordError::OtherFormat { file });
    }
    let Some((header, content)) = read_chunk(source)? else { return Err(RecordError::NoSetup) };
    if header.kind != ChunkKind::Setup {
        return Err(RecordError::NoSetup);
    }
    let setup = RecordSetup::from_bytes(&content).map_err(|_| RecordError::NoSetup)?;
    let start = PRELUDE_BYTES as u64 + HEADER_BYTES as u64 + u64::from(header.stored_bytes);
    if let Some(segments) = from_index(source, start, length)? {
        return Ok(Found { setup, segments, end: FileEnd::Closed, skipped_bytes: 0 });
    }
    let mut found = Found { setup, segments: Vec::new(), end: FileEnd::Cut, skipped_bytes: 0 };
    walk(source, start, length, &mut found)?;
    Ok(found)
}

/// Reads the index at the end of a file; `None` if there is none, or if it does not fit the file.
fn from_index<R: Read + Seek>(
    source: &mut R,
    start: u64,
    length: u64,
) -> Result<Option<Vec<SegmentPlace>>, RecordError> {
    let Some(trailer_at) = length.checked_sub(TRAILER_BYTES as u64).filter(|at| *at >= start) else {
        return Ok(None);
    };
    source.seek(SeekFrom::Start(trailer_at))?;
    let mut trailer = [0; TRAILER_BYTES];
    source.read_exact(&mut trailer)?;
    let (offset, magic) = trailer.split_at(8);
    let index_at = number(offset);
    if magic != TRAILER_MAGIC || !(start..trailer_at).contains(&index_at) {
        return Ok(None);
    }
    source.seek(SeekFrom::Start(index_at))?;
    let Some((header, content)) = read_chunk(source)? else { return Ok(None) };
    if header.kind != ChunkKind::Index || content.len() % INDEX_ENTRY_BYTES != 0 {
        return Ok(None);
    }
    let mut segments = Vec::with_capacity(content.len() / INDEX_ENTRY_BYTES);
    let mut at = start;
    for entry in content.chunks_exact(INDEX_ENTRY_BYTES) {
        let (offset, header) = entry.split_at(8);
        let offset = number(offset);
        let header = header.first_chunk().and_then(ChunkHeader::from_bytes);
        let Some(header) = header.filter(|header| {
            let before = segments.last().map(|place: &SegmentPlace| place.header);
            header.kind == ChunkKind::Segment && offset == at && follows(before, header)
        }) else {
            return Ok(None);
        };
        at += HEADER_BYTES as u64 + u64::from(header.stored_bytes);
        segments.push(SegmentPlace { offset, header });
    }
    Ok((at == index_at).then_some(segments))
}

/// Reads a little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number: u64, byte| number << 8 | u64::from(*byte))
}

/// Returns whether a segment can follow on another one.
pub(super) fn follows(before: Option<ChunkHeader>, header: &ChunkHeader) -> bool {
    let is_ordered = header.last.since(header.first) >= 0;
    is_ordered
        && before
            .is_none_or(|before| header.sequence > before.sequence && header.first.since(before.last) >= 0)
}

/// Goes from header to header. After damage it searches for the next header.
fn walk<R: Read + Seek>(
    source: &mut R,
    start: u64,
    length: u64,
    found: &mut Found,
) -> Result<(), RecordError> {
    let mut at = start;
    while at < length {
        source.seek(SeekFrom::Start(at))?;
        let header = read_header(source)?;
        let end = |header: &ChunkHeader| at + HEADER_BYTES as u64 + u64::from(header.stored_bytes);
        let before = found.segments.last().map(|place| place.header);
        match header {
            Some(header) if end(&header) > length => {
                // Cut off within this chunk. If the header is a lie, others may follow.
                let next = search(source, at + 1, length)?.unwrap_or(length);
                found.skipped_bytes += next - at;
                at = next;
            }
            Some(header) => {
                if header.kind == ChunkKind::Segment && follows(before, &header) {
                    if found.segments.len() == MAX_SEGMENTS {
                        return Err(RecordError::TooLong);
                    }
                    found.segments.push(SegmentPlace { offset: at, header });
                }
                at = end(&header);
            }
            None if is_trailer(source, at, length)? => break,
            None => {
                let next = search(source, at + 1, length)?.unwrap_or(length);
                found.skipped_bytes += next - at;
                at = next;
            }
        }
    }
    Ok(())
}

fn is_trailer<R: Read + Seek>(source: &mut R, at: u64, length: u64) -> Result<bool, RecordError> {
    if length - at != TRAILER_BYTES as u64 {
        return Ok(false);
    }
    let mut bytes = [0; TRAILER_BYTES];
    source.seek(SeekFrom::Start(at))?;
    source.read_exact(&mut bytes)?;
    Ok(bytes[8..] == TRAILER_MAGIC)
}

/// Returns the position of the next valid header at or after `from`.
fn search<R: Read + Seek>(source: &mut R, from: u64, length: u64) -> Result<Option<u64>, RecordError> {
    /// Bytes that are read at once; neighbouring ones overlap by a header.
    const BLOCK: usize = 64 * 1024;
    let mut at = from;
    let mut block = Vec::with_capacity(BLOCK);
    while at + HEADER_BYTES as u64 <= length {
        source.seek(SeekFrom::Start(at))?;
        block.clear();
        source.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
        if block.len() < HEADER_BYTES {
            break;
        }
        for (offset, bytes) in block.windows(HEADER_BYTES).enumerate() {
            if bytes.starts_with(&CHUNK_MAGIC)
                && bytes.first_chunk().is_some_and(|bytes| ChunkHeader::from_bytes(bytes).is_some())
            {
                return Ok(Some(at + offset as u64));
            }
        }
        at += (block.len() - HEADER_BYTES + 1) as u64;
    }
    Ok(None)
}
