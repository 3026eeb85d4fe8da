//! What the tests share: a toy model, a seeded pipe, and a client and a server at its ends.

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

/// One tick, 64 to the second: a whole number of nanoseconds.
pub const TICK: Duration = Duration::from_nanos(15_625_000);
/// The same in seconds.
pub const DT: f64 = 1.0 / 64.0;

/// A model that a test can put anywhere.
pub trait Toy: MoveModel + Copy {
    /// The state of a new pawn.
    fn start() -> Self::State;
    /// Whatever else an app needs.
    fn install(app: &mut App);
}

/// There and back, with a turn every 17 ticks.
pub fn zigzag(tick: u32) -> Wish {
    if (tick / 17).is_multiple_of(2) {
        Wish { x: 100, ..Wish::NOTHING }
    } else {
        Wish { x: -90, z: 30, buttons: 0 }
    }
}

/// Turns every tick: the hardest there is to compress.
pub fn circle(tick: u32) -> Wish {
    let (sin, cos) = (tick as f32 * 0.1).sin_cos();
    Wish { x: (cos * 120.0) as i8, z: (sin * 120.0) as i8, buttons: 0 }
}
