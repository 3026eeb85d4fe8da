//! What fuzzers reach in here and games have no use for. Not part of the interface: it changes without notice.

mod link;
mod token;

use core::fmt::Debug;

use bevy::prelude::App;
use bevy_unlag_core::{BitReader, Tick, ViewTime, Wire};

pub use self::{
    link::{Lane, LinkProbe},
    token::TokenProbe,
};
pub use crate::ingress::GateProbe;
use crate::{
    AddGameMessage, KickReason, MessageRules,
    clock::{ClockPing, ClockPong},
    messages::Kinds,
    protocol::{Hello, Setup, bytes},
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

/// What a type of a game's messages is called on the wire, where no other has the same hash: nobody guesses it.
#[must_use]
pub fn message_key<M: Wire + Send + Sync + 'static>(rules: MessageRules) -> u16 {
    let mut app = App::new();
    app.add_game_message::<M>(rules);
    // Of one type it is that type's hash and a count of 1.
    let hash = (app.world().resource::<Kinds>().hash() >> 16) as u32;
    (hash >> 16) as u16 ^ hash as u16
}

fn written(word: &impl Wire) -> Vec<u8> {
    bytes(word)
}

fn read<T: Wire + PartialEq + Debug>(bytes: &[u8]) -> bool {
    let read = |bytes: &[u8]| T::read(&mut BitReader::new(bytes)).ok();
    let Some(once) = read(bytes).map(|word| read(&written(&word))) else { return false };
    assert!(once.is_some(), "what was written cannot be read");
    let again = once.as_ref().and_then(|once| read(&written(once)));
    assert!(again == once, "{once:?} is read again as {again:?}");
    true
}
