//! Connections between lightyear apps of one process, by netcode over pairs of channels.

use std::net::{Ipv4Addr, SocketAddr};

use bevy::prelude::*;
use lightyear::{
    crossbeam::CrossbeamIo,
    prelude::{
        client::{NetcodeClient, NetcodeConfig},
        server::{self, NetcodeServer, Start},
        *,
    },
};

const PROTOCOL_ID: u64 = 64;
const KEY: [u8; 32] = *b"unlag_rivals bench, not a secret";

/// Starts a server that replicates to every link. Returns its entity.
pub fn listen(server: &mut App) -> Entity {
    server.add_observer(|link: On<Add, LinkOf>, mut commands: Commands| {
        commands.entity(link.entity).insert(ReplicationSender);
    });
    let netcode = server::NetcodeConfig {
        server_addr_check: false,
        ..server::NetcodeConfig::default().with_protocol_id(PROTOCOL_ID).with_key(KEY)
    };
    let listener = server.world_mut().spawn(NetcodeServer::new(netcode)).id();
    server.world_mut().trigger(Start { entity: listener });
    server.world_mut().flush();
    listener
}

/// Connects a client, whose `id` must be unique, by the server's and the client's end of a pair of channels.
///
/// # Errors
/// Returns a message if the connect token cannot be created.
pub fn connect(
    (server, listener): (&mut App, Entity),
    client: &mut App,
    id: u64,
    [server_io, client_io]: [CrossbeamIo; 2],
) -> Result<(), String> {
    let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let peer = PeerAddr(address(id as u16));
    server.world_mut().spawn((LinkOf { server: listener }, Link::default(), peer, Linked, server_io));
    let auth = Authentication::Manual {
        server_addr: address(1),
        client_id: id,
        private_key: KEY,
        protocol_id: PROTOCOL_ID,
    };
    let netcode = NetcodeClient::new(auth, NetcodeConfig::default())
        .map_err(|error| format!("cannot create a connect token: {error}"))?;
    let entity = client.world_mut().spawn((Client, netcode, ReplicationReceiver, client_io)).id();
    client.world_mut().trigger(Connect { entity });
    client.world_mut().flush();
    Ok(())
}
