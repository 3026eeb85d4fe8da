//! Any bytes are one of the small words that client and server say to each other, or an error. The first one says
//! which.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some((kind, word)) = bytes.split_first() {
        let _ = bevy_unlag_lightyear::fuzzing::check_round_trip(*kind, word);
    }
});
