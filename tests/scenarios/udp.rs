//! Matches and connection errors over real UDP sockets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use bevy_unlag::link_conditioner::LinkConditions;
use rand::{Rng, SeedableRng, rngs::SmallRng};
use unlag_examples::{
    app::ServerOptions,
    connection,
    udp_match::{self, PlayerOptions, ServerThread},
};

fn player(number: u64) -> PlayerOptions {
    PlayerOptions { player: number, seed: number, ..Default::default() }
}

#[test]
fn udp_fight_has_at_least_95_percent_hit_agreement() {
    let report = udp_match::play_match(3, 4.0, LinkConditions::PERFECT, 9, ServerOptions::default(), None)
        .unwrap_or_else(|line| panic!("{line}"));
    for player in &report.players {
        assert!(player.moves > 100 && player.acks > 50, "{}", report.table());
    }
    let total = report.total();
    assert!(total.agreed * 100 >= total.drawn * 95, "{}", report.table());
}

#[test]
fn client_joins_over_ipv6_and_another_over_ipv4() {
    let server = ServerThread::start(0, ServerOptions::default()).unwrap_or_else(|line| panic!("{line}"));
    let mut hosts = vec![IpAddr::from(Ipv4Addr::LOCALHOST)];
    // Not on machines without IPv6.
    hosts.extend(
        UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok().then_some(IpAddr::from(Ipv6Addr::LOCALHOST)),
    );
    let play = |(number, host)| {
        let address = SocketAddr::new(host, server.address.port());
        std::thread::spawn(move || udp_match::play(address, player(number), 1.0))
    };
    let players: Vec<_> = (1..).zip(hosts).map(play).collect();
    for played in players {
        let report = played.join().expect("no panic").unwrap_or_else(|line| panic!("{line}"));
        assert!(report.moves > 50 && report.acks > 20, "{report:?}");
    }
}

#[test]
fn junk_datagrams_leave_the_server_running() {
    let server = ServerThread::start(0, ServerOptions::default()).unwrap_or_else(|line| panic!("{line}"));
    let mut rng = SmallRng::seed_from_u64(1);
    let sockets: Vec<_> = (0..8).filter_map(|_| UdpSocket::bind(("127.0.0.1", 0)).ok()).collect();
    assert!(!sockets.is_empty());
    for i in 0..4_000_usize {
        // Random lengths and bytes, and now and then the length of a connection request.
        let length = if i % 7 == 0 { 1_078 } else { rng.random_range(0..1_400) };
        let mut bytes: Vec<u8> = (0..length).map(|_| rng.random()).collect();
        if let Some(first) = bytes.first_mut() {
            *first = match i % 3 {
                0 => 0,
                1 => rng.random_range(0..8_u8) | rng.random_range(0..16_u8) << 4,
                _ => rng.random(),
            };
        }
        let _ = sockets[i % sockets.len()].send_to(&bytes, server.address);
        if i % 64 == 0 {
            std::thread::sleep(core::time::Duration::from_millis(2));
        }
    }
    let report = udp_match::play(server.address, player(1), 1.0).unwrap_or_else(|line| panic!("{line}"));
    assert!(report.moves > 50 && report.acks > 20, "{report:?}");
}

#[test]
fn missing_server_is_reported_in_one_line() {
    // A port without a listener.
    let port = connection::check_port_is_free(0).unwrap_or_else(|line| panic!("{line}"));
    let nobody = SocketAddr::from(([127, 0, 0, 1], port));
    let line = udp_match::play(nobody, player(1), 1.0).expect_err("no server listens");
    assert!(line.contains("no server answers") && line.contains("shooter server"), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
}

#[test]
fn server_with_another_protocol_is_reported_with_its_number() {
    let server = ServerThread::start(0, ServerOptions { protocol: 99, ..ServerOptions::default() })
        .unwrap_or_else(|line| panic!("{line}"));
    let line = udp_match::play(server.address, player(1), 1.0).expect_err("the server has another protocol");
    assert!(line.contains("speaks protocol 99") && line.contains("update this client"), "{line}");
}

#[test]
fn vanished_server_is_reported() {
    let server = ServerThread::start(0, ServerOptions::default()).unwrap_or_else(|line| panic!("{line}"));
    let address = server.address;
    let playing = std::thread::spawn(move || udp_match::play(address, player(1), 60.0));
    std::thread::sleep(core::time::Duration::from_secs(3));
    drop(server);
    let line = playing.join().expect("no panic").expect_err("the server was stopped");
    assert!(line.contains("has gone"), "{line}");
}
