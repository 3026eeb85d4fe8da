//! Entry points for fuzz targets. Not part of the public API: they change without notice.

mod link_probe;

use core::{fmt::Debug, time::Duration};

use bevy::prelude::App;
use bevy_unlag_core::{Tick, ViewTime, Wire};
use lightyear_guard::KickText;

pub use self::link_probe::{InjectedMessage, LinkProbe};
use crate::{
    clock::{ClockPing, ClockPong},
    messages::{AddGameMessage, GameMessageTypes, MessageRules},
    protocol::{Hello, Setup, SpeedAnnouncement},
    session::ServerShutdown,
    smoothed_component::TickedValue,
};

/// Number of small message types that [`check_round_trip`] knows.
pub const SMALL_MESSAGE_TYPES: u8 = 7;

/// Decodes a small message of type `kind` and returns whether that succeeded. A decoded value is encoded,
/// which may round it at the ends of its ranges, decoded and encoded again.
///
/// # Panics
/// If the second round trip changes the value.
#[must_use]
pub fn check_round_trip(kind: u8, bytes: &[u8]) -> bool {
    match kind % SMALL_MESSAGE_TYPES {
        0 => read::<Hello>(bytes),
        1 => read::<Setup>(bytes),
        2 => read::<ClockPing>(bytes),
        3 => read::<ClockPong>(bytes),
        4 => read::<TickedValue<Tick>>(bytes),
        5 => read::<SpeedAnnouncement>(bytes),
        _ => read::<ServerShutdown>(bytes),
    }
}

/// Returns encoded examples of every small message type, as seeds.
#[must_use]
pub fn example_messages() -> Vec<(u8, Vec<u8>)> {
    let setup = Setup { epoch: 3, config: 0x1234_5678, level: 77 };
    let hello = Hello {
        version: crate::protocol::PROTOCOL_VERSION,
        registry: 5,
        tick: 15_625_000,
        snapshot_ticks: 3,
        setup,
    };
    let resting = TickedValue::new(Tick(70_000), Tick(1));
    let mut acked_tick = resting;
    acked_tick.acked_tick = Some(Tick(69_990));
    let received = ViewTime { tick: Tick(70_000), fraction: 64 };
    let shutdown = ServerShutdown { left: Duration::from_secs(5), reason: KickText::new("maintenance") };
    vec![
        (0, hello.to_bytes()),
        (1, setup.to_bytes()),
        (2, ClockPing { id: 40_000 }.to_bytes()),
        (3, ClockPong { id: 40_000, received, held: 128 }.to_bytes()),
        (4, resting.to_bytes()),
        (4, acked_tick.to_bytes()),
        (5, SpeedAnnouncement { number: 3, speed: 0.3 }.to_bytes()),
        (6, shutdown.to_bytes()),
    ]
}

/// Returns the id of a game message type on the wire, if its hash does not collide with another. A fuzzer
/// would not guess it.
#[must_use]
pub fn message_key<M: Wire + Send + Sync + 'static>(rules: MessageRules) -> u16 {
    let mut app = App::new();
    app.add_game_message::<M>(rules);
    app.world().resource::<GameMessageTypes>().key_of::<M>().expect("the type is registered")
}

fn read<T: Wire + PartialEq + Debug>(bytes: &[u8]) -> bool {
    let Some(once) = T::from_bytes(bytes).ok().map(|word| T::from_bytes(&word.to_bytes()).ok()) else {
        return false;
    };
    assert!(once.is_some(), "an encoded value cannot be decoded");
    let again = once.as_ref().and_then(|once| T::from_bytes(&once.to_bytes()).ok());
    assert!(again == once, "{once:?} is decoded as {again:?} after a round trip");
    true
}

#[cfg(test)]
mod tests;
