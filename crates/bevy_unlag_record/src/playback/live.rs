//! Playback of a match that still goes on: the recording grows as its chunks arrive.

use std::{
    collections::VecDeque,
    io::{self, Read, Seek, SeekFrom},
    sync::{Arc, Mutex, PoisonError},
};

use bevy_unlag_core::Tick;

use super::{Playback, Source};
use crate::{
    error::RecordError,
    recording::{Recording, SegmentPlace},
    setup::RecordSetup,
    stream::StreamChunk,
};

/// Most segments that are kept: nine hours of two seconds each.
const MOST_SEGMENTS: usize = 1 << 14;
/// Segments behind the newest tick from which a playback that follows the match runs faster.
const CATCH_UP: f64 = 2.5;
/// Speed with which it does.
const CATCH_UP_SPEED: f64 = 1.1;
/// Segments behind the newest tick from which it jumps.
const JUMP: f64 = 8.0;

/// Chunks that have arrived.
#[derive(Debug, Default)]
struct Chunks {
    /// Positions and bytes.
    chunks: VecDeque<(u64, Arc<[u8]>)>,
    end: u64,
    bytes: usize,
}

impl Chunks {
    /// Returns the bytes of a chunk from a position in it on.
    fn from(&self, at: u64) -> &[u8] {
        let after = self.chunks.partition_point(|(start, _)| *start <= at);
        let chunk = after.checked_sub(1).and_then(|index| self.chunks.get(index));
        let bytes = chunk.and_then(|(start, bytes)| bytes.get(usize::try_from(at - start).ok()?..));
        bytes.unwrap_or_default()
    }
}

/// Source of the chunks that have arrived.
#[derive(Debug)]
struct LiveSource {
    chunks: Arc<Mutex<Chunks>>,
    at: u64,
}

impl Read for LiveSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut from = chunks.from(self.at);
        let read = from.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for LiveSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let end = self.chunks.lock().unwrap_or_else(PoisonError::into_inner).end;
        let wanted = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => end.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = wanted.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

/// Part of a [`Playback`] whose match still goes on.
#[derive(Debug)]
pub(super) struct Live {
    chunks: Arc<Mutex<Chunks>>,
    most_bytes: usize,
    /// Whether it stays at the newest moment.
    pub is_following: bool,
    /// Ticks of the newest segment.
    segment_ticks: f64,
}

impl Live {
    /// Adds a chunk, and returns its position.
    fn push(&self, chunk: &StreamChunk) -> u64 {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, length) = (chunks.end, chunk.bytes().len());
        chunks.chunks.push_back((at, chunk.shared()));
        chunks.end += length as u64;
        chunks.bytes += length;
        at
    }

    /// Removes the oldest chunk if there are too many.
    fn shrink(&self, segments: usize) -> bool {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = segments > 2 && (chunks.bytes > self.most_bytes || segments > MOST_SEGMENTS);
        if is_over && let Some((_, oldest)) = chunks.chunks.pop_front() {
            chunks.bytes -= oldest.len();
        }
        is_over
    }
}

impl Playback {
    /// Bytes of a stream that a spectator keeps by default: about two and a half hours of eight players.
    pub const STREAM_BYTES: usize = 64 << 20;

    /// Creates a playback of a match that still goes on, from the first chunks of its stream; it plays at once. `own`
    /// is the setup of this build. At most `most_bytes` of the stream are kept; the oldest are dropped.
    ///
    /// # Errors
    /// Returns the reason if a chunk is damaged or of the wrong kind, or [`RecordError::OtherBuild`] if the match is
    /// played with something else than this build has.
    pub fn of_stream(
        setup: &StreamChunk,
        first: &StreamChunk,
        own: &RecordSetup,
        most_bytes: usize,
    ) -> Result<Self, RecordError> {
        let live = Live { chunks: Arc::default(), most_bytes, is_following: true, segment_ticks: 0.0 };
        let source = LiveSource { chunks: Arc::clone(&live.chunks), at: 0 };
        let recording = Recording::of_stream(Box::new(source) as Box<dyn Source>, setup.setup()?);
        recording.check(own)?;
        let mut this = Self::of(recording, first.header().first, 0.0);
        (this.live, this.is_playing) = (Some(live), true);
        this.push(first)?;
        this.load()?;
        Ok(this)
    }

    /// Adds the next segment of the stream. A chunk that cannot follow on the others is left out, and so is every one
    /// for a playback of a file.
    ///
    /// # Errors
    /// Returns [`RecordError::Damaged`] if it is no segment.
    pub fn push(&mut self, chunk: &StreamChunk) -> Result<(), RecordError> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let header = *chunk.header();
        let offset = live.chunks.lock().unwrap_or_else(PoisonError::into_inner).end;
        if !self.recording.append(SegmentPlace { offset, header }) {
            return Err(RecordError::Damaged { offset });
        }
        live.push(chunk);
        live.segment_ticks = f64::from(header.last.since(header.first).max(0)) + 1.0;
        self.length = f64::from(header.last.since(self.first).max(0));
        self.drop_oldest();
        Ok(())
    }

    fn drop_oldest(&mut self) {
        while let Some(live) = &self.live
            && live.shrink(self.recording.segments().len())
        {
            self.recording.remove_oldest();
            self.window.shift();
            self.indexed = self.indexed.saturating_sub(1);
            let Some((first, _)) = self.recording.span() else { return };
            let passed = f64::from(first.since(self.first).max(0));
            self.first = first;
            self.at = (self.at - passed).max(0.0);
            self.length = (self.length - passed).max(0.0);
        }
    }

    /// Returns whether the match still goes on: whether this is a playback of a stream.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.live.is_some()
    }

    /// Returns whether a playback of a stream follows the match: it stays as close to the newest moment as the segments
    /// allow. It does so at first, and until it is paused, slowed down or moved.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.is_following)
    }

    /// Goes to the newest moment of a stream, and follows the match from there on.
    pub fn go_live(&mut self) {
        let Some(live) = &mut self.live else { return };
        live.is_following = true;
        let newest = (self.length - live.segment_ticks).max(0.0);
        (self.speed, self.is_playing) = (1.0, true);
        self.at = self.at.max(newest);
        self.happened.clear();
        self.load_or_stop();
    }

    /// Stops following the match.
    pub(super) fn leave_live(&mut self) {
        if let Some(live) = &mut self.live {
            live.is_following = false;
        }
    }

    /// Returns the ticks that pass in `ticks` of real time: a playback that follows a match catches up.
    pub(super) fn paced(&self, ticks: f64) -> f64 {
        let Some(live) = self.live.as_ref().filter(|live| live.is_following) else { return ticks };
        let behind = self.length - self.at;
        if behind > live.segment_ticks * JUMP {
            behind - live.segment_ticks
        } else if behind > live.segment_ticks * CATCH_UP {
            ticks * CATCH_UP_SPEED
        } else {
            ticks
        }
    }

    /// Skips segments that never arrived.
    pub(super) fn skip_gap(&mut self) {
        let tick = self.time().tick;
        if self.live.is_none() {
            return;
        }
        let places = self.recording.segments();
        let next = self.recording.find(tick).and_then(|at| Some((places.get(at)?, places.get(at + 1)?)));
        let is_in_gap = |(place, next): &(&SegmentPlace, &SegmentPlace)| {
            tick.is_newer_than(place.header.last.offset(1)) && next.header.first.is_newer_than(tick)
        };
        if let Some((_, next)) = next.filter(is_in_gap) {
            let first: Tick = next.header.first;
            self.at = f64::from(first.since(self.first)).clamp(0.0, self.length);
        }
    }
}
