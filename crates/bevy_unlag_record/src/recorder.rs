//! Recorder of a match: cuts it into segments and hands them to a thread that compresses and writes them.

use std::path::PathBuf;

use bevy_unlag_core::{NetId, ProxyUpdate, Tick};

use crate::{
    entry::{
        Extra, HiddenNotice, Mark, PlayerAck, RecordedCorrection, RecordedShot, RecordedVerdict, RecordedView,
    },
    moves::TrackWriter,
    roster::{PlayerNumber, Roster, RosterChange},
    segment::SegmentWriter,
    setup::RecordSetup,
    stream::StreamChunk,
    worker::{Command, RecorderStats, Worker},
};

/// Bytes after which a segment ends before its time.
const FULL_SEGMENT: usize = 128 * 1024;

/// Settings of a [`MatchRecorder`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecorderConfig {
    /// Ticks of a segment. Default: 128, which is two seconds at 64 Hz. Raising it saves a few bytes, and more is lost
    /// when power fails.
    pub segment_ticks: u32,
    /// Ticks that the ring in memory holds, rounded up to segments; 0 for no ring. Default: 0. Costs about as many
    /// bytes as a file of that length.
    pub ring_ticks: u32,
    /// Most bytes of the ring. Default: 64 MiB. The oldest segments are dropped beyond it.
    pub ring_bytes: usize,
    /// Most segments that wait for the thread. Default: 16. Raising it bridges longer pauses of a disk and costs up to
    /// 256 KiB each.
    pub queue: usize,
    /// Whether [`MatchRecorder::take_stream`] returns the segments as well. Default: false.
    pub stream: bool,
}

impl Default for RecorderConfig {
    fn default() -> Self {
        Self { segment_ticks: 128, ring_ticks: 0, ring_bytes: 64 << 20, queue: 16, stream: false }
    }
}

/// Recorder of a match. Everything that it is given belongs to its current [`tick`](Self::tick).
///
/// Nothing that it does waits for a disk: a thread of its own compresses, writes and keeps the ring. If that thread
/// cannot keep up, whole segments are left out, and [`stats`](Self::stats) counts them.
#[derive(Debug)]
pub struct MatchRecorder {
    config: RecorderConfig,
    setup: RecordSetup,
    roster: Roster,
    segment: SegmentWriter,
    /// Number of the current segment.
    number: u32,
    is_open: bool,
    worker: Worker,
}

impl MatchRecorder {
    /// Creates a recorder of a match with this setup, and starts its thread. It records into the ring, if there is one,
    /// from the first [`begin_tick`](Self::begin_tick) on, and into a file after [`open_file`](Self::open_file).
    #[must_use]
    pub fn new(setup: RecordSetup, config: RecorderConfig) -> Self {
        Self {
            config,
            setup,
            roster: Roster::default(),
            segment: SegmentWriter::default(),
            number: 0,
            is_open: false,
            worker: Worker::start(config),
        }
    }

    /// Begins a tick. Later ticks than the current one go on; others are ignored.
    pub fn begin_tick(&mut self, tick: Tick) {
        if !self.is_open {
            self.segment.begin(tick, &self.roster);
            self.is_open = true;
        } else {
            if !tick.is_newer_than(self.segment.tick()) {
                return;
            }
            let length = tick.since(self.segment.first()).cast_unsigned();
            let is_full = self.segment.len() >= FULL_SEGMENT || !self.segment.has_room();
            if length >= self.config.segment_ticks.max(1) || is_full {
                self.end_segment();
                self.segment.begin(tick, &self.roster);
                self.is_open = true;
            } else {
                self.segment.next_tick(tick);
            }
        }
        self.worker.flush();
    }

    fn end_segment(&mut self) {
        if !self.is_open {
            return;
        }
        self.is_open = false;
        let ticks = (self.segment.first(), self.segment.tick());
        let content = self.segment.finish();
        self.worker.queue(Command::Segment { content, sequence: self.number, ticks });
        self.number = self.number.wrapping_add(1);
    }

