//! Decoded segments around the moment that a playback shows, and the screens that are rebuilt from them.

use core::ops::Range;
use std::io::{Read, Seek};

use bevy_unlag_core::{NetId, PoseSample, Tick, ViewTime, Wire};

use super::screen_clock::{ScreenClock, ScreenFrame};
use crate::{
    entry::Entry,
    error::RecordError,
    moves::RecordedMove,
    recording::Recording,
    roster::{PlayerNumber, Roster},
    screen::PlayerScreen,
    segment::Segment,
};

/// Ticks before the moment from which a screen may still draw: four seconds at 64 Hz.
const BEFORE: i32 = 256;
/// Ticks after the moment within which the snapshots around it were sent.
const AFTER: i32 = 128;
/// Most bytes of the segments, before decoding.
const MOST_BYTES: u64 = 2 << 20;

/// Screen of one player, with what is known of its view times.
#[derive(Clone, Debug)]
pub struct ScreenPlayback {
    screen: PlayerScreen,
    clock: ScreenClock,
}

impl ScreenPlayback {
    /// Returns what the player was sent.
    #[must_use]
    pub fn screen(&self) -> &PlayerScreen {
        &self.screen
    }

    /// Returns the frame that the player's screen showed when it made the move that the server ran at a moment. `None`
    /// if nothing is known of the player there.
    #[must_use]
    pub fn frame(&self, now: ViewTime) -> Option<ScreenFrame> {
        self.clock.frame(now)
    }
}

/// The segments.
#[derive(Debug, Default)]
pub(super) struct Window {
    range: Range<usize>,
    /// Segments of the range; damaged ones are left out.
    segments: Vec<(usize, Segment)>,
    server: PlayerScreen,
    /// Changes with the segments.
    generation: u32,
}

impl Window {
    /// Loads the segments around a tick. Those that are there already are kept.
    pub fn move_to<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        tick: Tick,
    ) -> Result<(), RecordError> {
        let range = around(recording, tick).ok_or(RecordError::Empty)?;
        if range == self.range {
            return Ok(());
        }
        self.segments.retain(|(at, _)| range.contains(at));
        for at in range.clone() {
            if self.segments.iter().any(|(known, _)| *known == at) || self.range.contains(&at) {
                continue;
            }
            match recording.segment(at) {
                Ok(segment) => self.segments.push((at, segment)),
                Err(RecordError::Io(error)) => {
                    // The loaded segments are no longer those of the range.
                    *self = Self { generation: self.generation, ..Self::default() };
                    return Err(error.into());
                }
                Err(_) => {}
            }
        }
        self.segments.sort_by_key(|(at, _)| *at);
        self.range = range;
        self.server = PlayerScreen::of_server(self.segments());
        self.generation = self.generation.wrapping_add(1);
        Ok(())
    }

    /// Follows the removal of the oldest segment of the recording.
    pub fn shift(&mut self) {
        self.segments.retain(|(at, _)| *at > 0);
        self.segments.iter_mut().for_each(|(at, _)| *at -= 1);
        self.range = self.range.start.saturating_sub(1)..self.range.end.saturating_sub(1);
    }

    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Returns the first and the last tick.
    pub fn span(&self) -> Option<(Tick, Tick)> {
        Some((self.segments().next()?.first(), self.segments().last()?.last()))
    }

    pub fn server(&self) -> &PlayerScreen {
        &self.server
    }

    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().map(|(_, segment)| segment)
    }

    /// Rebuilds the screen of a player.
    pub fn screen(&self, player: PlayerNumber, snapshot_ticks: i32) -> ScreenPlayback {
        ScreenPlayback {
            screen: PlayerScreen::of_all(Some(player), self.segments()),
            clock: ScreenClock::new(player, self.segments(), snapshot_ticks),
        }
    }

    /// Returns the players and pawns of a tick.
    pub fn roster(&self, tick: Tick) -> Roster {
        let started = |segment: &&Segment| segment.first().since(tick) <= 0;
        let Some(segment) = self.segments().filter(started).last().or_else(|| self.segments().next()) else {
            return Roster::default();
        };
        let mut roster = segment.roster.clone();
        for (_, entry) in segment.entries().take_while(|(at, _)| at.since(tick) <= 0) {
            if let Entry::Roster(change) = entry {
                roster.apply(change);
            }
        }
        roster
    }

    /// Returns what happened after a tick, up to another one, except for what was sent and received.
    pub fn happened(&self, after: Tick, until: Tick) -> impl Iterator<Item = (Tick, &Entry)> {
        let is_event = |entry: &Entry| {
            !matches!(
                entry,
                Entry::Publication(_) | Entry::Acks(_) | Entry::View(_) | Entry::Roster(_) | Entry::Hidden(_)
            )
        };
        self.segments()
            .flat_map(Segment::entries)
            .filter(move |(tick, _)| tick.is_newer_than(after) && tick.since(until) <= 0)
            .filter(move |(_, entry)| is_event(entry))
    }

    /// Returns the moves of a pawn whose inputs have the type `I`, oldest first. Tracks that cannot be read are left
    /// out.
    pub fn moves<I: Wire + Copy>(&self, pawn: NetId) -> Vec<RecordedMove<I>> {
        let tracks = self.segments().flat_map(|segment| &segment.moves).filter(|track| track.pawn == pawn);
        tracks.filter_map(|track| track.moves::<I>().ok()).flatten().collect()
    }
}

impl ScreenPlayback {
    pub(super) fn add_frames<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        (first, last): (Tick, Tick),
    ) -> Result<(), RecordError> {
        match recording.read_span(first, last) {
            Ok(segments) => self.clock.add_frames(&segments),
            Err(RecordError::Io(error)) => return Err(error.into()),
            Err(_) => {}
        }
        Ok(())
    }
}

/// Pose of a pawn that nothing draws.
pub(super) fn undrawn(pose: PoseSample) -> PoseSample {
    PoseSample { alive: false, ..pose }
}

/// Returns the indices of the segments around a tick.
fn around<R: Read + Seek>(recording: &Recording<R>, tick: Tick) -> Option<Range<usize>> {
    let places = recording.segments();
    let bytes = |at: usize| u64::from(places[at].header.raw_bytes);
    let middle = recording.find(tick)?;
    let (mut start, mut end, mut total) = (middle, middle + 1, bytes(middle));
    // Those after the moment first: a pose needs the snapshots on both sides, and the older ones only after a pause.
    while end < places.len()
        && places[end].header.first.since(tick) <= AFTER
        && total + bytes(end) <= MOST_BYTES
    {
        total += bytes(end);
        end += 1;
    }
    while start > 0
        && places[start - 1].header.last.since(tick) >= -BEFORE
        && total + bytes(start - 1) <= MOST_BYTES
    {
        start -= 1;
        total += bytes(start);
    }
    Some(start..end)
}
