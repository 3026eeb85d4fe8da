//! Closing one connection for good. lightyear's own disconnect only forgets the link, and netcode keeps the
//! client id occupied until the token's timeout.

use bevy::prelude::*;
use lightyear::{
    connection::client::Disconnecting,
    link::{Link, RecvPayload},
};

use super::netcode_packets::{DISCONNECT, PacketKey, PrivateTokenData};

/// Sequence number of our disconnect packets. netcode numbers a client's packets from 0 and a server's from
/// 2^62: this is far beyond both, and below the limit of the filters.
const DISCONNECT_SEQUENCE: u64 = (1 << 62) + (1 << 40);
/// Number of copies to the client; one of them should arrive.
const DISCONNECT_COPIES: u64 = 5;

/// Keys of a session, from the token that opened it.
#[derive(Component)]
pub(super) struct SessionKeys {
    pub to_server: PacketKey,
    pub to_client: PacketKey,
}

impl SessionKeys {
    pub fn new(protocol: u64, private: &PrivateTokenData) -> Self {
        let key = |key| PacketKey { key, protocol };
        Self { to_server: key(private.to_server), to_client: key(private.to_client) }
    }
}

/// On a server's link: closes its connection, and netcode forgets the client, so that it can join again at once.
#[derive(Component, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseSession {
    /// By the server: the client is to be informed.
    #[default]
    New,
    /// By the server: the client has been informed.
    Told,
    /// By the client, whose session has ended. What it has sent before is still read. Without an effect where the keys
    /// of its token are unknown.
    ByClient,
}

/// Sends disconnect packets to the client. Runs after netcode has written.
pub(super) fn send_disconnect(mut links: Query<(&mut Link, &SessionKeys, &mut CloseSession)>) {
    for (mut link, keys, mut hang_up) in &mut links {
        if *hang_up != CloseSession::New {
            continue;
        }
        *hang_up = CloseSession::Told;
        for number in DISCONNECT_SEQUENCE..DISCONNECT_SEQUENCE + DISCONNECT_COPIES {
            if let Some(packet) = keys.to_client.seal(DISCONNECT, number, &[]) {
                link.send.push(packet.into());
            }
        }
    }
}

/// Simulates the client's disconnect packet. Runs after the filters and before netcode reads.
pub(super) fn close(
    mut links: Query<(Entity, &mut Link, Option<&SessionKeys>, &CloseSession)>,
    mut commands: Commands,
) {
    for (entity, mut link, keys, hang_up) in &mut links {
        let is_by_client = *hang_up == CloseSession::ByClient;
        if !is_by_client && (keys.is_none() || *hang_up == CloseSession::Told) {
            commands.entity(entity).try_insert(Disconnecting);
        }
        let Some(keys) = keys.filter(|_| *hang_up != CloseSession::New) else { continue };
        if !is_by_client {
            link.recv.drain();
        }
        if let Some(packet) = keys.to_server.seal(DISCONNECT, DISCONNECT_SEQUENCE, &[]) {
            link.recv.push_raw(RecvPayload::from(&packet[..]));
        }
    }
}
