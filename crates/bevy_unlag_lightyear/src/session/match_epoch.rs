//! Number of the current match, on both sides.

use bevy::prelude::*;
use bevy_unlag_core::Tick;

/// The current match, on servers.
#[derive(Resource, Default, Debug)]
pub(super) struct MatchEpoch {
    pub number: u8,
    /// Whether a restart was requested.
    pub(super) requested: bool,
    /// Last tick of the old match, until the restart is announced to clients.
    pub(super) unannounced: Option<Tick>,
}

impl MatchEpoch {
    /// Whether the restart was not announced to clients yet.
    pub(super) fn is_pending(&self) -> bool {
        self.unannounced.is_some()
    }
}

/// On a client's link: the newest match that the server has announced.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct KnownEpoch(pub(super) u8);
