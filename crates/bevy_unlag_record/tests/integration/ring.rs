//! Ring in memory.

use core::time::Duration;
use std::time::Instant;

use bevy_unlag_core::Tick;
use bevy_unlag_record::*;

use crate::example_match::{ExampleMatch, TempFile, read_all};

fn wait_for(example: &ExampleMatch, done: impl Fn(&RecorderStats) -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !done(&example.recorder.stats()) {
        assert!(Instant::now() < until, "{:?}", example.recorder.stats());
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn ring_has_the_last_seconds_up_to_the_tick_in_which_it_is_saved() {
    let config = RecorderConfig { segment_ticks: 64, ring_ticks: 640, ..RecorderConfig::default() };
    let mut example = ExampleMatch::new(4, Tick(0), config);
    let file = TempFile::new();
    for _ in 0..50 {
        example.run(64);
        wait_for(&example, |stats| stats.segments >= u64::from(example.tick.0 / 64 - 1));
    }
    example.run(20);
    example.recorder.save_ring(&file.0);
    wait_for(&example, |stats| stats.closed_files == 1);
    let mut recording = Recording::open(&file.0).expect("a recording");
    assert_eq!(recording.end(), FileEnd::Closed);
    let (first, last) = recording.span().expect("it has segments");
    assert_eq!(last, example.tick.offset(-1));
    let length = last.since(first) + 1;
    assert!((640..640 + 64).contains(&length), "{length} ticks");
    let found = read_all(&mut recording);
    let expected: Vec<_> =
        example.expected.entries.iter().filter(|(tick, _)| tick.since(first) >= 0).cloned().collect();
    assert_eq!(found.entries, expected);
    // Recording goes on, and a second file has what came since.
    example.run(300);
    let later = TempFile::new();
    example.recorder.save_ring(&later.0);
    wait_for(&example, |stats| stats.closed_files == 2);
    let recording = Recording::open(&later.0).expect("a recording");
    assert_eq!(recording.span().map(|(_, last)| last), Some(example.tick.offset(-1)));
    assert_eq!(recording.missing_segments(), 0);
}

#[test]
fn ring_is_bounded_in_bytes() {
    let config = RecorderConfig {
        segment_ticks: 16,
        ring_ticks: 1 << 20,
        ring_bytes: 30_000,
        ..RecorderConfig::default()
    };
    let mut example = ExampleMatch::new(4, Tick(0), config);
    for _ in 0..100 {
        example.run(16);
        wait_for(&example, |stats| stats.segments >= u64::from(example.tick.0 / 16 - 1));
    }
    let stats = example.recorder.stats();
    assert!((20_000..=30_000).contains(&stats.ring_bytes), "{stats:?}");
    assert_eq!(stats.dropped_segments, 0);
}

#[test]
fn file_and_ring_start_and_stop_independently() {
    let config = RecorderConfig { segment_ticks: 64, ring_ticks: 128, ..RecorderConfig::default() };
    let mut example = ExampleMatch::new(2, Tick(0), config);
    let files = [TempFile::new(), TempFile::new()];
    example.run(200);
    for file in &files {
        let opened = example.tick;
        example.recorder.open_file(&file.0);
        wait_for(&example, |stats| stats.is_file_open);
        example.run(150);
        example.recorder.close_file();
        wait_for(&example, |stats| !stats.is_file_open);
        let recording = Recording::open(&file.0).expect("a recording");
        let (first, last) = recording.span().expect("it has segments");
        assert_eq!((recording.end(), last), (FileEnd::Closed, example.tick.offset(-1)));
        assert!((0..=64).contains(&opened.since(first)), "from the segment in which it was opened");
        example.run(100);
    }
}
