//! Moment that a player's screen showed, at any moment of the server.

use bevy::prelude::*;
use bevy_unlag_core::{SUB_TICKS, SnapshotAck, Tick, ViewTime};

use crate::{
    entry::{Entry, RecordedView},
    roster::PlayerNumber,
    segment::Segment,
};

/// Source of the view time of a [`ScreenFrame`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub enum ScreenSource {
    /// It was recorded: the player fired in this frame, or recorded its screen.
    Recorded,
    /// It lies between recorded frames, or beside one. The playout delay changes slowly, so that it is off by
    /// milliseconds at most.
    Between,
    /// No frame around was recorded. It is estimated from the snapshots that the player had received.
    #[default]
    Estimated,
}

/// Frame of a player's screen: the one in which the player made the move that the server ran in a tick.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ScreenFrame {
    /// View of the screen; [`PlayerScreen::stamp_in`](crate::PlayerScreen::stamp_in) takes it.
    pub view: RecordedView,
    /// Source of its view time.
    pub source: ScreenSource,
}

/// A recorded frame of the player, and the tick of the server in which its move ran.
#[derive(Clone, Debug)]
struct Sample {
    ran: Tick,
    view: RecordedView,
}

/// Known frames of a player's screen in a stretch of a recording.
#[derive(Clone, Debug, Default)]
pub(super) struct ScreenClock {
    player: PlayerNumber,
    /// Frames of shots, by the tick in which they were resolved.
    samples: Vec<Sample>,
    acks: Vec<SnapshotAck>,
    /// Frames of a recording of the player's screen, by the player's ticks.
    frames: Vec<RecordedView>,
    snapshot_ticks: i32,
}

impl ScreenClock {
    pub fn new<'a>(
        player: PlayerNumber,
        segments: impl IntoIterator<Item = &'a Segment>,
        snapshot_ticks: i32,
    ) -> Self {
        let mut clock = Self { player, snapshot_ticks: snapshot_ticks.max(1), ..Self::default() };
        for (tick, entry) in segments.into_iter().flat_map(Segment::entries) {
            match entry {
                Entry::Shot(shot) => {
                    let claimed = shot.claimed.as_ref().filter(|view| view.player == player);
                    clock.samples.extend(claimed.map(|view| Sample { ran: tick, view: view.clone() }));
                }
                Entry::View(view) if view.player == player => clock.frames.push(view.clone()),
                Entry::Acks(acks) => {
                    let own = acks.iter().filter(|ack| ack.player == player);
                    clock.acks.extend(own.map(|ack| ack.ack));
                }
                _ => {}
            }
        }
        clock
    }

    /// Adds the frames of a recording of the player's screen.
    pub fn add_frames<'a>(&mut self, segments: impl IntoIterator<Item = &'a Segment>) {
        for (_, entry) in segments.into_iter().flat_map(Segment::entries) {
            if let Entry::View(view) = entry {
                self.frames.push(RecordedView { player: self.player, ..view.clone() });
            }
        }
    }

    /// Returns the frame whose move ran at a moment of the server; `None` if nothing is known of the player there.
    pub fn frame(&self, now: ViewTime) -> Option<ScreenFrame> {
        let recorded =
            |view: &RecordedView| ScreenFrame { view: view.clone(), source: ScreenSource::Recorded };
        if let Some(fired) = self.samples.iter().find(|sample| ViewTime::at(sample.ran) == now) {
            return Some(recorded(&fired.view));
        }
        let own = self.own_at(now)?;
        // The move of a tick is made after the last frame that was drawn with the move before.
        let is_before = |view: &&RecordedView| ViewTime::at(view.own.offset(1)).since(own) <= 0;
        let shown = self.frames.iter().rev().find(is_before);
        if let Some(view) = shown.filter(|view| own.since(ViewTime::at(view.own)) < 8 * SUB_TICKS) {
            return Some(recorded(view));
        }
        let (time, source) = match self.offset(now, |sample| sample.view.time) {
            Some(offset) => (now.later(offset), ScreenSource::Between),
            None => (self.estimate(now)?, ScreenSource::Estimated),
        };
        let view = RecordedView { player: self.player, own: own.tick, time, ..RecordedView::default() };
        Some(ScreenFrame { view, source })
    }

    /// Returns the moment of the player's own count whose move ran at a moment of the server.
    fn own_at(&self, now: ViewTime) -> Option<ViewTime> {
        if let Some(offset) = self.offset(now, |sample| ViewTime::at(sample.view.own)) {
            return Some(now.later(offset));
        }
        let ack = self.last_ack(now)?;
        Some(now.later(i64::from(ack.own.since(ack.arrived)) * SUB_TICKS))
    }

    fn last_ack(&self, now: ViewTime) -> Option<&SnapshotAck> {
        self.acks.iter().rev().find(|ack| ack.arrived.since(now.tick) <= 0).or(self.acks.first())
    }

    /// Returns the distance of a time of the frame from the moment at which its move ran, in 1/256 of a tick: between
    /// the frames before and after `now`, or as in the nearer one.
    fn offset(&self, now: ViewTime, time: impl Fn(&Sample) -> ViewTime) -> Option<i64> {
        let after = self.samples.partition_point(|sample| ViewTime::at(sample.ran).since(now) <= 0);
        let offset = |sample: &Sample| time(sample).since(ViewTime::at(sample.ran));
        let before = after.checked_sub(1).map(|at| &self.samples[at]);
        match (before, self.samples.get(after)) {
            (Some(before), Some(after)) => {
                let whole = i64::from(after.ran.since(before.ran)).max(1) * SUB_TICKS;
                let passed = now.since(ViewTime::at(before.ran)).clamp(0, whole);
                let (from, to) = (offset(before), offset(after));
                Some(from + (to - from) * passed / whole)
            }
            (one, other) => one.or(other).map(offset),
        }
    }

    /// Estimates the view time from the newest snapshot that the player had received: a screen that draws between
    /// snapshots is behind it by an interval, and by another half for their jitter.
    fn estimate(&self, now: ViewTime) -> Option<ViewTime> {
        let is_told =
            |ack: &&SnapshotAck| ack.last_received_snapshot.is_some() && ack.arrived.since(now.tick) <= 0;
        let ack = self.acks.iter().rev().find(is_told)?;
        let received = ViewTime::at(ack.last_received_snapshot?);
        let since = now.since(ViewTime::at(ack.arrived)).clamp(0, 64 * SUB_TICKS);
        Some(received.later(since - i64::from(self.snapshot_ticks) * SUB_TICKS * 3 / 2))
    }
}
