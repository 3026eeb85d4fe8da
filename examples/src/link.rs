//! Connecting apps: over UDP, or over a channel within one process.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use lightyear::{
    crossbeam::CrossbeamIo,
    prelude::{server::Start, *},
};

/// Where a server listens when nothing else is said.
pub const DEFAULT_PORT: u16 = 5_000;
/// Names this game to netcode; what versions speak is compared after that, by name.
pub const PROTOCOL_ID: u64 = 0x756e_6c61_675f_6678;

/// Reads an address: `host:port`, or a host alone.
///
/// # Errors
/// One line that says what is wrong and what to write instead.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, DEFAULT_PORT));
    }
    let with_port = if text.contains(':') { text.to_owned() } else { format!("{text}:{DEFAULT_PORT}") };
    let found = with_port.to_socket_addrs().map_err(|error| {
        format!("cannot make an address of '{text}' ({error}); write one like 127.0.0.1:{DEFAULT_PORT}")
    })?;
    // The server listens on IPv4; a name may stand for both.
    let found: Vec<_> = found.collect();
    let best = found.iter().find(|address| address.is_ipv4()).or(found.first());
    best.copied()
        .ok_or_else(|| format!("'{text}' resolves to no address; write one like 127.0.0.1:{DEFAULT_PORT}"))
}

/// Makes sure that a server could listen on `port`; 0 takes any free one. Returns the port.
///
/// # Errors
/// One line that says why not and what to do.
pub fn free_port(port: u16) -> Result<u16, String> {
    UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).and_then(|socket| socket.local_addr()).map_or_else(
        |error| Err(format!("cannot listen on UDP port {port} ({error}); choose another one with --port")),
        |address| Ok(address.port()),
    )
}

/// Starts to listen on UDP, in development mode; 0 takes any free port. Check with [`bound_port`] after a frame.
pub fn listen_udp(app: &mut App, port: u16) {
    listen_udp_as(app, port, &ServerAccess::development(PROTOCOL_ID));
}

/// Starts to listen on UDP for those who may.
pub fn listen_udp_as(app: &mut App, port: u16, access: &ServerAccess) {
    let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    let server = app.world_mut().spawn((access.server(), LocalAddr(address), ServerUdp::default())).id();
    app.world_mut().trigger(Start { entity: server });
    app.world_mut().flush();
}

/// The port that a server listens on, once it does.
pub fn bound_port(world: &mut World) -> Option<u16> {
    let mut servers = world.query_filtered::<&LocalAddr, (With<ServerUdp>, With<Linked>)>();
    servers.iter(world).next().map(|address| address.0.port())
}

/// A name for one connection that nobody else has.
#[must_use]
pub fn random_client_id() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

/// Starts to dial a server in development mode over UDP, through a simulated link.
///
/// # Errors
/// One line when the connect token cannot be made.
pub fn dial_udp(app: &mut App, server: SocketAddr, client_id: u64, sim: NetSim) -> Result<(), String> {
    dial_udp_as(app, anybody(server, client_id)?, sim);
    Ok(())
}

/// Starts to dial a server over UDP with a token, through a simulated link.
pub fn dial_udp_as(app: &mut App, client: TokenClient, sim: NetSim) {
    dial_udp_in(app.world_mut(), client, sim);
}

/// The same in an app that runs.
pub(crate) fn dial_udp_in(world: &mut World, client: TokenClient, sim: NetSim) {
    let server = client.server();
    let local = match server {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let link = world.spawn((Client, client, UdpIo::default(), LocalAddr(local), PeerAddr(server), sim)).id();
    world.trigger(Connect { entity: link });
    world.flush();
}

/// Starts a server in development mode that takes in-process links; see [`join`].
pub fn listen_in_process(app: &mut App) -> Entity {
    listen_in_process_as(app, &ServerAccess::development(PROTOCOL_ID))
}

/// Starts a server that takes in-process links of those who may; see [`join_as`].
pub fn listen_in_process_as(app: &mut App, access: &ServerAccess) -> Entity {
    let server = app.world_mut().spawn(access.server()).id();
    app.world_mut().trigger(Start { entity: server });
    app.world_mut().flush();
    server
}

/// Joins a client app to a server app within one process, netcode and all, through a simulated
/// link.
///
/// # Errors
/// One line when the connect token cannot be made.
pub fn join(
    server_app: &mut App,
    server: Entity,
    client_app: &mut App,
    client_id: u64,
    sim: NetSim,
) -> Result<(), String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, client_id as u16));
    let client = anybody(SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)), client_id)?;
    join_as(server_app, server, client_app, client, address, sim);
    Ok(())
}

/// Joins a client app with a token to a server app within one process, as if from this address. Returns the client's
/// link.
pub fn join_as(
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

/// In development mode anybody may say who it is.
pub(crate) fn anybody(server: SocketAddr, client_id: u64) -> Result<TokenClient, String> {
    TokenClient::development(client_id, server, PROTOCOL_ID)
        .map_err(|error| format!("cannot make a connect token: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_or_explained() {
        assert_eq!(parse_address("127.0.0.1:7").map(|a| a.port()), Ok(7));
        assert_eq!(parse_address("127.0.0.1").map(|a| a.port()), Ok(DEFAULT_PORT));
        assert_eq!(parse_address("::1").map(|a| a.port()), Ok(DEFAULT_PORT));
        assert_eq!(parse_address("localhost:9").map(|a| a.is_ipv4()), Ok(true));
        let error = parse_address("not an address").unwrap_err();
        assert!(error.contains("127.0.0.1:5000"), "{error}");
    }

    #[test]
    fn a_taken_port_is_explained() {
        let taken = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a free port");
        let port = taken.local_addr().expect("an address").port();
        let error = free_port(port).unwrap_err();
        assert!(error.contains("--port"), "{error}");
    }
}
