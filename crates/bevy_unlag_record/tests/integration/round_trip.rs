//! Files that were closed: everything is read back.

use std::io::Cursor;

use bevy_unlag_core::Tick;
use bevy_unlag_record::*;

use crate::example_match::{read_all, recorded, setup};

#[test]
fn everything_recorded_is_read_back_across_the_wrap_of_ticks() {
    for first in [0, 70_000, u32::MAX - 300] {
        let (bytes, expected) = recorded(5, Tick(first), 700, RecorderConfig::default());
        let mut recording = Recording::read(Cursor::new(&bytes)).expect("a recording");
        assert_eq!((recording.end(), recording.skipped_bytes()), (FileEnd::Closed, 0));
        assert_eq!(recording.missing_segments(), 0);
        assert_eq!(*recording.setup(), setup());
        assert_eq!(recording.span(), Some((Tick(first), Tick(first).offset(699))));
        assert_eq!(read_all(&mut recording), expected);
    }
}

#[test]
fn segments_of_any_length_have_the_same_content() {
    for segment_ticks in [1, 2, 50, 4_000] {
        let config = RecorderConfig { segment_ticks, ..RecorderConfig::default() };
        let (bytes, expected) = recorded(3, Tick(9), 300, config);
        let mut recording = Recording::read(Cursor::new(&bytes)).expect("a recording");
        assert_eq!(recording.segments().len(), 300_u32.div_ceil(segment_ticks) as usize);
        assert_eq!(read_all(&mut recording), expected, "segments of {segment_ticks} ticks");
    }
}

#[test]
fn every_segment_knows_its_players_without_the_ones_before() {
    let (bytes, _) = recorded(4, Tick(0), 400, RecorderConfig::default());
    let mut recording = Recording::read(Cursor::new(&bytes)).expect("a recording");
    for index in 1..recording.segments().len() {
        let segment = recording.segment(index).expect("it is whole");
        assert_eq!((segment.roster.players().len(), segment.roster.pawns().len()), (4, 4));
    }
}

#[test]
fn file_of_another_build_is_refused_by_the_name_of_what_differs() {
    let (bytes, _) = recorded(2, Tick(0), 20, RecorderConfig::default());
    let recording = Recording::read(Cursor::new(&bytes)).expect("a recording");
    assert!(recording.check(&setup()).is_ok());
    let other = RecordSetup { weapons: vec!["laser".to_owned()], ..setup() };
    let error = recording.check(&other).expect_err("it has other weapons").to_string();
    assert!(error.contains("weapons") && error.contains("rifle"), "{error}");
}

#[test]
fn file_of_another_format_and_any_other_file_are_refused() {
    let (mut bytes, _) = recorded(2, Tick(0), 20, RecorderConfig::default());
    bytes[8] = 9;
    let error = Recording::read(Cursor::new(&bytes)).expect_err("another version").to_string();
    assert!(error.contains("version 9"), "{error}");
    for other in [&b""[..], b"UNLAGRE", b"a text file", b"RIFF\0\0\0\0WAVE"] {
        let refused = Recording::read(Cursor::new(other));
        assert!(matches!(refused, Err(RecordError::NotARecording)), "{other:?}");
    }
}
