//! Reader of recordings, whose files may come from anywhere. With an even first byte the rest is a file, otherwise the
//! content of a chunk: no mutation gets past the checksums of a file. What follows on the first bytes of a file is a stream
//! for spectators.

#![no_main]

use std::io::Cursor;

use bevy_unlag_core::{BaseView, ViewTime};
use bevy_unlag_record::{
    MAX_CHUNK_BYTES, MAX_SEGMENT_TICKS, Playback, PlayerNumber, PlayerScreen, Recording, Segment, StreamReader,
};
use libfuzzer_sys::fuzz_target;

/// Rebuilds screens, and samples them around every update.
fn draw(segment: &Segment) {
    assert!(!segment.ticks.is_empty() && segment.ticks.len() <= MAX_SEGMENT_TICKS);
    for track in &segment.moves {
        if let Ok(moves) = track.moves::<u32>() {
            assert_eq!(moves.len(), usize::from(track.count));
        }
    }
    let sampler = bevy_unlag_core::PoseSampler::default();
    let players = segment.roster.players().map(|player| player.number).take(3);
    for player in players.chain([PlayerNumber(0)]) {
        let screen = PlayerScreen::of(player, core::slice::from_ref(segment));
        for pawn in screen.pawns().take(20) {
            for snapshot in screen.snapshots(pawn).take(20) {
                let time = ViewTime { tick: snapshot.tick, fraction: 77 };
                let Some(stamp) = screen.stamp(pawn, time) else { continue };
                let pose = screen.pose(pawn, stamp, &sampler, &BaseView::default());
                assert!(pose.is_some_and(|pose| pose.position.is_finite() && pose.rotation.is_finite()));
            }
        }
    }
}

/// Receives a stream, and plays it.
fn watch(bytes: &[u8]) {
    let Ok(chunks) = StreamReader::default().push(bytes) else { return };
    assert!(chunks.iter().all(|chunk| chunk.bytes().len() <= MAX_CHUNK_BYTES + 36));
    let [setup, first, rest @ ..] = &chunks[..] else { return };
    let Ok(own) = setup.setup() else { return };
    let Ok(mut playback) = Playback::of_stream(setup, first, &own, 4_096) else { return };
    for chunk in rest {
        let _ = playback.push(chunk);
        playback.advance(1.0);
        playback.index_next();
    }
    let (first, last) = playback.span();
    assert!(last.since(first) >= 0 && playback.seconds().is_finite());
}

fuzz_target!(|input: &[u8]| {
    let Some((kind, bytes)) = input.split_first() else { return };
    if kind % 2 == 1 {
        if let Ok(segment) = Segment::from_content(bytes) {
            draw(&segment);
        }
        return;
    }
    watch(bytes.get(12..).unwrap_or_default());
    let Ok(mut recording) = Recording::read(Cursor::new(bytes)) else { return };
    assert!(
        recording.segments().len() <= bytes.len() / 36 && recording.skipped_bytes() <= bytes.len() as u64
    );
    for index in 0..recording.segments().len() {
        if let Ok(segment) = recording.segment(index) {
            draw(&segment);
        }
    }
});
