//! Decoder of shot evidence, whose files may come from anywhere.

#![no_main]

use bevy_unlag_core::{BitReader, BitWriter, Wire};
use bevy_unlag_rewind::ShotEvidence;
use libfuzzer_sys::fuzz_target;

fn written(evidence: &ShotEvidence) -> Vec<u8> {
    let mut w = BitWriter::default();
    evidence.write(&mut w);
    w.finish()
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(evidence) = ShotEvidence::read(&mut BitReader::new(bytes)) else { return };
    // A float at the end of its range may be rounded once.
    let once = written(&evidence);
    let again = ShotEvidence::read(&mut BitReader::new(&once)).expect("encoded evidence can be decoded");
    assert!(written(&again) == once, "encoding is not stable: {again:?}");
});
