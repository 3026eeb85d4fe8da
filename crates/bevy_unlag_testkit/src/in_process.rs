//! Connections between apps of one process, with netcode's handshake and a simulated link.

use std::net::{Ipv4Addr, SocketAddr};

use bevy::prelude::*;
use bevy_unlag_lightyear::NetSim;
use lightyear::{
    crossbeam::CrossbeamIo,
    prelude::{server::Start, *},
};
use lightyear_guard::{ServerAccess, TokenClient, TokenError};

/// Address that an in-process server seems to have.
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 5_000);

/// Starts a development-mode server that accepts in-process links. Returns its entity, for [`join`]. `game`
/// is netcode's protocol id: any number that both sides know.
pub fn listen(app: &mut App, game: u64) -> Entity {
    listen_with_access(app, &ServerAccess::development(game))
}

/// Starts a server that accepts in-process links according to `access`. Returns its entity, for
/// [`join_with_token`].
pub fn listen_with_access(app: &mut App, access: &ServerAccess) -> Entity {
    let server = app.world_mut().spawn(access.server()).id();
    app.world_mut().trigger(Start { entity: server });
    app.world_mut().flush();
    server
}

/// Joins a client app to a server app that [`listen`]s, through a simulated link. Returns the client's link
/// entity.
///
/// # Errors
/// The connect token cannot be created.
pub fn join(
    server_app: &mut App,
    server: Entity,
    client_app: &mut App,
    (client_id, game): (u64, u64),
    sim: NetSim,
) -> Result<Entity, TokenError> {
    let client = TokenClient::development(client_id, SERVER, game)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, client_id as u16));
    Ok(join_with_token(server_app, server, client_app, client, address, sim))
}

/// Joins a client app to a server app with a token, as if from this address. Returns the client's link
/// entity.
pub fn join_with_token(
    server_app: &mut App,
    server: Entity,
    client_app: &mut App,
    client: TokenClient,
    address: SocketAddr,
    sim: NetSim,
) -> Entity {
    let (client_io, server_io) = CrossbeamIo::new_pair();
    server_app.world_mut().spawn((LinkOf { server }, Link::default(), PeerAddr(address), Linked, server_io));
    let link = client_app.world_mut().spawn((Client, client, client_io, sim)).id();
    client_app.world_mut().trigger(Connect { entity: link });
    client_app.world_mut().flush();
    link
}
