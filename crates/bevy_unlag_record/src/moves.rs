//! Moves that the server ran: one track per pawn and segment, seldom more. Only code that knows the type of the inputs
//! can read them.

use bevy_unlag_core::{BitReader, BitWriter, NetId, Tick, Wire, WireError};

use crate::{
    packing::{read_tick, write_tick},
    recorder::MatchRecorder,
    roster::MAX_ROSTER,
};

/// Most bits of a track.
const MAX_TRACK_BITS: u32 = crate::MAX_CHUNK_BYTES as u32 * 8;

/// A move that the server ran.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RecordedMove<I> {
    /// Tick of the server in which it ran.
    pub ran: Tick,
    /// Tick of the move, on its owner's count.
    pub own: Tick,
    /// Input.
    pub input: I,
    /// Whether the server replaced the input, because the move was missing.
    pub is_substituted: bool,
}

/// Moves of one pawn in one segment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MoveTrack {
    /// The pawn.
    pub pawn: NetId,
    /// Number of moves.
    pub count: u16,
    first: Tick,
    bytes: Vec<u8>,
}

impl MoveTrack {
    /// Reads the moves of a pawn whose input has the type `I`, oldest first.
    ///
    /// # Errors
    /// Returns a [`WireError`] if the track ends early or has inputs of another type.
    pub fn moves<I: Wire + Copy>(&self) -> Result<Vec<RecordedMove<I>>, WireError> {
        let mut r = BitReader::new(&self.bytes);
        let mut moves: Vec<RecordedMove<I>> = Vec::new();
        for _ in 0..self.count {
            let before = moves.last();
            let (mut ran, mut own, mut is_substituted) = before
                .map_or((self.first.offset(-1), self.first, false), |last| {
                    (last.ran, last.own, last.is_substituted)
                });
            if r.bool()? {
                (ran, own) = (ran.offset(1), own.offset(1));
            } else {
                ran = ran.offset(i32::from(r.golomb(1)?));
                own = read_tick(own.offset(1), 1, &mut r)?;
                is_substituted = r.bool()?;
            }
            let input = match before {
                Some(last) if r.bool()? => last.input,
                Some(last) => I::read_delta(&last.input, &mut r)?,
                None => I::read(&mut r)?,
            };
            moves.push(RecordedMove { ran, own, input, is_substituted });
        }
        Ok(moves)
    }
}

/// Encoder of one track. The first move of a track is whole, the later ones are differences.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrackWriter {
    pub pawn: NetId,
    count: u16,
    first: Tick,
    w: BitWriter,
}

impl TrackWriter {
    pub fn begin(&mut self, pawn: NetId, first: Tick) {
        (self.pawn, self.count, self.first) = (pawn, 0, first);
        self.w.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn len_bits(&self) -> usize {
        self.w.len_bits()
    }

    /// Appends a move. `before` is the pawn's last one, which is in this track unless the track is empty.
    fn push<I: Wire + Copy + PartialEq>(&mut self, now: &RecordedMove<I>, before: Option<&RecordedMove<I>>) {
        if self.count == u16::MAX {
            return;
        }
        let before = before.filter(|_| self.count > 0);
        let (ran, own, was_substituted) = before.map_or((self.first.offset(-1), self.first, false), |last| {
            (last.ran, last.own, last.is_substituted)
        });
        let usual =
            now.ran == ran.offset(1) && now.own == own.offset(1) && now.is_substituted == was_substituted;
        self.w.bool(usual);
        if !usual {
            self.w.golomb(now.ran.since(ran).clamp(0, i32::from(u16::MAX)) as u16, 1);
            write_tick(now.own, own.offset(1), 1, &mut self.w);
            self.w.bool(now.is_substituted);
        }
        match before {
            Some(last) => {
                self.w.bool(last.input == now.input);
                if last.input != now.input {
                    now.input.write_delta(&last.input, &mut self.w);
                }
            }
            None => now.input.write(&mut self.w),
        }
        self.count += 1;
    }

    pub fn write(&self, w: &mut BitWriter) {
        w.bool(true);
        self.pawn.write(w);
        self.count.write(w);
        (self.w.len_bits() as u32).write(w);
        w.append(&self.w);
    }
}

pub(crate) fn read_tracks(first: Tick, r: &mut BitReader<'_>) -> Result<Vec<MoveTrack>, WireError> {
    let mut tracks = Vec::new();
    while r.bool()? {
        if tracks.len() == MAX_ROSTER * 2 {
            return Err(WireError::Invalid);
        }
        let (pawn, count, bits) = (NetId::read(r)?, u16::read(r)?, u32::read(r)?);
        if bits > MAX_TRACK_BITS {
            return Err(WireError::Invalid);
        }
        let mut copy = BitWriter::default();
        let mut left = bits;
        while left > 0 {
            let some = left.min(32);
            copy.bits(r.bits(some)?, some);
            left -= some;
        }
        tracks.push(MoveTrack { pawn, count, first, bytes: copy.finish() });
    }
    Ok(tracks)
}

/// Recorder of one pawn's moves, kept between ticks.
#[derive(Clone, Copy, Debug)]
pub struct MoveRecorder<I> {
    /// Segment of the last move, and that move.
    last: Option<(u32, RecordedMove<I>)>,
}

impl<I> Default for MoveRecorder<I> {
    fn default() -> Self {
        Self { last: None }
    }
}

impl<I: Wire + Copy + PartialEq> MoveRecorder<I> {
    /// Records a move of a pawn that the server ran in the recorder's current tick: the tick of the move on its
    /// owner's count, its input, and whether the server replaced the input.
    pub fn record(
        &mut self,
        recorder: &mut MatchRecorder,
        pawn: NetId,
        own: Tick,
        input: I,
        is_substituted: bool,
    ) {
        let now = RecordedMove { ran: recorder.tick(), own, input, is_substituted };
        let segment = recorder.segment_number();
        let before = self.last.filter(|(of, _)| *of == segment).map(|(_, last)| last);
        if let Some(track) = recorder.track(pawn, before.is_some()) {
            track.push(&now, before.as_ref());
        }
        self.last = Some((segment, now));
    }
}
