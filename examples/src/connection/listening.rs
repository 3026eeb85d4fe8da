//! Servers that listen for UDP, and for the transports of browsers.

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::net::UdpSocket;

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use lightyear::prelude::{server::Start, *};

use super::PROTOCOL_ID;
use crate::transport::ServerListeners;

/// Checks that a server could listen on `port`; 0 takes any free one. Returns the port.
///
/// # Errors
/// Returns one line that says why not and what to do.
pub fn check_port_is_free(port: u16) -> Result<u16, String> {
    UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).and_then(|socket| socket.local_addr()).map_or_else(
        |error| Err(format!("cannot listen on UDP port {port} ({error}); choose another one with --port")),
        |address| Ok(address.port()),
    )
}

/// Starts a development-mode server on UDP; 0 takes any free port. Check with [`bound_port`] after a frame.
pub fn listen_udp(app: &mut App, port: u16) {
    listen_udp_with_access(app, port, &ServerAccess::development(PROTOCOL_ID));
}

/// Starts a server on UDP that admits clients according to `access`, over IPv6 and IPv4, or over IPv4 only where the
/// system has no IPv6.
pub fn listen_udp_with_access(app: &mut App, port: u16, access: &ServerAccess) {
    listen_udp_with_socket(app, port, access, ServerUdp::default());
}

/// Starts a server like [`listen_udp_with_access`] on a socket with other settings, with its [`ServerListeners`] if
/// there are any.
pub fn listen_udp_with_socket(app: &mut App, port: u16, access: &ServerAccess, socket: ServerUdp) {
    let address = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    let listeners = app.world_mut().remove_resource::<ServerListeners>();
    let mut server = app.world_mut().spawn((access.server(), LocalAddr(address), socket));
    if let Some(listeners) = listeners {
        listeners.add_to(&mut server);
    }
    let entity = server.id();
    app.world_mut().trigger(Start { entity });
    app.world_mut().flush();
}

/// Returns the UDP port of a server once it is bound.
pub fn bound_port(world: &mut World) -> Option<u16> {
    let mut servers = world.query_filtered::<&LocalAddr, (With<ServerUdp>, With<Linked>)>();
    servers.iter(world).next().map(|address| address.0.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_free_port_is_found() {
        assert_eq!(check_port_is_free(0).map(|port| port == 0), Ok(false));
    }

    #[test]
    fn free_port_error_for_a_taken_port_names_the_port_option() {
        let taken = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a free port");
        let port = taken.local_addr().expect("an address").port();
        let error = check_port_is_free(port).unwrap_err();
        assert!(error.contains("--port"), "{error}");
    }
}
