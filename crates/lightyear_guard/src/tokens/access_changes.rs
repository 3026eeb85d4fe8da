//! Changes to the access control of a running server: new keys, another match.

use bevy::prelude::*;

use super::{
    ServerKeys,
    server_access::{TokenValidator, log_development_mode},
};
use crate::log_lines::SERVER;

/// Replaces the keys of a running server, the entity of [`ServerAccess::server`](crate::ServerAccess::server).
/// Tokens of keys that are not in the new list are refused from now on; clients that have joined stay.
#[derive(EntityEvent, Clone, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct RotateKeys {
    /// The server.
    pub entity: Entity,
    /// The new keys, the newest first.
    pub keys: ServerKeys,
}

/// Assigns a match to a running server: [`ServerAccess::match_id`](crate::ServerAccess::match_id) from now on.
/// Clients that have joined stay.
#[derive(EntityEvent, Clone, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct AssignMatch {
    /// The server, the entity of [`ServerAccess::server`](crate::ServerAccess::server).
    pub entity: Entity,
    /// Id of the match; `None` accepts tokens for any match.
    pub match_id: Option<String>,
}

pub(super) fn rotate_keys(rotate: On<RotateKeys>, mut servers: Query<&mut TokenValidator>) {
    if let Ok(mut server) = servers.get_mut(rotate.entity) {
        server.access.keys = rotate.keys.clone();
        info!(target: SERVER, keys = rotate.keys.iter().count(), "keys replaced");
        if rotate.keys.is_development() {
            log_development_mode();
        }
    }
}

pub(super) fn assign_match(assign: On<AssignMatch>, mut servers: Query<&mut TokenValidator>) {
    if let Ok(mut server) = servers.get_mut(assign.entity) {
        server.access.match_id.clone_from(&assign.match_id);
    }
}
