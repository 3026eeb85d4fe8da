//! Target of log lines.

pub(crate) const LOG: &str = "bevy_unlag::agones";
