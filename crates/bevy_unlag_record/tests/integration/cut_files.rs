//! Files that were cut off: everything before the cut is read.

use std::io::Cursor;

use bevy_unlag_core::Tick;
use bevy_unlag_record::*;

use crate::example_match::{ExampleMatch, TempFile, read_all, recorded};

#[test]
fn file_that_is_cut_at_any_byte_has_all_segments_before_the_cut() {
    let config = RecorderConfig { segment_ticks: 16, ..RecorderConfig::default() };
    let (bytes, _) = recorded(2, Tick(5), 100, config);
    let mut whole = Recording::read(Cursor::new(&bytes)).expect("a recording");
    let places = whole.segments().to_vec();
    assert!(places.len() > 5);
    let segments: Vec<Segment> =
        (0..places.len()).map(|at| whole.segment(at).expect("it is whole")).collect();
    let ends: Vec<u64> =
        places.iter().map(|place| place.offset + 36 + u64::from(place.header.stored_bytes)).collect();
    let mut read = 0;
    for cut in 0..bytes.len() {
        let Ok(mut recording) = Recording::read(Cursor::new(&bytes[..cut])) else {
            assert!((cut as u64) < places[0].offset, "nothing is read of {cut} bytes");
            continue;
        };
        let left = ends.iter().take_while(|end| **end <= cut as u64).count();
        assert_eq!(recording.end(), FileEnd::Cut, "{cut} bytes");
        assert_eq!(recording.segments(), &places[..left], "{cut} bytes");
        for (at, segment) in segments[..left].iter().enumerate() {
            assert_eq!(recording.segment(at).as_ref().ok(), Some(segment), "{cut} bytes");
        }
        read += 1;
    }
    assert!(read > 1_000, "{read} files were read");
}

#[test]
fn file_is_read_while_it_is_written() {
    let file = TempFile::new();
    let mut example = ExampleMatch::new(3, Tick(0), RecorderConfig::default());
    example.recorder.open_file(&file.0);
    example.run(500);
    let until = std::time::Instant::now() + core::time::Duration::from_secs(10);
    // Three segments are over; the thread writes them.
    while example.recorder.stats().file_bytes == 0 || example.recorder.stats().segments < 3 {
        assert!(std::time::Instant::now() < until, "{:?}", example.recorder.stats());
        std::thread::sleep(core::time::Duration::from_millis(2));
    }
    let mut recording = Recording::open(&file.0).expect("a recording");
    assert_eq!(recording.end(), FileEnd::Cut);
    let found = read_all(&mut recording);
    assert!(found.entries.len() > 100 && example.expected.entries.starts_with(&found.entries));
}
