//! Datagrams from thousands of addresses that never connect (threat T4, rows F and LY-6).

use std::net::{Ipv4Addr, SocketAddr};

use lightyear::{
    link::Linked,
    prelude::{LinkOf, PeerAddr, server::NetcodeServer},
};
use unlag_examples::stepped_match::MatchOptions;

use super::*;
use crate::{seconds, start};

/// Spawns a link for a datagram from an unknown address, as lightyear's UDP does.
fn spawn_pending_link(server: &mut App, listener: Entity, address: u32, bytes: &[u8]) {
    let mut link = Link::default();
    link.recv.push_raw(RecvPayload::from(bytes));
    let address =
        SocketAddr::from((Ipv4Addr::from(0x0A00_0000 | address >> 8), 1_024 + address as u16 % 256));
    server.world_mut().spawn((LinkOf { server: listener }, link, Linked, PeerAddr(address)));
}

fn links(server: &mut App) -> usize {
    let world = server.world_mut();
    world.query_filtered::<(), With<LinkOf>>().iter(world).count()
}

// Threat T4.
#[test]
fn links_of_unknown_addresses_expire_without_affecting_players() {
    let mut game = start(MatchOptions { players: 2, ..MatchOptions::default() });
    game.run(seconds(1.0));
    let world = game.server.world_mut();
    let listener = world.query_filtered::<Entity, With<NetcodeServer>>().single(world).expect("one listener");
    let before = (moves(&mut game, 0), game.server.world().entities().count_spawned());
    let request = [&[0][..], b"NETCODE 1.02\0", &[7; 1_064]].concat();
    let mut most = 0;
    // 10,000 addresses per second for three seconds; every third datagram looks like a connection request.
    for address in 0..30_000_u32 {
        let bytes = if address % 3 == 0 { &request[..] } else { &[0x15; 64][..] };
        spawn_pending_link(&mut game.server, listener, address, bytes);
        if address % 156 == 155 {
            game.run(seconds(1.0 / 64.0));
            most = most.max(links(&mut game.server));
        }
    }
    assert!(most < 256 + 2 * 156 + 8, "{most} links at once");
    assert!(stats(&game.server).forgotten > 29_000);
    assert!(moves(&mut game, 0) > before.0 + 64 * 3 - 20, "the server must keep running the players' moves");
    for client in 0..2 {
        assert_eq!(traffic(&mut game.server, client).refused.total(), 0);
    }
    game.run(seconds(5.2));
    assert_eq!(
        (links(&mut game.server), stats(&game.server).pending),
        (2, 0),
        "links of unknown addresses must expire"
    );
    let left = game.server.world().entities().count_spawned();
    assert!(left <= before.1 + 8, "{} entities before, {left} after", before.1);
}

// Threat T4.
#[test]
fn client_joins_during_a_flood_from_unknown_addresses() {
    let mut game = start(MatchOptions { players: 1, ..MatchOptions::default() });
    let world = game.server.world_mut();
    let listener = world.query_filtered::<Entity, With<NetcodeServer>>().single(world).expect("one listener");
    let mut late = unlag_examples::app::scripted_client(5, Default::default());
    let frame = core::time::Duration::from_millis(10);
    late.insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(frame));
    let sim = NetSim::new(1).with(crate::link_150());
    for address in 0..2_000 {
        spawn_pending_link(&mut game.server, listener, address, &[0x15; 64]);
    }
    unlag_examples::connection::join(&mut game.server, listener, &mut late, 9, sim).expect("a token");
    bevy_unlag_testkit::finish(&mut late);
    for step in 0..300 {
        for address in 0..100 {
            spawn_pending_link(&mut game.server, listener, 10_000 + step * 100 + address, &[0x15; 64]);
        }
        game.run(frame);
        late.update();
    }
    assert!(link(&mut game.server, 8).is_some(), "the client must join during the flood");
}

// Threat T4.
#[test]
fn client_joins_and_plays_over_udp_during_a_flood_from_unknown_ports() {
    use std::{net::UdpSocket, thread, time::Duration};
    use unlag_examples::udp_match::{self, PlayerOptions, ServerThread};
    let server = ServerThread::start(0, Default::default()).unwrap_or_else(|line| panic!("{line}"));
    let address = server.address;
    let flood = thread::spawn(move || {
        let request = [&[0][..], b"NETCODE 1.02\0", &[7; 1_064]].concat();
        let mut sent = 0;
        for i in 0..8_000 {
            // Another port each time.
            let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)) else { continue };
            let bytes = if i % 3 == 0 { &request[..] } else { &[0x15; 64] };
            sent += u32::from(socket.send_to(bytes, address).is_ok());
            if i % 8 == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
        sent
    });
    thread::sleep(Duration::from_millis(200));
    let player = PlayerOptions { player: 1, seed: 1, ..Default::default() };
    let report = udp_match::play(address, player, 1.5).unwrap_or_else(|line| panic!("{line}"));
    assert!(report.moves > 50 && report.acks > 20, "{report:?}");
    assert!(flood.join().expect("no panic") > 7_000);
}
