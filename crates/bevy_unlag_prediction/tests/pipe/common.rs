//! Shared test code: a toy model, a seeded pipe, and a client and a server at its ends.

mod barge;
mod log;
mod pair;
mod walker;
mod way;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::MoveModel;

pub use barge::{Barge, Helm};
pub use log::{Log, Seen};
pub use pair::{Pair, Side};
pub use walker::{Ground, Happened, Pace, Place, Push, Walker, Wish};
pub use way::{Way, Weather};

/// One tick at 64 Hz, a whole number of nanoseconds.
pub const TICK: Duration = Duration::from_nanos(15_625_000);
/// One tick in seconds.
pub const DT: f64 = 1.0 / 64.0;

/// Movement model for tests.
pub trait Toy: MoveModel + Copy {
    /// Returns the state of a new pawn.
    fn start() -> Self::State;
    /// Adds the resources that the model needs.
    fn install(app: &mut App);
}

/// Walks back and forth with a turn every 17 ticks.
pub fn zigzag(tick: u32) -> Wish {
    if (tick / 17).is_multiple_of(2) {
        Wish { x: 100, ..Wish::NOTHING }
    } else {
        Wish { x: -90, z: 30, buttons: 0 }
    }
}

/// Turns every tick, which is the hardest input to compress.
pub fn circle(tick: u32) -> Wish {
    let (sin, cos) = (tick as f32 * 0.1).sin_cos();
    Wish { x: (cos * 120.0) as i8, z: (sin * 120.0) as i8, buttons: 0 }
}
