//! Reader of a file: finds all segments that are whole, wherever the file was cut or damaged.

mod scan;

use std::{
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use bevy_unlag_core::{Tick, ViewTime, WireError};

use crate::{
    chunk::{ChunkHeader, ChunkKind, HEADER_BYTES},
    error::RecordError,
    roster::PlayerNumber,
    screen::PlayerScreen,
    segment::{Segment, SegmentSizes},
    setup::RecordSetup,
};

/// Most segments of a file: three days of two seconds each.
pub const MAX_SEGMENTS: usize = 1 << 17;

/// Position of a segment in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentPlace {
    /// Position of the header in bytes.
    pub offset: u64,
    /// Header.
    pub header: ChunkHeader,
}

impl SegmentPlace {
    /// Returns the position after the segment.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset + HEADER_BYTES as u64 + u64::from(self.header.stored_bytes)
    }
}

/// End of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileEnd {
    /// It was closed.
    Closed,
    /// It was cut off, or recording still goes on: whatever came after the last whole segment is lost.
    Cut,
}

/// A recording that was opened for reading. Only headers are kept in memory; segments are read when they are asked
/// for.
#[derive(Debug)]
pub struct Recording<R = BufReader<File>> {
    source: R,
    setup: RecordSetup,
    segments: Vec<SegmentPlace>,
    end: FileEnd,
    skipped_bytes: u64,
}

impl Recording {
    /// Opens a file.
    ///
    /// # Errors
    /// Returns the reason if the file is no recording, or if its setup cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordError> {
        Self::read(BufReader::new(File::open(path)?))
    }
}

impl<R: Read + Seek> Recording<R> {
    /// Opens a recording from any source. Any bytes are a recording or an error, and memory is bounded.
    ///
    /// # Errors
    /// Returns the reason if the source is no recording, or if its setup cannot be read.
    pub fn read(mut source: R) -> Result<Self, RecordError> {
        let found = scan::scan(&mut source)?;
        Ok(Self {
            source,
            setup: found.setup,
            segments: found.segments,
            end: found.end,
            skipped_bytes: found.skipped_bytes,
        })
    }

    /// Creates a recording of which nothing has arrived yet.
    pub(crate) fn of_stream(source: R, setup: RecordSetup) -> Self {
        Self { source, setup, segments: Vec::new(), end: FileEnd::Cut, skipped_bytes: 0 }
    }

    /// Adds a segment that has arrived in the source, if it can follow on the others. Returns whether it does.
    pub(crate) fn append(&mut self, place: SegmentPlace) -> bool {
        let before = self.segments.last().map(|place| place.header);
        let follows = place.header.kind == ChunkKind::Segment && scan::follows(before, &place.header);
        if follows {
            self.segments.push(place);
        }
        follows
    }

    /// Forgets the oldest segment and returns its place.
    pub(crate) fn remove_oldest(&mut self) -> Option<SegmentPlace> {
        (!self.segments.is_empty()).then(|| self.segments.remove(0))
    }

    /// Returns the setup.
    #[must_use]
    pub fn setup(&self) -> &RecordSetup {
        &self.setup
    }

    /// Checks that a build with the setup `own` can show the match.
    ///
    /// # Errors
    /// Returns [`RecordError::OtherBuild`] with the first difference.
    pub fn check(&self, own: &RecordSetup) -> Result<(), RecordError> {
        self.setup.difference(own).map_or(Ok(()), |difference| Err(RecordError::OtherBuild(difference)))
    }

    /// Returns how the file ends.
    #[must_use]
    pub fn end(&self) -> FileEnd {
        self.end
    }

    /// Returns the bytes that belong to no whole chunk, because of damage or a cut.
    #[must_use]
    pub fn skipped_bytes(&self) -> u64 {
        self.skipped_bytes
    }

    /// Returns the positions of all segments, oldest first.
    #[must_use]
    pub fn segments(&self) -> &[SegmentPlace] {
        &self.segments
    }

    /// Returns the number of segments that are missing between the others.
    #[must_use]
    pub fn missing_segments(&self) -> u64 {
        let gap = |pair: &[SegmentPlace]| pair[1].header.sequence.wrapping_sub(pair[0].header.sequence);
        self.segments.windows(2).map(|pair| u64::from(gap(pair).saturating_sub(1))).sum()
    }

    /// Returns the first and the last tick; `None` without any segment.
    #[must_use]
    pub fn span(&self) -> Option<(Tick, Tick)> {
        Some((self.segments.first()?.header.first, self.segments.last()?.header.last))
    }

