//! What fuzzers reach in here and games have no use for. Not part of the interface: it changes without notice.

use core::fmt::Debug;

use bevy_unlag_core::{BitReader, BitWriter, Tick, ViewTime, Wire};

pub use crate::ingress::GateProbe;
use crate::{
    KickReason,
    clock::{ClockPing, ClockPong},
    protocol::{Hello, Setup},
    smoothed::Stamped,
};

/// How many kinds of words there are.
pub const WORDS: u8 = 6;

/// Reads one kind of small word. What could be read is written, at the ends of its ranges rounded once, and read again.
///
/// # Panics
/// When that is not the same.
#[must_use]
pub fn read_word(kind: u8, bytes: &[u8]) -> bool {
    match kind % WORDS {
        0 => read::<Hello>(bytes),
        1 => read::<Setup>(bytes),
        2 => read::<ClockPing>(bytes),
        3 => read::<ClockPong>(bytes),
        4 => read::<KickReason>(bytes),
        _ => read::<Stamped<Tick>>(bytes),
    }
}

/// One word of each kind, as it is written: what a fuzzer begins with.
#[must_use]
pub fn words() -> Vec<(u8, Vec<u8>)> {
    let setup = Setup { round: 3, config: 0x1234_5678, level: 77 };
    let hello = Hello { version: crate::PROTOCOL_VERSION, registry: 5, tick: 15_625_000, setup };
    let resting = Stamped::new(Tick(70_000), Tick(1));
    let mut answered = resting;
    answered.answered = Some(Tick(69_990));
    vec![
        (0, written(&hello)),
        (1, written(&setup)),
        (2, written(&ClockPing { id: 40_000 })),
        (
            3,
            written(&ClockPong {
                id: 40_000,
                received: ViewTime { tick: Tick(70_000), fraction: 64 },
                held: 128,
            }),
        ),
        (4, written(&KickReason::Flood)),
        (5, written(&resting)),
        (5, written(&answered)),
    ]
}

fn written(word: &impl Wire) -> Vec<u8> {
    let mut w = BitWriter::default();
    word.write(&mut w);
    w.finish()
}

fn read<T: Wire + PartialEq + Debug>(bytes: &[u8]) -> bool {
    let read = |bytes: &[u8]| T::read(&mut BitReader::new(bytes)).ok();
    let Some(once) = read(bytes).map(|word| read(&written(&word))) else { return false };
    assert!(once.is_some(), "what was written cannot be read");
    let again = once.as_ref().and_then(|once| read(&written(once)));
    assert!(again == once, "{once:?} is read again as {again:?}");
    true
}
