//! Two moves of a game's own, to use and to copy from: [`Teleport`] and [`Dash`].

mod dash;
mod teleport;

pub use dash::{Dash, DashConfig, DashEvent, DashInput, DashState};
pub use teleport::{Teleport, TeleportConfig, TeleportEvent, TeleportInput, TeleportState};

use bevy_unlag_core::{BitReader, BitWriter, WireError};

/// Seconds beyond which a timer from the network is nonsense.
const MAX_TIMER: f32 = 600.0;

/// A timer takes one bit when it does not run.
fn write_timer(timer: f32, w: &mut BitWriter) {
    w.bool(timer != 0.0);
    if timer != 0.0 {
        w.bits(timer.to_bits(), 32);
    }
}

fn read_timer(r: &mut BitReader<'_>) -> Result<f32, WireError> {
    let timer = if r.bool()? { f32::from_bits(r.bits(32)?) } else { 0.0 };
    if (0.0..=MAX_TIMER).contains(&timer) { Ok(timer) } else { Err(WireError::Invalid) }
}
