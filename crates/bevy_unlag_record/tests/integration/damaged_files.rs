//! Damaged and hostile files: what is whole is read, and nothing else happens.

use std::io::Cursor;

use bevy_unlag_core::{BaseView, BitWriter, NetId, PoseSampler, Tick, ViewTime, Wire};
use bevy_unlag_record::*;
use rand::{Rng, SeedableRng, rngs::SmallRng};

use crate::example_match::recorded;

#[test]
fn damage_costs_the_segments_that_it_touches_and_no_others() {
    let config = RecorderConfig { segment_ticks: 16, ..RecorderConfig::default() };
    let (bytes, _) = recorded(3, Tick(5), 200, config);
    let mut whole = Recording::read(Cursor::new(&bytes)).expect("a recording");
    let places = whole.segments().to_vec();
    let segments: Vec<Segment> =
        (0..places.len()).map(|at| whole.segment(at).expect("it is whole")).collect();
    let mut rng = SmallRng::seed_from_u64(3);
    for _ in 0..600 {
        let mut damaged = bytes.clone();
        let at = rng.random_range(places[0].offset as usize..bytes.len());
        let length = rng.random_range(1..60).min(bytes.len() - at);
        damaged[at..at + length].iter_mut().for_each(|byte| *byte = rng.random());
        let mut recording = Recording::read(Cursor::new(&damaged)).expect("the setup is whole");
        let read: Vec<Segment> =
            (0..recording.segments().len()).filter_map(|at| recording.segment(at).ok()).collect();
        let touched = |place: &SegmentPlace| {
            let end = place.offset + 36 + u64::from(place.header.stored_bytes);
            (at as u64) < end && (at + length) as u64 > place.offset
        };
        for (place, segment) in places.iter().zip(&segments) {
            assert!(touched(place) || read.contains(segment), "{length} bytes at {at}: {place:?} is lost");
        }
        assert!(read.iter().all(|segment| segments.contains(segment)), "{length} bytes at {at}");
    }
}

#[test]
fn random_bytes_after_the_start_are_no_segments() {
    let (bytes, _) = recorded(2, Tick(0), 10, RecorderConfig::default());
    let start = Recording::read(Cursor::new(&bytes)).expect("a recording").segments()[0].offset as usize;
    let mut rng = SmallRng::seed_from_u64(4);
    for length in [0, 1, 35, 36, 37, 1_000, 300_000] {
        let mut hostile = bytes[..start].to_vec();
        hostile.extend((0..length).map(|_| rng.random::<u8>()));
        let mut recording = Recording::read(Cursor::new(&hostile)).expect("the setup is whole");
        assert_eq!((recording.segments().len(), recording.skipped_bytes()), (0, length));
        assert!(matches!(recording.read_span(Tick(0), Tick(9)), Err(RecordError::Empty)));
        assert!(matches!(recording.segment(0), Err(RecordError::Empty)));
    }
}

#[test]
fn any_content_is_a_bounded_segment_or_an_error() {
    let mut rng = SmallRng::seed_from_u64(5);
    let (bytes, _) = recorded(3, Tick(0), 60, RecorderConfig::default());
    let mut recording = Recording::read(Cursor::new(&bytes)).expect("a recording");
    let segment = recording.segment(0).expect("it is whole");
    let (mut read, mut refused) = (0, 0);
    for round in 0..3_000 {
        // A valid beginning, then anything.
        let mut w = BitWriter::default();
        Tick(rng.random()).write(&mut w);
        segment.roster.write(&mut w);
        for _ in 0..rng.random_range(0..400) {
            w.bits(if round % 3 == 0 { u32::from(rng.random::<u8>()) } else { rng.random_range(0..4) }, 8);
        }
        match Segment::from_content(&w.finish()) {
            Ok(segment) => {
                read += 1;
                assert!(segment.ticks.len() <= MAX_SEGMENT_TICKS && !segment.ticks.is_empty());
                for track in &segment.moves {
                    let _ = track.moves::<u32>();
                }
                let screen = PlayerScreen::of(PlayerNumber(0), &[segment]);
                assert!(screen.pawns().count() <= 70_000);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read > 0 && refused > 100, "{read} read, {refused} refused");
}

/// Fails if a reader reserves what a header promises, or holds as many ticks as a file asks for.
#[test]
fn segment_of_nothing_but_ticks_is_refused_beyond_the_limit() {
    let mut w = BitWriter::default();
    Tick(0).write(&mut w);
    Roster::default().write(&mut w);
    for _ in 0..MAX_SEGMENT_TICKS + 1 {
        w.bits(1, 4);
        w.golomb(0, 0);
    }
    w.bits(0, 4);
    w.bool(false);
    assert!(Segment::from_content(&w.finish()).is_err());
}

#[test]
fn move_track_of_another_type_of_input_is_an_error_or_bounded() {
    let (bytes, _) = recorded(3, Tick(0), 60, RecorderConfig::default());
    let mut recording = Recording::read(Cursor::new(&bytes)).expect("a recording");
    let segment = recording.segment(0).expect("it is whole");
    assert_eq!(
        segment.moves.iter().map(|track| track.pawn).collect::<Vec<_>>(),
        [NetId(0), NetId(3), NetId(6)]
    );
    for track in &segment.moves {
        assert!(track.moves::<[u64; 4]>().is_err());
        assert_eq!(track.moves::<u32>().map(|moves| moves.len()), Ok(usize::from(track.count)));
    }
}

/// No checksum protects a content that somebody has written on purpose.
#[test]
fn changed_content_with_a_right_checksum_gives_finite_poses_or_an_error() {
    let (bytes, _) = recorded(3, Tick(u32::MAX - 40), 60, RecorderConfig::default());
    let mut recording = Recording::read(Cursor::new(&bytes)).expect("a recording");
    let content = recording.content(0).expect("it is whole");
    let mut rng = SmallRng::seed_from_u64(6);
    let (mut read, mut poses) = (0, 0);
    for _ in 0..2_000 {
        let mut changed = content.clone();
        for _ in 0..rng.random_range(1..6) {
            let at = rng.random_range(0..changed.len());
            changed[at] ^= 1 << rng.random_range(0..8);
        }
        changed.truncate(rng.random_range(changed.len() / 2..changed.len() * 2));
        let Ok(segment) = Segment::from_content(&changed) else { continue };
        read += 1;
        segment.moves.iter().for_each(|track| {
            let _ = track.moves::<u32>();
        });
        let screen = PlayerScreen::of(PlayerNumber(1), &[segment]);
        for pawn in screen.pawns() {
            for snapshot in screen.snapshots(pawn) {
                let time = ViewTime { tick: snapshot.tick.offset(1), fraction: 9 };
                let Some(stamp) = screen.stamp(pawn, time) else { continue };
                let pose = screen.pose(pawn, stamp, &PoseSampler::default(), &BaseView::default());
                assert!(pose.is_some_and(|pose| pose.position.is_finite() && pose.rotation.is_finite()));
                poses += 1;
            }
        }
    }
    assert!(read > 100 && poses > 1_000, "{read} read, {poses} poses");
}
