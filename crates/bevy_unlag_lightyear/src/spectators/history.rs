//! Segments that spectators may still need, shared by all of them.

use core::ops::Range;
use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::Tick;
use bevy_unlag_record::StreamChunk;

/// Most bytes that are kept; the oldest are dropped.
const MOST_BYTES: usize = 64 << 20;

/// Segments of the match, numbered from 0, and the setup with which a stream begins.
#[derive(Resource, Default, Debug)]
pub(super) struct SpectatorHistory {
    segments: VecDeque<StreamChunk>,
    /// Number of the oldest segment.
    first: u64,
    bytes: usize,
    /// Setup of the current match, once a spectator needs it.
    pub setup: Option<StreamChunk>,
}

impl SpectatorHistory {
    /// Adds a segment, and drops those that ended more than `ticks` before it.
    pub fn push(&mut self, segment: StreamChunk, ticks: i32) {
        let now = segment.header().last;
        self.bytes += segment.bytes().len();
        self.segments.push_back(segment);
        let is_old = |oldest: &StreamChunk| now.since(oldest.header().last) > ticks;
        while self.segments.len() > 1
            && (self.bytes > MOST_BYTES || self.segments.front().is_some_and(is_old))
        {
            self.bytes -= self.segments.pop_front().map_or(0, |oldest| oldest.bytes().len());
            self.first += 1;
        }
    }

    /// Returns the numbers of the segments whose last tick is `delay` ticks old, newest and oldest ones included.
    pub fn released(&self, now: Tick, delay: i32) -> Range<u64> {
        let is_released = |segment: &StreamChunk| now.since(segment.header().last) >= delay;
        self.first..self.first + self.segments.partition_point(is_released) as u64
    }

    pub fn segment(&self, number: u64) -> Option<&StreamChunk> {
        self.segments.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Returns the number of the segment to send next, of the released ones: `wanted`, or the newest one if that is
    /// missing or more than `lag` ticks behind it.
    pub fn next(&self, released: &Range<u64>, wanted: Option<u64>, lag: i32) -> Option<u64> {
        let newest = released.end.checked_sub(1).filter(|newest| released.contains(newest))?;
        let Some(wanted) = wanted else { return Some(newest) };
        if wanted > newest {
            return None;
        }
        let last = |number: u64| self.segment(number).map(|segment| segment.header().last);
        let behind = last(newest).zip(last(wanted)).map(|(newest, wanted)| newest.since(wanted));
        Some(if behind.is_some_and(|behind| behind <= lag) { wanted } else { newest })
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_record::{MatchRecorder, RecordSetup, RecorderConfig};

    use super::*;

    /// Returns segments of four ticks each, from tick 0 on.
    fn segments(count: usize) -> Vec<StreamChunk> {
        let config = RecorderConfig { segment_ticks: 4, stream: true, queue: 1 << 10, ..default() };
        let mut recorder = MatchRecorder::new(RecordSetup::default(), config);
        let mut read = Vec::new();
        for tick in 0.. {
            recorder.begin_tick(Tick(tick));
            read.extend(recorder.take_stream());
            if read.len() >= count {
                break;
            }
            std::thread::sleep(core::time::Duration::from_micros(200));
        }
        read.truncate(count);
        read
    }

    #[test]
    fn segment_is_released_when_its_last_tick_is_old_enough() {
        let mut history = SpectatorHistory::default();
        segments(4).into_iter().for_each(|segment| history.push(segment, 1_000));
        assert_eq!(history.released(Tick(15), 0), 0..4);
        assert_eq!(history.released(Tick(15), 1), 0..3);
        assert_eq!(history.released(Tick(10), 8), 0..0);
        assert_eq!(history.released(Tick(11), 8), 0..1);
        assert_eq!(history.segment(0).map(|segment| segment.header().last), Some(Tick(3)));
    }

    #[test]
    fn spectator_that_lags_skips_to_the_newest_segment() {
        let mut history = SpectatorHistory::default();
        segments(6).into_iter().for_each(|segment| history.push(segment, 12));
        let released = history.released(Tick(23), 0);
        assert_eq!(released, 2..6, "the oldest are dropped");
        assert_eq!(history.next(&released, None, 100), Some(5), "a new spectator");
        assert_eq!(history.next(&released, Some(3), 8), Some(3));
        assert_eq!(history.next(&released, Some(3), 7), Some(5));
        assert_eq!(history.next(&released, Some(0), 100), Some(5), "it is gone");
        assert_eq!(history.next(&released, Some(6), 100), None);
        assert_eq!(history.next(&(2..2), Some(2), 100), None, "nothing is released");
    }
}
