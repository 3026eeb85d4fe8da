//! Encoder of segments.

use bevy_unlag_core::{BitWriter, NetId, ProxyUpdate, Tick, Wire};

use super::{MAX_SEGMENT_ENTRIES, MAX_SEGMENT_TICKS, acks::AckGuesses};
use crate::{
    entry::{
        EntryKind, Extra, HiddenNotice, Mark, PlayerAck, Publication, RecordedCorrection, RecordedShot,
        RecordedVerdict, RecordedView, Trails,
    },
    moves::TrackWriter,
    roster::{PlayerNumber, Roster, RosterChange},
};

/// Encoder of one segment after the other.
#[derive(Debug, Default)]
pub(crate) struct SegmentWriter {
    w: BitWriter,
    first: Tick,
    tick: Tick,
    ticks: usize,
    entries: usize,
    guesses: AckGuesses,
    trails: Trails,
    tracks: Vec<TrackWriter>,
    /// Buffers of tracks of earlier segments.
    spare: Vec<TrackWriter>,
    /// Ids of the updates of a publication, and their indices.
    ids: Vec<(NetId, usize)>,
}

impl SegmentWriter {
    /// Begins a segment at a tick, at which these players and pawns are there.
    pub fn begin(&mut self, tick: Tick, roster: &Roster) {
        self.w.clear();
        (self.first, self.tick, self.ticks, self.entries) = (tick, tick, 1, 0);
        self.guesses.clear();
        self.trails.clear();
        self.spare.append(&mut self.tracks);
        tick.write(&mut self.w);
        roster.write(&mut self.w);
    }

    pub fn first(&self) -> Tick {
        self.first
    }

    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Returns the bytes so far.
    pub fn len(&self) -> usize {
        let moves: usize = self.tracks.iter().map(TrackWriter::len_bits).sum();
        (self.w.len_bits() + moves) / 8
    }

    /// Returns whether a segment can hold more after this tick.
    pub fn has_room(&self) -> bool {
        self.ticks < MAX_SEGMENT_TICKS && self.entries < MAX_SEGMENT_ENTRIES / 2
    }

    /// Goes on to a later tick of the segment.
    pub fn next_tick(&mut self, tick: Tick) {
        let passed = tick.since(self.tick);
        if passed <= 0 {
            return;
        }
        // A longer gap takes several entries.
        let mut left = passed.cast_unsigned();
        while left > 0 {
            let step = left.min(60_000);
            self.kind(EntryKind::NextTick);
            self.w.golomb((step - 1) as u16, 0);
            left -= step;
            self.ticks += 1;
        }
        self.tick = tick;
    }

    fn kind(&mut self, kind: EntryKind) {
        self.w.bits(kind as u32, EntryKind::BITS);
        self.entries += 1;
    }

    pub fn roster(&mut self, change: &RosterChange) {
        self.kind(EntryKind::Roster);
        change.write(&mut self.w);
    }

    pub fn publication<'a, 's>(
        &mut self,
        updates: impl Iterator<Item = (NetId, &'a ProxyUpdate)>,
        roster: &Roster,
        sent: impl Fn(PlayerNumber) -> (&'s [bool], bool),
    ) {
        self.kind(EntryKind::Publication);
        let context = (&mut self.trails, &mut self.ids);
        Publication::write(self.tick, updates, roster, sent, context, &mut self.w);
        self.entries += self.ids.len();
    }

    pub fn hidden(&mut self, notice: &HiddenNotice) {
        self.kind(EntryKind::Hidden);
        notice.write(self.tick, &mut self.w);
    }

    /// Appends acknowledgements, sorted by player.
    pub fn acks(&mut self, acks: &[PlayerAck], roster: &Roster) {
        self.kind(EntryKind::Acks);
        self.guesses.write(acks, roster, self.tick, &mut self.w);
        self.entries += acks.len() / 16;
    }

    pub fn view(&mut self, view: &RecordedView) {
        self.kind(EntryKind::View);
        view.write(self.tick, self.tick, &mut self.w);
    }

    pub fn shot(&mut self, shot: &RecordedShot) {
        self.kind(EntryKind::Shot);
        shot.write(self.tick, &mut self.w);
    }

    pub fn verdict(&mut self, verdict: &RecordedVerdict) {
        self.kind(EntryKind::Verdict);
        verdict.write(self.tick, &mut self.w);
    }

    pub fn correction(&mut self, correction: &RecordedCorrection) {
        self.kind(EntryKind::Correction);
        correction.write(self.tick, &mut self.w);
    }

    pub fn mark(&mut self, mark: &Mark) {
        self.kind(EntryKind::Mark);
        mark.write(&mut self.w);
    }

    pub fn extra(&mut self, extra: &Extra) {
        self.kind(EntryKind::Extra);
        extra.write(&mut self.w);
    }

    /// Returns the track of a pawn's moves in this segment. `goes_on`: whether the next move is relative to the last
    /// one in it; otherwise the pawn gets a new track, unless its last one is empty.
    pub fn track(&mut self, pawn: NetId, goes_on: bool) -> &mut TrackWriter {
        let after = self.tracks.partition_point(|track| track.pawn <= pawn);
        let known = after.checked_sub(1).filter(|at| {
            let track = &self.tracks[*at];
            track.pawn == pawn && (goes_on || track.is_empty())
        });
        let at = known.unwrap_or_else(|| {
            let mut track = self.spare.pop().unwrap_or_default();
            track.begin(pawn, self.first);
            self.tracks.insert(after, track);
            after
        });
        &mut self.tracks[at]
    }

    /// Ends the segment and returns its content.
    pub fn finish(&mut self) -> Vec<u8> {
        self.w.bits(EntryKind::End as u32, EntryKind::BITS);
        for track in &self.tracks {
            track.write(&mut self.w);
        }
        self.w.bool(false);
        core::mem::take(&mut self.w).finish()
    }
}
