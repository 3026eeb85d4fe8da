//! Target of log lines.

/// The same as for the other lines about the server.
pub(crate) const LOG: &str = "bevy_unlag::server";
