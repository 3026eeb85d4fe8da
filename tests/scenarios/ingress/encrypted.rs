//! Packets that a client encrypts with its own key and that netcode does not expect from clients (threat T1).

use std::{
    net::{Ipv4Addr, SocketAddr},
    panic::{AssertUnwindSafe, catch_unwind},
};

use bevy::time::TimeUpdateStrategy;
use chacha20poly1305::{AeadInPlace, ChaCha20Poly1305, KeyInit};
use lightyear::{
    crossbeam::CrossbeamIo,
    link::Linked,
    netcode::ConnectToken,
    prelude::{
        Authentication, Connect, LinkOf, PeerAddr,
        client::{NetcodeClient, NetcodeConfig},
        server::{self, NetcodeServer, Start},
    },
};
use unlag_examples::app;

use super::*;

const KEY: [u8; 32] = [7; 32];
const PROTOCOL: u64 = 99;

/// A server, a connected client, and the client's sending key.
fn pair() -> (App, App, [u8; 32]) {
    let mut server = app::server(app::ServerOptions::default());
    let mut client = app::scripted_client(3, Default::default());
    for app in [&mut server, &mut client] {
        app.insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK));
    }
    let config = server::NetcodeConfig {
        server_addr_check: false,
        ..server::NetcodeConfig::default().with_protocol_id(PROTOCOL).with_key(KEY)
    };
    let listener = server.world_mut().spawn(NetcodeServer::new(config)).id();
    server.world_mut().trigger(Start { entity: listener });
    bevy_unlag_testkit::finish(&mut server);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let token = ConnectToken::build(address, PROTOCOL, 1, KEY).generate().expect("a token");
    let bytes = token.clone().try_into_bytes().expect("the token's bytes");
    // Version, protocol, two times, nonce, the part encrypted for the server, timeout, one IPv4 address.
    let at = 13 + 8 + 8 + 8 + 24 + 1_024 + 4 + (4 + 1 + 4 + 2);
    let key = bytes[at..at + 32].try_into().expect("32 bytes");
    let (here, there) = CrossbeamIo::new_pair();
    server.world_mut().spawn((
        LinkOf { server: listener },
        Link::default(),
        PeerAddr(address),
        Linked,
        there,
    ));
    let netcode =
        NetcodeClient::new(Authentication::Token(token), NetcodeConfig::default()).expect("a client");
    let link = client.world_mut().spawn((Client, netcode, here)).id();
    client.world_mut().trigger(Connect { entity: link });
    bevy_unlag_testkit::finish(&mut client);
    for _ in 0..128 {
        client.update();
        server.update();
    }
    (server, client, key)
}

/// A datagram of the given netcode packet kind, encrypted as netcode does.
fn encrypted(kind: u8, body: &[u8], key: &[u8; 32]) -> Vec<u8> {
    let (prefix, sequence) = (0x20 | kind, 4_000_u16);
    let mut nonce = [0; 12];
    nonce[10..].copy_from_slice(&sequence.to_be_bytes());
    let known = [&b"NETCODE 1.02\0"[..], &PROTOCOL.to_be_bytes(), &[prefix]].concat();
    let mut body = body.to_vec();
    let tag = ChaCha20Poly1305::new(key.into())
        .encrypt_in_place_detached(&nonce.into(), &known, &mut body)
        .expect("encrypted");
    [&[prefix][..], &sequence.to_le_bytes(), &body, &tag].concat()
}

/// Returns the number of datagrams that the server dropped, or `None` if it panicked.
fn receive(kind: u8, body: &[u8], filtered: bool) -> Option<u64> {
    let (mut server, client, key) = pair();
    server.world_mut().resource_mut::<IngressLimits>().enabled = filtered;
    let link = link(&mut server, 0).expect("joined");
    datagram(&mut server, link, &encrypted(kind, body, &key));
    let lived = catch_unwind(AssertUnwindSafe(|| server.update())).is_ok();
    let refused = stats(&server).refused.of(IngressRefusal::NotNetcode);
    if !lived {
        core::mem::forget(server);
    }
    drop(client);
    lived.then_some(refused)
}

// Row LY-2.
#[test]
fn denials_and_challenges_from_a_client_are_dropped_and_panic_unfiltered() {
    for (kind, body) in [(1, &[0; 1][..]), (2, &[0; 308])] {
        assert_eq!(receive(kind, body, false), None, "kind {kind} without the filters");
        assert_eq!(receive(kind, body, true), Some(1), "kind {kind}");
    }
}

#[test]
fn keep_alives_and_undecryptable_packets_cost_a_client_no_strikes() {
    // A keep-alive passes, which shows that the encryption above is netcode's.
    let sign_of_life = [0; 16];
    assert_eq!(receive(4, &sign_of_life, true), Some(0));
    // Encrypted with another key: netcode ignores it.
    let (mut server, _client, _) = pair();
    let link = link(&mut server, 0).expect("joined");
    datagram(&mut server, link, &encrypted(1 | 4, &[0; 40], &[1; 32]));
    server.update();
    assert_eq!(stats(&server).refused.total(), 0);
    assert_eq!(traffic(&mut server, 0).strikes, 0.0);
}

// Row LY-3.
#[test]
fn connection_request_with_an_encrypted_packet_prefix_is_dropped() {
    // netcode would take it for a request that it has already validated. The filter drops it by its form.
    assert_eq!(receive(0, &[0; 1_077], true), Some(1));
}
