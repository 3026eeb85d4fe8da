//! Log lines about refused joins.

use core::net::SocketAddr;

use bevy::{log::tracing::field::DisplayValue, prelude::*};
use lightyear::{
    netcode::{Error as NetcodeError, NetcodeServerError},
    prelude::{PeerAddr, PeerId},
};

use super::{JoinRefusal, TokenStats};
use crate::log_lines::{LogConfig, REFUSALS, client_name};

/// On a link: its refused join was logged. Clients repeat their request ten times a second.
#[derive(Component)]
pub(crate) struct LoggedRefusal;

/// Logs a refused join.
pub(super) fn log_refused_join(
    peer: PeerId,
    address: Option<DisplayValue<SocketAddr>>,
    refusal: JoinRefusal,
) {
    warn!(target: REFUSALS, client = %client_name(peer), address, reason = refusal.name(), "join refused");
}

/// Counts the requests that netcode refuses because the server is full, and logs each refused join once.
pub(crate) fn log_full_server(
    errors: Option<MessageReader<NetcodeServerError>>,
    links: Query<Option<&PeerAddr>, Without<LoggedRefusal>>,
    config: Res<LogConfig>,
    mut stats: ResMut<TokenStats>,
    mut commands: Commands,
) {
    let Some(mut errors) = errors else { return };
    for error in errors.read() {
        let NetcodeError::ServerIsFull(peer) = error.error else { continue };
        stats.count(JoinRefusal::Full);
        let Ok(address) = links.get(error.client_entity) else { continue };
        log_refused_join(peer, config.address(address), JoinRefusal::Full);
        commands.entity(error.client_entity).try_insert(LoggedRefusal);
    }
}
