//! Time of a frame that counts against the limits of peers.

use core::time::Duration;

use bevy::prelude::*;

/// Returns the part of a frame that counts against a peer's time limits: a server that hangs receives
/// nothing.
#[must_use]
pub fn counted_delta(time: &Time<Real>) -> Duration {
    time.delta().min(Duration::from_millis(250))
}
