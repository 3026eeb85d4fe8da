//! Seeking in long files.

use std::{io::Cursor, time::Instant};

use bevy_unlag_core::{Tick, ViewTime};
use bevy_unlag_record::*;

use crate::example_match::recorded;

#[test]
fn seek_finds_the_segment_of_each_tick_in_a_file_of_ten_minutes() {
    let ticks = 64 * 600;
    let (bytes, _) = recorded(8, Tick(50), ticks, RecorderConfig::default());
    for end in [bytes.len(), bytes.len() - 10] {
        let mut recording = Recording::read(Cursor::new(&bytes[..end])).expect("a recording");
        let mut slowest = 0.0_f64;
        for at in (0..ticks).step_by(977) {
            let tick = Tick(50 + at);
            let index = recording.find(tick).expect("it has segments");
            let header = recording.segments()[index].header;
            assert!(tick.since(header.first) >= 0 && header.last.since(tick) >= 0, "{tick:?} in {header:?}");
            let began = Instant::now();
            let screen = recording.screen_at(PlayerNumber(1), ViewTime::at(tick)).expect("it was recorded");
            slowest = slowest.max(began.elapsed().as_secs_f64());
            assert_eq!(screen.pawns().count(), 7);
        }
        // The bound of the figure, with room for a busy machine.
        assert!(slowest < 0.5, "{slowest} s");
    }
}

#[test]
fn ticks_outside_of_a_file_give_its_ends() {
    let (bytes, _) = recorded(2, Tick(1_000), 300, RecorderConfig::default());
    let mut recording = Recording::read(Cursor::new(&bytes)).expect("a recording");
    assert_eq!(recording.find(Tick(0)), Some(0));
    assert_eq!(recording.find(Tick(9_000)), Some(recording.segments().len() - 1));
    assert!(recording.read_span(Tick(0), Tick(10)).is_ok_and(|segments| segments.len() == 1));
}
