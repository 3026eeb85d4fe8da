//! Connections between apps, over UDP or over a channel within one process.

#[cfg(not(target_family = "wasm"))]
mod listening;

use core::time::Duration;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};

use bevy::prelude::*;
use bevy_unlag::{
    guard::{ConnectTokenRequest, ServerKey},
    prelude::*,
};
use checked_ron::OneLine;
use lightyear::prelude::*;

#[cfg(not(target_family = "wasm"))]
pub use listening::{
    bound_port, check_port_is_free, listen_udp, listen_udp_with_access, listen_udp_with_socket,
};

use crate::transport::ClientTransport;

/// UDP port of a server by default.
pub const DEFAULT_PORT: u16 = 5_000;
/// Netcode protocol id of this game. Versions of the game are compared separately, by
/// [`ProtocolMismatch`](bevy_unlag::net::ProtocolMismatch).
pub const PROTOCOL_ID: u64 = 0x756e_6c61_675f_6678;

/// Parses a server address: `host:port`, or a host alone, which gets [`DEFAULT_PORT`]. Port 0 is refused: a server's
/// port is known once it listens.
///
/// # Errors
/// Returns one line that says what is wrong and what to write instead.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, DEFAULT_PORT));
    }
    let shown = OneLine::name(text);
    let with_port = if text.contains(':') { text.to_owned() } else { format!("{text}:{DEFAULT_PORT}") };
    let found = with_port.to_socket_addrs().map_err(|error| {
        format!("'{shown}' is not an address ({error}); write one like 127.0.0.1:{DEFAULT_PORT}")
    })?;
    // A host name may resolve to both families, and a server without IPv6 listens on IPv4 only.
    let found: Vec<_> = found.collect();
    let best = found.iter().find(|address| address.is_ipv4()).or(found.first());
    let best = best.copied().ok_or_else(|| {
        format!("'{shown}' resolves to no address; write one like 127.0.0.1:{DEFAULT_PORT}")
    })?;
    if best.port() == 0 {
        return Err(format!(
            "'{shown}' has port 0, at which no server can be reached; write the port that the server prints, like \
             127.0.0.1:{DEFAULT_PORT}"
        ));
    }
    Ok(best)
}

/// Returns a random client id, unique for practical purposes.
#[must_use]
pub fn random_client_id() -> u64 {
    #[cfg(target_family = "wasm")]
    // The seed of std's hashes is always the same there.
    return getrandom_03::u64().unwrap_or(1);
    #[cfg(not(target_family = "wasm"))]
    {
        use std::hash::{BuildHasher, Hasher, RandomState};
        RandomState::new().build_hasher().finish()
    }
}

/// Connects to a development-mode server by the app's [`ClientTransport`], through a simulated link.
///
/// # Errors
/// Returns one line when the connect token cannot be created.
pub fn connect(app: &mut App, server: SocketAddr, client_id: u64, sim: NetSim) -> Result<(), String> {
    connect_with_token(app, development_client(server, client_id)?, sim);
    Ok(())
}

/// Connects to a server with a token by the app's [`ClientTransport`], through a simulated link.
pub fn connect_with_token(app: &mut App, client: TokenClient, sim: NetSim) {
    connect_in_world(app.world_mut(), client, sim);
}

/// Connects with a token from the world of a running app, by its [`ClientTransport`].
pub fn connect_in_world(world: &mut World, client: TokenClient, sim: NetSim) {
    let transport = world.get_resource::<ClientTransport>().cloned().unwrap_or_default();
    let server = PeerAddr(client.server());
    let mut link = world.spawn_empty();
    #[cfg(not(target_family = "wasm"))]
    if transport == ClientTransport::Udp {
        link.insert(LocalAddr(client.local_address()));
    }
    insert_transport(&mut link, &transport);
    let entity = link.insert((Client, client, server, sim)).id();
    world.trigger(Connect { entity });
    world.flush();
}

