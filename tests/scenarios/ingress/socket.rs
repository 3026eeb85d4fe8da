//! UDP socket of the server: limits on links for unknown addresses (threat T4, rows F and LY-6).

use core::time::Duration;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use bevy::time::TimeUpdateStrategy;
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

/// Number of addresses that have asked to join and have not answered the challenge. None of them has a link.
fn pending(server: &mut App) -> usize {
    assert_eq!(link_counts(server), (0, 0), "an address that has proven nothing must not have a link");
    let world = server.world_mut();
    world.query::<&ServerUdp>().single(world).expect("a socket").pending()
}

/// Returns the datagrams that a socket has received so far.
fn received(socket: &UdpSocket) -> Vec<Vec<u8>> {
    socket.set_nonblocking(true).expect("a non-blocking socket");
    let mut bytes = [0; 1_500];
    core::iter::from_fn(|| socket.recv(&mut bytes).ok().map(|length| bytes[..length].to_vec())).collect()
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
    connection::connect(&mut client, through, 1, NetSim::new(1)).expect("the client connects");
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
fn requests_of_one_host_get_at_most_32_challenges_which_expire_and_no_link() {
    let (mut server, address) = server();
    let sockets = send_from_ports(60, address, &request(address));
    server.update();
    assert_eq!(pending(&mut server), 32, "addresses of one host");
    assert_eq!(stats(&server).refused.of(IngressRefusal::ConnectionRequests), 28);
    let answers: Vec<_> = sockets.iter().flat_map(received).collect();
    // A challenge is netcode's packet of kind 2, and a third of the request's length at most.
    assert_eq!(answers.len(), 32);
    assert!(answers.iter().all(|answer| answer[0] & 15 == 2 && answer.len() < 360));
    run(&mut server, Duration::from_secs(1));
    assert_eq!(stats(&server).pending, 32);
    run(&mut server, Duration::from_secs(5));
    assert_eq!(pending(&mut server), 0, "addresses that never answer must expire");
    assert_eq!(stats(&server).forgotten, 32);
    // The host's share is free again.
    let _sockets = send_from_ports(1, address, &request(address));
    server.update();
    assert_eq!(pending(&mut server), 1);
}

#[test]
fn junk_in_place_of_an_answer_gets_no_link() {
    let (mut server, address) = server();
    let sockets = send_from_ports(1, address, &request(address));
    server.update();
    let challenge = received(&sockets[0]).pop().expect("a challenge");
    // The challenge itself, as if it were a response; a response of zeros; a keep-alive.
    let as_response = [&[challenge[0] & 0xF0 | 3][..], &challenge[1..]].concat();
    for junk in [&as_response[..], &[0x83; 333], &[0x15; 64]] {
        sockets[0].send_to(junk, address).expect("the datagram can be sent");
        server.update();
        assert_eq!(pending(&mut server), 1);
    }
    assert_eq!(stats(&server).refused.of(IngressRefusal::NotNetcode), 3);
}

#[test]
fn repeated_request_gets_the_same_challenge_as_often_as_the_limit_allows() {
    let (mut server, address) = server();
    set_all(&mut server, |limits| {
        limits.pending_datagrams_per_second = 10.0;
        limits.burst = Duration::from_secs(2);
    });
    let (request, other) = (request(address), request(address));
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    for _ in 0..60 {
        socket.send_to(&request, address).expect("the datagram can be sent");
        server.update();
    }
    let challenges = received(&socket);
    assert!((20..40).contains(&challenges.len()), "{} challenges", challenges.len());
    assert!(challenges.iter().all(|challenge| *challenge == challenges[0]));
    assert_eq!(stats(&server).refused.of(IngressRefusal::Datagrams), 60 - challenges.len() as u64);
    // The first of two tokens counts.
    run(&mut server, Duration::from_millis(500));
    socket.send_to(&other, address).expect("the datagram can be sent");
    server.update();
    assert_eq!((received(&socket).len(), pending(&mut server)), (0, 1));
}

#[test]
fn newest_addresses_without_an_answer_displace_the_oldest() {
    let (mut server, address) = server();
    set_all(&mut server, |limits| limits.max_pending = 8);
    let request = request(address);
    for _ in 0..5 {
        let _sockets = send_from_ports(5, address, &request);
        server.update();
    }
    assert_eq!(pending(&mut server), 8);
    run(&mut server, Duration::from_millis(100));
    assert_eq!(stats(&server).forgotten, 17);
}

// Only Linux accepts any address in 127.0.0.0/8 as a second host.
#[cfg(target_os = "linux")]
#[test]
fn host_at_its_limit_does_not_block_another_host() {
    let (mut server, address) = server();
    set_all(&mut server, |limits| {
        limits.connection_requests_per_second = 40.0;
        limits.burst = Duration::from_secs(1);
    });
    run(&mut server, Duration::from_millis(100));
    let _sockets = send_from_ports(60, address, &request(address));
    server.update();
    assert_eq!(pending(&mut server), 32);
    // Another host at the same time.
    let other = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).expect("another host");
    other.send_to(&request(address), address).expect("the request is sent");
    server.update();
    assert_eq!((pending(&mut server), received(&other).len()), (33, 1));
}

/// Hosts of 127.0.0.0/8 stand for forged addresses; only Linux has them all.
#[cfg(target_os = "linux")]
#[test]
fn token_shown_from_many_hosts_does_not_block_another_token() {
    let (mut server, address) = server();
    run(&mut server, Duration::from_millis(100));
    let one_token = request(address);
    let from_host = |host: u8, request: &[u8]| {
        let socket = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, host), 0)).expect("another host");
        socket.send_to(request, address).expect("the request is sent");
        socket
    };
    let _forged: Vec<_> = (2..=41).map(|host| from_host(host, &one_token)).collect();
    server.update();
    assert_eq!(pending(&mut server), 32);
    let other = from_host(50, &request(address));
    server.update();
    assert_eq!((pending(&mut server), received(&other).len()), (33, 1));
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
    assert_eq!(pending(&mut server), 10);
}

#[test]
fn datagrams_that_arrive_while_the_app_stands_still_wait_for_it() {
    let (mut server, address) = server();
    // More than strangers' share of the queue, and eight times what the default receive buffer of Linux holds.
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    for _ in 0..300 {
        for _ in 0..8 {
            socket.send_to(&[0x15; 64], address).expect("the datagram can be sent");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    for _ in 0..4 {
        server.update();
    }
    let stats = stats(&server);
    let [passed, dropped] =
        [IngressRefusal::NotNetcode, IngressRefusal::StrangerQueue].map(|refusal| stats.refused.of(refusal));
    assert!((1_000..=2_048).contains(&passed), "{passed} have waited; strangers' share is 2,048");
    assert!((2_300..=2_400).contains(&(passed + dropped)), "{dropped} were dropped and counted");
    assert_eq!((stats.queued, stats.refused.of(IngressRefusal::Queue)), (0, 0));
    assert_eq!(link_counts(&mut server), (0, 0));
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