    /// Returns the index of the segment that contains a tick, or of the last one before it; the first one for an
    /// earlier tick. `None` without any segment.
    #[must_use]
    pub fn find(&self, tick: Tick) -> Option<usize> {
        let after = self.segments.partition_point(|place| place.header.first.since(tick) <= 0);
        (!self.segments.is_empty()).then(|| after.saturating_sub(1))
    }

    /// Reads a segment by its index.
    ///
    /// # Errors
    /// Returns [`RecordError::Damaged`] if it is damaged, or [`RecordError::Empty`] if there is none with this index.
    pub fn segment(&mut self, index: usize) -> Result<Segment, RecordError> {
        self.decoded(index, Segment::from_content)
    }

    /// Reads a segment by its index, and makes something of its content.
    fn decoded<T>(
        &mut self,
        index: usize,
        decode: impl FnOnce(&[u8]) -> Result<T, WireError>,
    ) -> Result<T, RecordError> {
        let content = self.content(index)?;
        let offset = self.segments.get(index).map_or(0, |place| place.offset);
        decode(&content).map_err(|_| RecordError::Damaged { offset })
    }

    /// Reads the content of a segment by its index, decompressed but not decoded.
    ///
    /// # Errors
    /// The same as [`segment`](Self::segment).
    pub fn content(&mut self, index: usize) -> Result<Vec<u8>, RecordError> {
        let place = *self.segments.get(index).ok_or(RecordError::Empty)?;
        let damaged = RecordError::Damaged { offset: place.offset };
        self.source.seek(SeekFrom::Start(place.offset))?;
        let Some((header, content)) = read_chunk(&mut self.source)? else { return Err(damaged) };
        if header != place.header || header.kind != ChunkKind::Segment {
            return Err(damaged);
        }
        Ok(content)
    }

    /// Returns what a segment consists of, by its index.
    ///
    /// # Errors
    /// The same as [`segment`](Self::segment).
    pub fn sizes(&mut self, index: usize) -> Result<SegmentSizes, RecordError> {
        self.decoded(index, Segment::sizes)
    }

    /// Reads the segments that cover the ticks from `from` to `to`, oldest first. Damaged ones are left out.
    ///
    /// # Errors
    /// Returns [`RecordError::Empty`] if none of them can be read, or the error of the source.
    pub fn read_span(&mut self, from: Tick, to: Tick) -> Result<Vec<Segment>, RecordError> {
        let mut first = self.find(from).ok_or(RecordError::Empty)?;
        // A segment that was ended early may share its last tick with the next one.
        while first > 0 && self.segments[first - 1].header.last.since(from) >= 0 {
            first -= 1;
        }
        let mut segments = Vec::new();
        for index in first..self.segments.len() {
            if index > first && self.segments[index].header.first.is_newer_than(to) {
                break;
            }
            match self.segment(index) {
                Ok(segment) => segments.push(segment),
                Err(RecordError::Io(error)) => return Err(RecordError::Io(error)),
                Err(_) => {}
            }
        }
        if segments.is_empty() { Err(RecordError::Empty) } else { Ok(segments) }
    }
}

impl<R: Read + Seek> Recording<R> {
    /// Ticks before a moment from which a screen may still draw: four seconds at 64 Hz.
    const BEFORE: i32 = 256;
    /// Ticks after a view time within which the snapshots around it were sent.
    const AFTER: i32 = 128;

    /// Rebuilds the screen of a player at any view time, from the snapshots around it. Costs the decoding of some
    /// seconds: a few milliseconds.
    ///
    /// # Errors
    /// Returns [`RecordError::Empty`] if nothing can be read there, or the error of the source.
    pub fn screen_at(&mut self, player: PlayerNumber, time: ViewTime) -> Result<PlayerScreen, RecordError> {
        let segments = self.read_span(time.tick.offset(-Self::BEFORE), time.tick.offset(Self::AFTER))?;
        Ok(PlayerScreen::of(player, &segments))
    }
}

/// Reads a header; `None` at the end of the source or if it is damaged.
fn read_header(source: &mut impl Read) -> Result<Option<ChunkHeader>, RecordError> {
    let mut bytes = [0; HEADER_BYTES];
    match source.read_exact(&mut bytes) {
        Ok(()) => Ok(ChunkHeader::from_bytes(&bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Reads a chunk with its content; `None` if it is damaged or cut off.
fn read_chunk(source: &mut impl Read) -> Result<Option<(ChunkHeader, Vec<u8>)>, RecordError> {
    let Some(header) = read_header(source)? else { return Ok(None) };
    let mut stored = Vec::with_capacity(header.stored_bytes as usize);
    source.by_ref().take(u64::from(header.stored_bytes)).read_to_end(&mut stored)?;
    Ok(header.content(stored).map(|content| (header, content)))
}
