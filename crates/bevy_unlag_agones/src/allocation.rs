//! Allocation of the server, as the game sees it.

use std::collections::BTreeMap;

use bevy::prelude::*;

/// Agones has allocated this server: a matchmaker has chosen it for a match. Triggered when
/// [`ServerState`](bevy_unlag_server::ServerState) has become `Allocated` by that, and again when a server that is
/// allocated is allocated once more. Not triggered for an allocation that the game has made itself.
///
/// Labels and annotations are those of the game server, with what the allocation has added. They come from whoever may
/// allocate servers of the fleet: check them like any other text from outside.
#[derive(Event, Clone, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Event, Debug, Default)]
pub struct AgonesAllocation {
    /// Name of the game server.
    pub game_server: String,
    /// Labels by key.
    pub labels: BTreeMap<String, String>,
    /// Annotations by key, such as the rules of the match.
    pub annotations: BTreeMap<String, String>,
}

impl AgonesAllocation {
    /// Returns the annotation of that key, if there is one.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key).map(String::as_str)
    }
}
