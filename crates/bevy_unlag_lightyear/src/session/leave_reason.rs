//! Reasons for which players' connections end.

use core::time::Duration;

use bevy::prelude::*;
use lightyear_guard::{LinkTraffic, PendingKick};

/// Silence at the end of a connection after which it has timed out. A client that leaves says so at once, and a
/// token's timeout is at least a second.
const SILENCE: Duration = Duration::from_millis(500);

bevy_unlag_core::named_enum! {
    /// Reason for which a player's connection has ended, for [`PlayerLeft`](crate::PlayerLeft), logs and metrics.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
    #[reflect(Debug)]
    pub enum LeaveReason {
        /// The client has ended the connection.
        Left => "left",
        /// Nothing has come from the client for as long as its token allows.
        TimedOut => "timed out",
        /// The server has kicked the client: [`Kick`](lightyear_guard::Kick).
        Kicked => "kicked",
        /// The server has ended the connection without a kick.
        ClosedByServer => "closed by the server",
    }
}

impl LeaveReason {
    /// Returns the reason for which a link ends, from its last state; `is_closed` says whether the server has ended it.
    pub(super) fn of(kick: Option<&PendingKick>, traffic: Option<&LinkTraffic>, is_closed: bool) -> Self {
        if kick.is_some() {
            Self::Kicked
        } else if traffic.is_some_and(|traffic| traffic.silence >= SILENCE) {
            Self::TimedOut
        } else if is_closed {
            Self::ClosedByServer
        } else {
            Self::Left
        }
    }
}
