//! Body of a capsule by its stance.

use crate::{config::CapsuleConfig, sweep::Body};

/// Returns the capsule for a stance.
pub(crate) fn body_of(config: &CapsuleConfig, crouched: bool) -> Body {
    let half_height = if crouched { config.crouched_half_height } else { config.half_height };
    Body::new(config.radius, half_height)
}
