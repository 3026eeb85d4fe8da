//! UDP socket of the server: limits on links for unknown addresses (threat T4, rows F and LY-6).

use core::time::Duration;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use bevy::time::TimeUpdateStrategy;
use lightyear::prelude::PeerAddr;
use unlag_examples::{
    app::{self, TICK},
    connection,
};

use super::*;

/// Starts a listening server and returns its address.
fn server() -> (App, SocketAddr) {
    let mut server = app::server(Default::default());
    server.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    connection::listen_udp(&mut server, 0);
    bevy_unlag_testkit::finish(&mut server);
    server.update();
    let port = connection::bound_port(server.world_mut()).expect("a port");
    (server, SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
}

fn run(server: &mut App, time: Duration) {
    for _ in 0..time.as_nanos() / TICK.as_nanos() {
        server.update();
    }
}

/// Sends `bytes` once from each of `ports` ports.
fn send_from_ports(ports: usize, to: SocketAddr, bytes: &[u8]) -> Vec<UdpSocket> {
    let send = |_| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        socket.send_to(bytes, to).expect("the datagram can be sent");
        socket
    };
    (0..ports).map(send).collect()
}

/// Number of links, and of addresses that the socket knows.
fn link_counts(server: &mut App) -> (usize, usize) {
    let world = server.world_mut();
    let links = world.query::<&Link>().iter(world).count();
    (links, world.query::<&ServerUdp>().single(world).expect("a socket").known())
}

/// A connection request whose token no known key has encrypted.
fn foreign_request() -> Vec<u8> {
    [&[0][..], b"NETCODE 1.02\0", &[7; 1_064]].concat()
}

/// A connection request with a valid token, as an eavesdropper can replay it.
fn request(to: SocketAddr) -> Vec<u8> {
    let listener = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.set_nonblocking(true).expect("a non-blocking socket");
    let mut client = app::scripted_client(3, Default::default());
    client.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    let through = listener.local_addr().expect("an address");
    connection::connect_udp(&mut client, through, 1, NetSim::new(1)).expect("the client connects");
    bevy_unlag_testkit::finish(&mut client);
    let mut bytes = [0; 1_500];
    for _ in 0..100 {
        client.update();
        if let Ok(length) = listener.recv(&mut bytes) {
            assert!(length > 1_000 && to.port() != 0);
            return bytes[..length].to_vec();
        }
    }
    panic!("the client sends no connection request");
}

#[test]
fn junk_datagrams_and_foreign_requests_get_no_link() {
    let (mut server, address) = server();
    let _sockets = send_from_ports(100, address, &[0x15; 64]);
    server.update();
    assert_eq!(link_counts(&mut server), (0, 0));
    assert_eq!(stats(&server).refused.of(IngressRefusal::NotNetcode), 100);
    // No more than the operating system's default receive buffer holds at this size.
    let _sockets = send_from_ports(60, address, &foreign_request());
    server.update();
    assert_eq!(link_counts(&mut server), (0, 0));
    assert_eq!(stats(&server).refused.of(IngressRefusal::ForeignToken), 60);
    // Control: without the filters each address gets a link.
    server.world_mut().resource_mut::<IngressLimits>().enabled = false;
    let _sockets = send_from_ports(100, address, &[0x15; 64]);
    server.update();
    assert_eq!(link_counts(&mut server), (100, 100));
}

#[test]
fn requests_of_one_host_get_at_most_32_links_which_expire() {
    let (mut server, address) = server();
    let _sockets = send_from_ports(60, address, &request(address));
    server.update();
    assert_eq!(link_counts(&mut server), (32, 32), "links of one host");
    assert_eq!(stats(&server).refused.of(IngressRefusal::ConnectionRequests), 28);
    run(&mut server, Duration::from_secs(6));
    assert_eq!(link_counts(&mut server), (0, 0), "links that never connect must expire");
    // The host's share is free again.
    let _sockets = send_from_ports(1, address, &request(address));
    server.update();
    assert_eq!(link_counts(&mut server), (1, 1));
}

// Only Linux accepts any address in 127.0.0.0/8 as a second host.
#[cfg(target_os = "linux")]
#[test]
fn host_at_its_link_limit_does_not_block_another_host() {
    let (mut server, address) = server();
    set_all(&mut server, |limits| {
        limits.connection_requests_per_second = 40.0;
        limits.burst = Duration::from_secs(1);
    });
    run(&mut server, Duration::from_millis(100));
    let _sockets = send_from_ports(60, address, &request(address));
    server.update();
    assert_eq!(link_counts(&mut server), (32, 32));
    // Another host at the same time.
    let other = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).expect("another host");
    other.send_to(&request(address), address).expect("the request is sent");
    server.update();
    let from = other.local_addr().expect("its address");
    let world = server.world_mut();
    assert!(world.query::<&PeerAddr>().iter(world).any(|peer| peer.0 == from));
}

#[test]
fn connection_requests_are_limited_per_second() {
    let (mut server, address) = server();
    set_all(&mut server, |limits| {
        limits.max_pending_per_host = usize::MAX;
        limits.connection_requests_per_second = 10.0;
        limits.burst = Duration::from_secs(1);
    });
    // Token buckets start full, whatever their rate.
    run(&mut server, Duration::from_millis(100));
    let _sockets = send_from_ports(60, address, &request(address));
    server.update();
    assert_eq!(link_counts(&mut server), (10, 10));
}

#[test]
fn socket_reads_at_most_the_configured_datagrams_per_frame() {
    let (mut server, address) = server();
    set_all(&mut server, |limits| limits.datagrams_per_frame = 30);
    let _sockets = send_from_ports(70, address, &[0x15; 64]);
    for refused in [30, 60, 70, 70] {
        server.update();
        assert_eq!(stats(&server).refused.of(IngressRefusal::NotNetcode), refused);
    }
}

fn set_all(server: &mut App, set: impl FnOnce(&mut IngressLimits)) {
    set(&mut server.world_mut().resource_mut::<IngressLimits>());
}
