//! State that the app and the threads of a connection to Agones share.

use std::sync::{Mutex, PoisonError};

use crate::{command_queue::CommandQueue, game_server::GameServer};

/// State that the app and the threads share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) queue: CommandQueue,
    latest: Mutex<Option<GameServer>>,
}

impl Shared {
    /// Keeps the newest state that the sidecar has sent, for the app.
    pub(crate) fn put(&self, seen: GameServer) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
    }

    /// Returns the newest state since the last call.
    pub(crate) fn take(&self) -> Option<GameServer> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
