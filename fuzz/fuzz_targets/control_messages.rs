//! Decoders of small messages between client and server: handshakes, time exchanges, announcements of a stop with their
//! reason. The first byte selects the kind.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some((kind, message)) = bytes.split_first() {
        let _ = bevy_unlag_lightyear::fuzzing::check_round_trip(*kind, message);
    }
});
