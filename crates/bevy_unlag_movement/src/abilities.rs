//! Two example abilities, ready to use or to copy from: [`Teleport`] and [`Dash`].

mod dash;
mod teleport;

pub use dash::{Dash, DashConfig, DashEvent, DashInput, DashState};
pub use teleport::{Teleport, TeleportConfig, TeleportEvent, TeleportInput, TeleportState};

use bevy_unlag_core::{BitReader, BitWriter, WireError};

/// Longest timer that is accepted from the network, in seconds.
const MAX_TIMER: f32 = 600.0;

/// Writes a timer; one that is not running takes one bit.
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
