//! Players of all transports in one match, and how they leave it.

use std::{
    net::TcpListener,
    sync::{Arc, Mutex},
};

use bevy_unlag::{
    guard::{ConnectTokenRequest, IngressRefusal, Kick, KickReason, KickedByServer, ServerKey},
    net::PlayerLeft,
};
use lightyear::{
    connection::client::DisconnectedReason,
    prelude::{Disconnected, RemoteId},
};

use super::*;

#[test]
fn players_of_all_transports_are_in_one_match() {
    let mut venue = Venue::development();
    let all = [None, Some(SessionTransport::WebTransport), Some(SessionTransport::WebSocket)];
    for (client_id, transport) in (1..).zip(all) {
        venue.join(client_id, transport);
    }
    let plays = |venue: &mut Venue| (0..3).all(|client| venue.acks(client) > 60 && venue.pawns(client) == 3);
    let acks = |venue: &mut Venue| [0, 1, 2].map(|client| (venue.acks(client), venue.pawns(client)));
    assert!(venue.run_until(20.0, plays), "{:?}", acks(&mut venue));
    assert_eq!(venue.links(), (3, 3));
    assert_eq!(venue.stats().pending, 0, "players are no strangers");
}

#[test]
fn kicked_player_is_told_and_its_session_ends() {
    for transport in SESSIONS {
        let mut venue = Venue::development();
        let client = venue.join(7, Some(transport));
        assert!(venue.run_until(10.0, |venue| venue.acks(client) > 5), "{transport}");
        let world = venue.server.world_mut();
        let mut players = world.query_filtered::<(Entity, &RemoteId), With<ClientOf>>();
        let (entity, id) = players.single(world).expect("a player");
        assert_eq!(id.0, PeerId::Netcode(7));
        world.trigger(Kick { entity, reason: KickReason::Game(3) });
        let is_told = |venue: &mut Venue| {
            let told =
                venue.clients[client].world_mut().resource_mut::<Messages<KickedByServer>>().drain().next();
            told.is_some_and(|kicked| kicked.0 == KickReason::Game(3))
        };
        assert!(venue.run_until(5.0, is_told), "{transport}");
        assert!(venue.run_until(5.0, |venue| venue.links() == (0, 0)), "{transport}: {:?}", venue.links());
    }
}

#[test]
fn player_whose_session_ends_leaves_at_once_and_may_return() {
    for transport in SESSIONS {
        let mut venue = Venue::development();
        // Longer than the test: what ends the connection is the end of the session.
        let address = venue.address(Some(transport));
        let request = ConnectTokenRequest {
            timeout: Duration::from_secs(60),
            ..ConnectTokenRequest::new(7, address, PROTOCOL_ID)
        };
        let token = || {
            let token = request.issue(&ServerKey::development()).expect("a token");
            TokenClient::new(&token).expect("a client")
        };
        let through = venue.transport(Some(transport));
        let client = venue.join_with(token(), through.clone());
        assert!(venue.run_until(10.0, |venue| venue.acks(client) > 5), "{transport}");
        let own = venue.pawn_of(7).expect("a pawn");
        let reasons = Arc::new(Mutex::new(Vec::new()));
        let seen = reasons.clone();
        venue.server.add_observer(move |left: On<PlayerLeft>| {
            seen.lock().expect("no panic").push((left.peer, left.pawn));
        });
        // As a closed tab does: netcode says nothing.
        drop(venue.clients.remove(client));
        assert!(venue.run_until(2.0, |venue| venue.links() == (0, 0)), "{transport}: {:?}", venue.links());
        assert_eq!(*reasons.lock().expect("no panic"), [(PeerId::Netcode(7), Some(own))], "{transport}");
        let client = venue.join_with(token(), through);
        assert!(venue.run_until(10.0, |venue| venue.acks(client) > 5), "{transport}: it returns");
        assert_eq!(venue.pawn_of(7), Some(own), "{transport}: to its pawn");
    }
    // Control: without a session, a client that ends without a word keeps its place until its token's timeout of 3 s.
    let mut venue = Venue::development();
    let client = venue.join(7, None);
    assert!(venue.run_until(10.0, |venue| venue.acks(client) > 5));
    drop(venue.clients.remove(client));
    assert!(!venue.run_until(2.0, |venue| venue.links() == (0, 0)));
}

#[test]
fn token_is_good_once_and_a_foreign_one_gets_no_link() {
    let key = ServerKey::random().expect("random bytes");
    for transport in SESSIONS {
        let mut venue = Venue::start(&ServerAccess::new(key.clone(), PROTOCOL_ID));
        let (address, through) = (venue.address(Some(transport)), venue.transport(Some(transport)));
        let issue =
            |key: &ServerKey| ConnectTokenRequest::new(5, address, PROTOCOL_ID).issue(key).expect("a token");
        let token = |bytes: &[u8]| TokenClient::new(bytes).expect("a client");

        let foreign = issue(&ServerKey::random().expect("random bytes"));
        venue.join_with(token(&foreign), through.clone());
        let is_refused = |venue: &mut Venue| venue.stats().refused.of(IngressRefusal::ForeignToken) > 0;
        assert!(venue.run_until(5.0, is_refused), "{transport}");
        assert_eq!(venue.links().0, 0, "{transport}");

        let good = issue(&key);
        let first = venue.join_with(token(&good), through.clone());
        assert!(venue.run_until(10.0, |venue| venue.is_connected(first)), "{transport}: its key's token");
        let second = venue.join_with(token(&good), through);
        venue.run(2.0);
        assert!(!venue.is_connected(second), "{transport}: the token was used");
        assert!(venue.is_connected(first), "{transport}: the holder of the token stays");
    }
}

#[test]
fn client_with_another_digest_does_not_connect_and_says_why() {
    for transport in SESSIONS {
        let mut venue = Venue::development();
        let token =
            TokenClient::development(1, venue.address(Some(transport)), PROTOCOL_ID).expect("a token");
        let digest = core::mem::replace(&mut venue.digest, CertificateDigest([7; 32]));
        let wrong = venue.transport(Some(transport));
        let client = venue.join_with(token, wrong);
        let reason = |venue: &mut Venue| {
            let world = venue.clients[client].world_mut();
            world.query::<&Disconnected>().iter(world).find_map(|ended| match &ended.reason {
                DisconnectedReason::LinkFailed(reason) => Some(format!("{reason:?}")),
                _ => None,
            })
        };
        assert!(venue.run_until(15.0, |venue| reason(venue).is_some()), "{transport}");
        let text = reason(&mut venue).unwrap_or_default().to_lowercase();
        assert!(text.contains("certificate"), "{transport}: {text}");
        assert_eq!(venue.links(), (0, 0), "{transport}");
        // Control: the same server with its own digest.
        venue.digest = digest;
        let client = venue.join(2, Some(transport));
        assert!(venue.run_until(10.0, |venue| venue.is_connected(client)), "{transport}");
    }
}

#[test]
fn client_without_a_server_ends() {
    let mut venue = Venue::development();
    // A port that was free a moment ago.
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    let token = TokenClient::development(1, free.expect("a port"), PROTOCOL_ID);
    let transport = venue.transport(Some(SessionTransport::WebSocket));
    let client = venue.join_with(token.expect("a token"), transport);
    let has_ended = |venue: &mut Venue| {
        let world = venue.clients[client].world_mut();
        world.query_filtered::<(), With<Disconnected>>().iter(world).next().is_some()
    };
    assert!(venue.run_until(15.0, has_ended));
}
