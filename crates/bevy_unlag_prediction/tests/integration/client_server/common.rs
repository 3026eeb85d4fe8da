//! Shared test code: a toy model, a seeded pipe, and a client and a server at its ends.

mod barge;
mod client_server_pair;
mod link;
mod log;
mod walker;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::MoveModel;

pub use barge::{Barge, BargeInput};
pub use client_server_pair::{Pair, Side};
pub use link::{LinkDirection, LinkProfile};
pub use log::{Log, MessageLog};
pub use walker::{Push, Walker, WalkerConfig, WalkerEvent, WalkerInput, WalkerState, WalkerWorld};

/// One tick at 64 Hz, a whole number of nanoseconds.
pub const TICK: Duration = Duration::from_nanos(15_625_000);
/// One tick in seconds.
pub const DT: f64 = 1.0 / 64.0;

/// Movement model for tests.
pub trait TestModel: MoveModel + Copy {
    /// Returns the state of a new pawn.
    fn start() -> Self::State;
    /// Adds the resources that the model needs.
    fn install(app: &mut App);
}

/// Walks back and forth with a turn every 17 ticks.
pub fn zigzag(tick: u32) -> WalkerInput {
    if (tick / 17).is_multiple_of(2) {
        WalkerInput { x: 100, ..WalkerInput::NOTHING }
    } else {
        WalkerInput { x: -90, z: 30, buttons: 0 }
    }
}

/// Turns every tick, which is the hardest input to compress.
pub fn circle(tick: u32) -> WalkerInput {
    let (sin, cos) = (tick as f32 * 0.1).sin_cos();
    WalkerInput { x: (cos * 120.0) as i8, z: (sin * 120.0) as i8, buttons: 0 }
}
