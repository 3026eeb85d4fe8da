//! Decoder of shot evidence, whose files may come from anywhere.

#![no_main]

use bevy_unlag_rewind::ShotEvidence;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(evidence) = ShotEvidence::from_bytes(bytes) else { return };
    // A number may have been written in more bytes than it needs.
    let once = evidence.to_bytes();
    let again = ShotEvidence::from_bytes(&once).expect("encoded evidence can be decoded");
    assert!(again.to_bytes() == once, "encoding is not stable: {again:?}");
});
