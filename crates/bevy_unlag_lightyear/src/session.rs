//! Who plays: joining, leaving and coming back; a match that begins anew; the end of a server.
//!
//! 1. Handshake: version, configuration and level are compared and put into words. [`handshake`]
//! 2. A player's pawn outlives its link for a grace time, and whoever is the same peer gets it back. [`players`]
//! 3. A match begins anew on both sides. [`restart`]
//! 4. A server stops, and says so before. [`shutdown`]

mod handshake;
mod players;
mod restart;
mod shutdown;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::MoveModel;

pub use handshake::{ProtocolMismatch, SetupMismatch, SetupRule};
pub use players::{Absent, PlayerJoined, PlayerLeft, PlayerReturned, SessionExpired, SessionOf, player_pawn};
pub use restart::{MatchRestarted, RestartMatch};
pub use shutdown::{ServerShutdown, ServerStopped, Shutdown};

/// What becomes of players who go, and of clients that are not like the server. On servers; change it at any time.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionConfig {
    /// How long the pawn of a player whose link has gone stays, and waits for it: it stands where it was let go of,
    /// and can be hit. Of one who was thrown out, too: that is no way out of a fight. Default 10 s. Raising it
    /// forgives longer outages, and leaves those who will not come back standing around for longer. 0: it goes at
    /// once.
    pub grace: Duration,
    /// What becomes of a client whose movement configuration or level is another. Default: it is warned.
    pub setup: SetupRule,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self { grace: Duration::from_secs(10), setup: SetupRule::Warn }
    }
}

pub(crate) fn server_plugin<M: MoveModel>(app: &mut App) {
    app.init_resource::<SessionConfig>();
    handshake::server_plugin::<M>(app);
    players::plugin::<M>(app);
    restart::server_plugin::<M>(app);
    shutdown::server_plugin(app);
}

pub(crate) fn client_plugin<M: MoveModel>(app: &mut App) {
    handshake::client_plugin::<M>(app);
    restart::client_plugin(app);
    shutdown::client_plugin(app);
}
