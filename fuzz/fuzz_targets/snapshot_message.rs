//! Decoder of snapshot messages: any bytes give a bounded list of updates, with at most one error at its end.
//!
//! The reader is included from the client of the lightyear integration, without the network around it.

#![no_main]

use bevy_unlag_core::{BitReader, BitWriter, NetId, ProxyUpdate, Tick, Wire};
use libfuzzer_sys::fuzz_target;

#[cfg_attr(not(test), expect(dead_code, reason = "the server uses more of it"))]
#[path = "../../crates/bevy_unlag_lightyear/src/snapshots/snapshot_message.rs"]
mod message;

/// Distance from a known tick, in ticks, beyond which encoded ticks are truncated; our server does not send
/// such ticks.
const MAX_TICK_DISTANCE: i32 = 30_000;

fn is_ours(base: Tick, update: &ProxyUpdate) -> bool {
    let newest = update.snapshot.tick;
    newest.since(base).abs() <= MAX_TICK_DISTANCE
        && update.earlier().all(|earlier| (0..=MAX_TICK_DISTANCE).contains(&newest.since(earlier.tick)))
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut updates) = message::SnapshotReader::read(bytes) else { return };
    let base = Tick::read(&mut BitReader::new(bytes)).expect("the reader has decoded the base tick");
    let mut read: Vec<(NetId, ProxyUpdate)> = Vec::new();
    let failed = loop {
        match updates.next() {
            Some(Ok(one)) => read.push(one),
            Some(Err(_)) => break true,
            None => break false,
        }
    };
    assert!(!failed || updates.next().is_none(), "an update follows an error");
    assert!(read.len() <= message::MAX_PAWNS, "{} pawns", read.len());
    assert!(read.windows(2).all(|pair| pair[0].0 < pair[1].0), "a pawn occurs twice");

    if !read.iter().all(|(_, update)| is_ours(base, update)) {
        return;
    }
    let encoded = read.iter().map(|(id, update)| {
        let mut w = BitWriter::default();
        update.write(base, &mut w);
        (*id, w)
    });
    let encoded: Vec<_> = encoded.collect();
    let mut again = Vec::new();
    message::write(base, encoded.iter().map(|(id, w)| (*id, w)), |bytes| {
        let updates = message::SnapshotReader::read(&bytes).expect("an encoded message can be decoded");
        again.extend(updates.map(|one| one.expect("an encoded update can be decoded")));
    });
    assert_eq!(again, read);
});