    /// Returns the current tick.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.segment.tick()
    }

    /// Returns the number of the current segment.
    #[must_use]
    pub fn segment_number(&self) -> u32 {
        self.number
    }

    /// Returns the players and pawns.
    #[must_use]
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Returns the setup.
    #[must_use]
    pub fn setup(&self) -> &RecordSetup {
        &self.setup
    }

    /// Replaces the setup for files that are opened or saved later.
    pub fn set_setup(&mut self, setup: RecordSetup) {
        self.setup = setup;
    }

    /// Writes a file from the current segment on; an earlier file is closed. The thread opens it: an error shows in
    /// [`stats`](Self::stats).
    pub fn open_file(&mut self, path: impl Into<PathBuf>) {
        self.worker.queue(Command::Open { path: path.into(), setup: self.setup.clone() });
    }

    /// Ends the current segment and closes the file.
    pub fn close_file(&mut self) {
        self.cut();
        self.worker.queue(Command::Close);
    }

    /// Writes the ring, up to the current tick, into a file of its own.
    pub fn save_ring(&mut self, path: impl Into<PathBuf>) {
        self.cut();
        self.worker.queue(Command::SaveRing { path: path.into(), setup: self.setup.clone() });
    }

    /// Ends the current segment; the same tick goes on in the next one.
    fn cut(&mut self) {
        if self.is_open {
            let tick = self.segment.tick();
            self.end_segment();
            self.segment.begin(tick, &self.roster);
            self.is_open = true;
        }
    }

    /// Ends recording without waiting: the last segment ends, the file is closed, and the thread ends once
    /// [`is_finished`](Self::is_finished). A recorder that is dropped before waits for its thread.
    pub fn finish(&mut self) {
        self.end_segment();
        self.worker.queue(Command::Close);
        self.worker.end();
    }

    /// Returns whether the thread has ended after [`finish`](Self::finish). Call it now and then until it has.
    #[must_use]
    pub fn is_finished(&mut self) -> bool {
        self.worker.end()
    }

    /// Removes and returns the segments that were compressed since the last call, oldest first, if
    /// [`RecorderConfig::stream`] is set. At most 64 wait; beyond them the oldest are left out.
    #[must_use]
    pub fn take_stream(&mut self) -> Vec<StreamChunk> {
        self.worker.take_stream()
    }

    /// Returns what has been written and what went wrong.
    #[must_use]
    pub fn stats(&self) -> RecorderStats {
        self.worker.stats()
    }

    /// Records a change of the players and pawns, if it is one.
    pub fn change_roster(&mut self, change: RosterChange) {
        if self.roster.apply(&change) && self.is_open {
            self.segment.roster(&change);
        }
    }

    /// Records updates of pawns that were sent in the current tick, sorted by id. `sent` returns for a player which
    /// updates it was sent, one flag each, the missing ones counting as not sent, and whether its bandwidth budget left
    /// any out.
    pub fn publish<'a, 's>(
        &mut self,
        updates: impl Iterator<Item = (NetId, &'a ProxyUpdate)>,
        sent: impl Fn(PlayerNumber) -> (&'s [bool], bool),
    ) {
        if self.is_open {
            self.segment.publication(updates, &self.roster, sent);
        }
    }

    /// Records the packets that arrived in the current tick: sorted by player, and in order of arrival. Those of
    /// players who are not in the [`roster`](Self::roster) are left out.
    pub fn acks(&mut self, acks: &[PlayerAck]) {
        if self.is_open && !acks.is_empty() {
            self.segment.acks(acks, &self.roster);
        }
    }

    /// Returns the track for a pawn's moves.
    pub(crate) fn track(&mut self, pawn: NetId, goes_on: bool) -> Option<&mut TrackWriter> {
        self.is_open.then(|| self.segment.track(pawn, goes_on))
    }

    /// Records that a client was told that it is not sent some pawns.
    pub fn hidden(&mut self, notice: &HiddenNotice) {
        if self.is_open {
            self.segment.hidden(notice);
        }
    }

    /// Records what a screen showed.
    pub fn view(&mut self, view: &RecordedView) {
        if self.is_open {
            self.segment.view(view);
        }
    }

    /// Records a shot.
    pub fn shot(&mut self, shot: &RecordedShot) {
        if self.is_open {
            self.segment.shot(shot);
        }
    }

    /// Records a verdict that came later than its shot, or without one.
    pub fn verdict(&mut self, verdict: &RecordedVerdict) {
        if self.is_open {
            self.segment.verdict(verdict);
        }
    }

    /// Records a correction.
    pub fn correction(&mut self, correction: &RecordedCorrection) {
        if self.is_open {
            self.segment.correction(correction);
        }
    }

    /// Records a mark.
    pub fn mark(&mut self, mark: &Mark) {
        if self.is_open {
            self.segment.mark(mark);
        }
    }

    /// Records bytes of another part of the suite or of the game.
    pub fn extra(&mut self, extra: &Extra) {
        if self.is_open {
            self.segment.extra(extra);
        }
    }
}

/// Ends the last segment and closes the file. Waits for the thread, for five seconds at most.
impl Drop for MatchRecorder {
    fn drop(&mut self) {
        self.end_segment();
        self.worker.queue(Command::Close);
        self.worker.stop();
    }
}
