//! Opening of a server's UDP socket: both address families, and a large receive buffer.

use std::{
    io::{self, ErrorKind},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
};

/// Sizes of the receive buffer that are asked for, in bytes. Linux grants up to `net.core.rmem_max` of the first one;
/// other systems refuse what is too much.
#[cfg(not(target_family = "wasm"))]
const RECEIVE_BUFFERS: [usize; 3] = [4 << 20, 1 << 20, 512 << 10];

/// A bound socket that does not block.
pub(super) struct BoundSocket {
    pub socket: UdpSocket,
    /// Its address, with the port that the system has chosen.
    pub address: SocketAddr,
    /// Size of its receive buffer in bytes, as the system counts it; 0 where that is unknown.
    pub receive_buffer: usize,
    /// Reason for which it listens on IPv4 although all IPv6 addresses were asked for.
    pub without_ipv6: Option<io::Error>,
}

/// Binds a socket. `[::]` is both address families, and IPv4 only on systems without IPv6.
///
/// # Errors
/// The system's error if the address cannot be bound.
pub(super) fn open(address: SocketAddr, large_buffer: bool) -> io::Result<BoundSocket> {
    let (bound, without_ipv6) = bind_or_ipv4(address, |address| bind(address, large_buffer))?;
    Ok(BoundSocket { without_ipv6, ..bound })
}

/// Binds with `bind`. Where `[::]` cannot be bound because the system has no IPv6, it binds all IPv4 addresses, and
/// returns the reason.
///
/// # Errors
/// The system's error if the address cannot be bound.
pub(crate) fn bind_or_ipv4<T>(
    address: SocketAddr,
    bind: impl Fn(SocketAddr) -> io::Result<T>,
) -> io::Result<(T, Option<io::Error>)> {
    match bind(address) {
        Err(error)
            if is_any_ipv6(address)
                && !matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied) =>
        {
            let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()));
            Ok((bind(address)?, Some(error)))
        }
        bound => Ok((bound?, None)),
    }
}

/// Whether it is `[::]`, which is both address families.
pub(crate) fn is_any_ipv6(address: SocketAddr) -> bool {
    address.ip() == IpAddr::from(Ipv6Addr::UNSPECIFIED)
}

#[cfg(not(target_family = "wasm"))]
fn bind(address: SocketAddr, large_buffer: bool) -> io::Result<BoundSocket> {
    use socket2::{Domain, Protocol, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if is_any_ipv6(address) {
        // The default differs by system.
        socket.set_only_v6(false)?;
    }
    if large_buffer {
        // A system that grants none of them keeps its own size.
        let _ = RECEIVE_BUFFERS.into_iter().find(|size| socket.set_recv_buffer_size(*size).is_ok());
    }
    let receive_buffer = socket.recv_buffer_size().unwrap_or(0);
    socket.bind(&address.into())?;
    socket.set_nonblocking(true)?;
    let socket = UdpSocket::from(socket);
    Ok(BoundSocket { address: socket.local_addr()?, socket, receive_buffer, without_ipv6: None })
}

#[cfg(target_family = "wasm")]
fn bind(address: SocketAddr, _: bool) -> io::Result<BoundSocket> {
    let socket = UdpSocket::bind(address)?;
    socket.set_nonblocking(true)?;
    Ok(BoundSocket { address: socket.local_addr()?, socket, receive_buffer: 0, without_ipv6: None })
}

/// Returns an address as limits and logs know it. A socket for both address families has IPv4 senders as IPv4-mapped
/// IPv6 addresses, `[::ffff:203.0.113.7]:5000`.
pub(crate) fn unmapped(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V6(v6) => {
            v6.ip().to_ipv4_mapped().map_or(address, |ip| SocketAddr::from((ip, v6.port())))
        }
        SocketAddr::V4(_) => address,
    }
}

/// Returns an address as a socket of this family sends to it: the opposite of [`unmapped`].
pub(super) fn mapped(address: SocketAddr, socket_is_ipv6: bool) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if socket_is_ipv6 => SocketAddr::from((v4.ip().to_ipv6_mapped(), v4.port())),
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_address_is_ipv4_for_limits_and_ipv6_for_the_socket() {
        let address = |text: &str| text.parse::<SocketAddr>().expect("an address");
        let (v4, mapped_v4) = (address("203.0.113.7:5000"), address("[::ffff:203.0.113.7]:5000"));
        assert_eq!(unmapped(mapped_v4), v4);
        assert_eq!(mapped(v4, true), mapped_v4);
        assert_eq!((unmapped(v4), mapped(v4, false)), (v4, v4));
        // A link-local address means nothing without its interface.
        let v6 = SocketAddr::V6(std::net::SocketAddrV6::new(Ipv6Addr::LOCALHOST, 5_000, 0, 3));
        assert_eq!((unmapped(v6), mapped(v6, true)), (v6, v6));
    }

    #[test]
    fn socket_on_all_addresses_receives_from_both_families() {
        let bound = open(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)), true).expect("a socket");
        let port = bound.address.port();
        let mut hosts = vec![IpAddr::from(Ipv4Addr::LOCALHOST)];
        // Machines without IPv6 are served on IPv4.
        if bound.without_ipv6.is_none() && UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
            hosts.push(IpAddr::from(Ipv6Addr::LOCALHOST));
        }
        bound.socket.set_nonblocking(false).expect("a blocking socket");
        bound.socket.set_read_timeout(Some(core::time::Duration::from_secs(10))).expect("a timeout");
        for host in hosts {
            let client = UdpSocket::bind((host, 0)).expect("a port");
            client.send_to(b"to", (host, port)).expect("it is sent");
            let mut bytes = [0; 8];
            let (_, from) = bound.socket.recv_from(&mut bytes).expect("it arrives");
            let from = unmapped(from);
            assert_eq!(from, client.local_addr().expect("an address"));
            let back = mapped(from, bound.address.is_ipv6());
            bound.socket.send_to(b"back", back).expect("it is sent");
            client.set_read_timeout(Some(core::time::Duration::from_secs(10))).expect("a timeout");
            assert_eq!(client.recv(&mut bytes).expect("it arrives"), 4);
        }
    }

    #[test]
    fn port_in_use_is_an_error_and_no_reason_to_listen_on_ipv4_only() {
        let bound = open(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)), true).expect("a socket");
        let again = open(SocketAddr::from((Ipv6Addr::UNSPECIFIED, bound.address.port())), true);
        assert_eq!(again.err().map(|error| error.kind()), Some(ErrorKind::AddrInUse));
    }
}
