//! Clocks that work in browsers, too. Elsewhere they are std's.

pub(crate) use bevy::platform::time::Instant;
pub(crate) use web_time::{SystemTime, UNIX_EPOCH};

/// Returns the time of the monotonic clock.
#[expect(clippy::disallowed_methods, reason = "not std's in browsers")]
pub(crate) fn monotonic() -> Instant {
    Instant::now()
}

/// Returns the time of the wall clock.
#[expect(clippy::disallowed_methods, reason = "not std's in browsers")]
pub(crate) fn wall() -> SystemTime {
    SystemTime::now()
}
