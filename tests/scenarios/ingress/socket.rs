//! A server's socket: who gets a link, and for how long.

use core::time::Duration;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use bevy::time::TimeUpdateStrategy;
use lightyear::prelude::PeerAddr;
use unlag_examples::{
    app::{self, TICK},
    connection,
};

use super::*;

/// A server that listens, and where.
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

/// The same bytes, each time from another port.
fn from_ports(ports: usize, to: SocketAddr, bytes: &[u8]) -> Vec<UdpSocket> {
    let send = |_| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        socket.send_to(bytes, to).expect("it can be sent");
        socket
    };
    (0..ports).map(send).collect()
}

/// Links, and addresses that the socket knows.
fn known(server: &mut App) -> (usize, usize) {
    let world = server.world_mut();
    let links = world.query::<&Link>().iter(world).count();
    (links, world.query::<&ServerUdp>().single(world).expect("a socket").known())
}

/// A request that nobody's key has made.
fn foreign() -> Vec<u8> {
    [&[0][..], b"NETCODE 1.02\0", &[7; 1_064]].concat()
}

/// A request with a token that the server's key has made, as whoever has seen it can repeat it.
fn request(to: SocketAddr) -> Vec<u8> {
    let listener = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.set_nonblocking(true).expect("it does not block");
    let mut client = app::scripted_client(3, Default::default(), Default::default(), false);
    client.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    let through = listener.local_addr().expect("an address");
    connection::connect_udp(&mut client, through, 1, NetSim::new(1)).expect("it dials");
    bevy_unlag_testkit::finish(&mut client);
    let mut bytes = [0; 1_500];
    for _ in 0..100 {
        client.update();
        if let Ok(length) = listener.recv(&mut bytes) {
            assert!(length > 1_000 && to.port() != 0);
            return bytes[..length].to_vec();
        }
    }
    panic!("the client asks for nothing");
}

#[test]
fn junk_gets_no_link() {
    let (mut server, address) = server();
    let _sockets = from_ports(100, address, &[0x15; 64]);
    server.update();
    assert_eq!(known(&mut server), (0, 0));
    assert_eq!(stats(&server).refused.of(IngressRefusal::NotNetcode), 100);
    // More of this size than the operating system keeps by default would be lost before anybody saw them.
    let _sockets = from_ports(60, address, &foreign());
    server.update();
    assert_eq!(known(&mut server), (0, 0));
    assert_eq!(stats(&server).refused.of(IngressRefusal::ForeignToken), 60);
    // The control: without the filters each gets one.
    server.world_mut().resource_mut::<IngressLimits>().enabled = false;
    let _sockets = from_ports(100, address, &[0x15; 64]);
    server.update();
    assert_eq!(known(&mut server), (100, 100));
}

#[test]
fn requests_get_so_many_a_host_and_go_again() {
    let (mut server, address) = server();
    let _sockets = from_ports(60, address, &request(address));
    server.update();
    assert_eq!(known(&mut server), (32, 32), "of one host");
    assert_eq!(stats(&server).refused.of(IngressRefusal::ConnectionRequests), 28);
    run(&mut server, Duration::from_secs(6));
    assert_eq!(known(&mut server), (0, 0), "nothing is left of who never connects");
    // A host is free again.
    let _sockets = from_ports(1, address, &request(address));
    server.update();
    assert_eq!(known(&mut server), (1, 1));
}

// Elsewhere a machine has one name for itself.
#[cfg(target_os = "linux")]
#[test]
fn a_host_that_has_had_its_share_keeps_no_other_out() {
    let (mut server, address) = server();
    set_all(&mut server, |limits| {
        limits.connection_requests_per_second = 40.0;
        limits.burst = Duration::from_secs(1);
    });
    run(&mut server, Duration::from_millis(100));
    let _sockets = from_ports(60, address, &request(address));
    server.update();
    assert_eq!(known(&mut server), (32, 32));
    // Somebody else, in the same moment.
    let other = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).expect("another host");
    other.send_to(&request(address), address).expect("it is sent");
    server.update();
    let from = other.local_addr().expect("its address");
    let world = server.world_mut();
    assert!(world.query::<&PeerAddr>().iter(world).any(|peer| peer.0 == from));
}

#[test]
fn requests_get_so_many_a_second() {
    let (mut server, address) = server();
    set_all(&mut server, |limits| {
        limits.max_pending_per_host = usize::MAX;
        limits.connection_requests_per_second = 10.0;
        limits.burst = Duration::from_secs(1);
    });
    // A bucket is full at first, whatever its rate.
    run(&mut server, Duration::from_millis(100));
    let _sockets = from_ports(60, address, &request(address));
    server.update();
    assert_eq!(known(&mut server), (10, 10));
}

#[test]
fn a_frame_reads_so_many() {
    let (mut server, address) = server();
    set_all(&mut server, |limits| limits.datagrams_per_frame = 30);
    let _sockets = from_ports(70, address, &[0x15; 64]);
    for refused in [30, 60, 70, 70] {
        server.update();
        assert_eq!(stats(&server).refused.of(IngressRefusal::NotNetcode), refused);
    }
}

fn set_all(server: &mut App, set: impl FnOnce(&mut IngressLimits)) {
    set(&mut server.world_mut().resource_mut::<IngressLimits>());
}