/// Inserts the component of a client's transport.
pub fn insert_transport(link: &mut EntityWorldMut<'_>, transport: &ClientTransport) {
    match transport {
        #[cfg(not(target_family = "wasm"))]
        ClientTransport::Udp => link.insert(UdpIo::default()),
        #[cfg(feature = "web")]
        ClientTransport::WebTransport(transport) => link.insert(transport.clone()),
        #[cfg(feature = "web")]
        ClientTransport::WebSocket(transport) => link.insert(transport.clone()),
    };
}

/// Returns the bytes of a hexadecimal text, such as a connect token in a link.
#[must_use]
pub fn parse_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| (digit as char).to_digit(16).map(|value| value as u8);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(byte).collect()
}

/// Starts a development-mode server that accepts in-process links; see [`join`].
pub fn listen_in_process(app: &mut App) -> Entity {
    bevy_unlag_testkit::listen(app, PROTOCOL_ID)
}

/// Joins a client app to a server app within one process, including the netcode handshake, through a
/// simulated link.
///
/// # Errors
/// Returns one line when the connect token cannot be created.
pub fn join(
    server_app: &mut App,
    server: Entity,
    client_app: &mut App,
    client_id: u64,
    sim: NetSim,
) -> Result<(), String> {
    bevy_unlag_testkit::join(server_app, server, client_app, (client_id, PROTOCOL_ID), sim)
        .map(drop)
        .map_err(|error| format!("cannot create a connect token: {error}"))
}

/// Joins like [`join`], with a time without a packet after which the connection ends.
pub(crate) fn join_with_timeout(
    server_app: &mut App,
    server: Entity,
    client_app: &mut App,
    (client_id, timeout): (u64, Duration),
    sim: NetSim,
) -> Result<(), String> {
    let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let token = development_client_with_timeout(address(DEFAULT_PORT), client_id, timeout)?;
    bevy_unlag_testkit::join_with_token(
        server_app,
        server,
        client_app,
        token,
        address(client_id as u16),
        sim,
    );
    Ok(())
}

/// Creates a development-mode token client, which may choose any client id.
pub(crate) fn development_client(server: SocketAddr, client_id: u64) -> Result<TokenClient, String> {
    TokenClient::development(client_id, server, PROTOCOL_ID)
        .map_err(|error| format!("cannot create a connect token: {error}"))
}

/// Creates a client like [`development_client`], with a time without a packet after which the connection ends.
pub(crate) fn development_client_with_timeout(
    server: SocketAddr,
    client_id: u64,
    timeout: Duration,
) -> Result<TokenClient, String> {
    let request = ConnectTokenRequest { timeout, ..ConnectTokenRequest::new(client_id, server, PROTOCOL_ID) };
    let token = request.issue(&ServerKey::development()).and_then(|token| TokenClient::new(&token));
    token.map_err(|error| format!("cannot create a connect token: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_address_returns_an_address_or_an_error_with_an_example() {
        assert_eq!(parse_address("127.0.0.1:7").map(|a| a.port()), Ok(7));
        assert_eq!(parse_address("127.0.0.1").map(|a| a.port()), Ok(DEFAULT_PORT));
        assert_eq!(parse_address("::1").map(|a| a.port()), Ok(DEFAULT_PORT));
        assert_eq!(parse_address("localhost:9").map(|a| a.is_ipv4()), Ok(true));
        let error = parse_address("not an address").unwrap_err();
        assert!(error.contains("127.0.0.1:5000"), "{error}");
        assert_eq!(parse_address("[::1]").map(|a| a.port()), Ok(DEFAULT_PORT));
        assert_eq!(parse_address("[::1]:7").map(|a| a.port()), Ok(7));
        let error = parse_address(&format!("\u{1b}[2J{}", "x".repeat(100_000))).unwrap_err();
        assert!(error.starts_with("'\\u{1b}[2Jxxx") && error.len() < 300, "{error}");
    }

    #[test]
    fn address_with_port_0_is_refused() {
        for text in ["127.0.0.1:0", "[::1]:0", "localhost:0", ":0"] {
            let error = parse_address(text).unwrap_err();
            assert!(error.contains(text) && error.contains("127.0.0.1:5000"), "{error}");
        }
    }
}
