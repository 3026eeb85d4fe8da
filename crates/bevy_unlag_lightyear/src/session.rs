//! Player sessions: joining, leaving and reconnecting; match restarts; server shutdown.
//!
//! 1. Handshake: client and server compare protocol version, configuration and level. [`handshake`]
//! 2. Reconnect: a player's pawn outlives its link for a grace period, and the same peer gets it back.
//!    [`players`]
//! 3. Restart of the match, on server and clients. [`restart`]
//! 4. Announced shutdown of the server. [`shutdown`]
//! 5. Game speed: clients follow the server's. [`game_speed`]
//! 6. Fast client clocks: report, and an option to kick. [`fast_clocks`]
//! 7. Log lines of joins, leaves, start and stop. [`session_log`]

#[cfg(feature = "prediction")]
mod fast_clocks;
mod game_speed;
mod handshake;
mod leave_reason;
mod match_epoch;
mod missing_hello;
mod players;
mod rates;
mod restart;
mod session_log;
mod shutdown;

use core::time::Duration;

use bevy::prelude::*;

#[cfg(feature = "prediction")]
pub use fast_clocks::{FastClock, FastClockRecord, FastClockRule, FastClockStats};
#[cfg(feature = "record")]
pub(crate) use handshake::registry_hash;
pub use handshake::{ProtocolMismatch, SetupMismatch, SetupRule};
pub use leave_reason::LeaveReason;
#[cfg(feature = "prediction")]
pub(crate) use players::owned_by;
pub use players::{
    AwaitingReconnect, PlayerJoined, PlayerLeft, PlayerReturned, SessionExpired, SessionOf, player_pawn,
};
pub(crate) use rates::durations_differ;
pub use rates::{JoinConfig, RateMismatch};
pub use restart::{MatchRestarted, RestartMatch};
pub use shutdown::{ServerShutdown, ServerStopped, Shutdown};

/// Reconnect policy of a server, and its reactions to clients with a different setup or a fast clock. May be
/// changed at any time.
///
/// ```
/// use std::time::Duration;
///
/// use bevy::prelude::*;
/// use bevy_unlag_lightyear::{SessionConfig, SetupRule};
///
/// // On the server: half a minute to come back, and no client with another level or tuning.
/// let config = SessionConfig { grace: Duration::from_secs(30), setup: SetupRule::Refuse, ..default() };
/// App::new().insert_resource(config);
/// ```
///
/// In the book: *Session settings and events*, `book/src/reference/sessions.md`.
#[doc(alias = "InactivePlayerStateLifeSpan")]
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct SessionConfig {
    /// Grace period during which the pawn of a disconnected or kicked player stays and waits for its player.
    /// It stands still and can be hit, so that disconnecting is no escape from a fight. Default 10 s. Raising
    /// it tolerates longer outages, and leaves the pawns of players who do not come back standing for longer.
    /// 0 despawns the pawn immediately.
    pub grace: Duration,
    /// Reaction to a client with a different movement configuration or level. Default [`SetupRule::Warn`].
    pub setup: SetupRule,
    /// Reaction to a client whose clock runs too fast. Default [`FastClockRule::Report`].
    #[cfg(feature = "prediction")]
    pub fast_clocks: FastClockRule,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(10),
            setup: SetupRule::Warn,
            #[cfg(feature = "prediction")]
            fast_clocks: FastClockRule::Report,
        }
    }
}

pub(crate) fn server_plugin(app: &mut App) {
    app.init_resource::<SessionConfig>();
    handshake::server_plugin(app);
    players::plugin(app);
    session_log::plugin(app);
    restart::server_plugin(app);
    shutdown::server_plugin(app);
    game_speed::server_plugin(app);
    #[cfg(feature = "prediction")]
    fast_clocks::server_plugin(app);
}

pub(crate) fn client_plugin(app: &mut App) {
    handshake::client_plugin(app);
    missing_hello::client_plugin(app);
    restart::client_plugin(app);
    shutdown::client_plugin(app);
    game_speed::client_plugin(app);
}
