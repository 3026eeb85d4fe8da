//! Two example abilities, ready to use or to copy from: [`Teleport`] and [`Dash`].

mod dash;
mod teleport;

pub use dash::{Dash, DashConfig, DashCue, DashEvent, DashInput, DashState};
pub use teleport::{Teleport, TeleportConfig, TeleportCue, TeleportEvent, TeleportInput, TeleportState};

use bevy_unlag_core::{BitReader, BitWriter, WireError, wire_format::WireFormat};

use crate::state::{read_unless, write_unless};

/// Longest timer that is accepted from the network, in seconds.
const MAX_TIMER: f32 = 600.0;

/// Form of a timer in seconds; one that is not running takes one bit.
struct TimerFormat;

impl WireFormat<f32> for TimerFormat {
    fn write(&self, timer: &f32, w: &mut BitWriter) {
        write_unless(0.0, *timer, w);
    }

    fn read(&self, r: &mut BitReader<'_>) -> Result<f32, WireError> {
        let timer = read_unless(0.0, r)?;
        if (0.0..=MAX_TIMER).contains(&timer) { Ok(timer) } else { Err(WireError::Invalid) }
    }
}
