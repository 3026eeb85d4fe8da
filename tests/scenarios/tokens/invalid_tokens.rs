//! Stolen, reused, modified and forged tokens (threat T5 in `book/src/operations/link_protection.md`).

use std::time::SystemTime;

use bevy_unlag::guard::{AssignMatch, BanList, BanTarget, IngressRefusal, IngressStats, WallClock};
use lightyear::{
    link::{Link, Linked, RecvPayload},
    prelude::{LinkOf, PeerAddr},
};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);

fn set_clock(token_server: &mut TokenServer, clock: fn() -> SystemTime) {
    token_server.app.insert_resource(WallClock(clock));
}

/// Connects a new client with `token`. Returns whether it joined, and the refusals that it received.
fn join_outcome(token_server: &mut TokenServer, token: &[u8]) -> (bool, Vec<JoinRefusal>) {
    let mut client = token_server.connect(token, LinkConditions::PERFECT);
    token_server.run(&mut [&mut client], 1.5);
    (is_connected(&mut client), refused(&client).to_vec())
}

// Row LY-7.
#[test]
fn used_token_is_refused_during_and_after_the_owners_connection() {
    let mut token_server = TokenServer::start();
    let token = token_server.token(1);
    let mut owner = token_server.connect(&token, LinkConditions::PERFECT);
    token_server.run(&mut [&mut owner], 1.0);
    // Stolen from a connected player.
    let mut thief = token_server.connect(&token, LinkConditions::PERFECT);
    token_server.run(&mut [&mut owner, &mut thief], 1.5);
    assert!(is_connected(&mut owner) && !is_connected(&mut thief));
    assert_eq!(refused(&thief), [JoinRefusal::Used]);
    // And after the player has left.
    let link = {
        let world = owner.world_mut();
        world.query_filtered::<Entity, With<Client>>().single(world).expect("a link")
    };
    owner.world_mut().trigger(lightyear::prelude::Disconnect { entity: link });
    token_server.run(&mut [&mut owner], 1.0);
    assert_eq!(join_outcome(&mut token_server, &token), (false, vec![JoinRefusal::Used]));
    assert_eq!(token_server.joined(), [PeerId::Netcode(1)], "the game must see no other client");
}

#[test]
fn refused_join_is_logged_once_with_client_address_and_reason() {
    let lines = crate::captured_log::logged(|| {
        let mut token_server = TokenServer::start();
        let token = token_server.token(7);
        let mut owner = token_server.connect(&token, LinkConditions::PERFECT);
        token_server.run(&mut [&mut owner], 1.0);
        assert_eq!(join_outcome(&mut token_server, &token), (false, vec![JoinRefusal::Used]));
    });
    let refused: Vec<_> = lines.iter().filter(|line| line.contains("lightyear_guard::refusals:")).collect();
    let line = "WARN lightyear_guard::refusals: join refused client=7 address=127.0.0.1:2 reason=\"used\"";
    assert_eq!(refused, [line]);
}

#[test]
fn two_clients_with_the_same_token_at_once_yield_one_connection() {
    let mut token_server = TokenServer::start();
    let token = token_server.token(1);
    let mut first = token_server.connect(&token, LinkConditions::PERFECT);
    let mut second = token_server.connect(&token, LinkConditions::PERFECT);
    token_server.run(&mut [&mut first, &mut second], 2.0);
    assert!(is_connected(&mut first) ^ is_connected(&mut second));
    let other = if is_connected(&mut first) { &second } else { &first };
    assert_eq!(refused(other), [JoinRefusal::Used]);
    assert_eq!(token_server.joined().len(), 1);
}

#[test]
fn expired_token_is_refused_without_using_it_up() {
    let mut token_server = TokenServer::start();
    let token = token_server.token(1);
    set_clock(&mut token_server, || SystemTime::now() + Duration::from_secs(601));
    assert_eq!(join_outcome(&mut token_server, &token), (false, vec![JoinRefusal::Expired]));
    set_clock(&mut token_server, SystemTime::now);
    assert_eq!(
        join_outcome(&mut token_server, &token),
        (true, vec![]),
        "the refusal must not use up the token"
    );
}

#[test]
fn wall_clock_change_kicks_no_client_and_revives_no_used_token() {
    let mut token_server = TokenServer::start();
    let (token, spare) = (token_server.token(1), token_server.token(2));
    let mut player = token_server.connect(&token, LinkConditions::PERFECT);
    token_server.run(&mut [&mut player], 1.0);
    // An hour ahead the token has expired; an hour behind it would be valid, but is used.
    let clocks: [(fn() -> SystemTime, JoinRefusal); 2] = [
        (|| SystemTime::now() + HOUR, JoinRefusal::Expired),
        (|| SystemTime::now() - HOUR, JoinRefusal::Used),
    ];
    for (clock, refusal) in clocks {
        set_clock(&mut token_server, clock);
        token_server.run(&mut [&mut player], 5.0);
        assert!(is_connected(&mut player));
        let mut thief = token_server.connect(&token, LinkConditions::PERFECT);
        token_server.run(&mut [&mut player, &mut thief], 1.0);
        assert!(!is_connected(&mut thief));
        assert_eq!(refused(&thief), [refusal]);
    }
    // A server whose clock was set back accepts tokens that it considers fresh.
    let mut late = token_server.connect(&spare, LinkConditions::PERFECT);
    token_server.run(&mut [&mut player, &mut late], 1.5);
    assert!(is_connected(&mut late), "{:?}", refused(&late));
}

#[test]
fn tokens_issued_before_a_server_restart_are_refused() {
    let mut token_server = TokenServer::start();
    let (used, fresh) = (token_server.token(1), token_server.token(2));
    assert_eq!(join_outcome(&mut token_server, &used), (true, vec![]));
    let mut again = TokenServer::start_with(&token_server.access);
    for token in [used, fresh] {
        assert_eq!(join_outcome(&mut again, &token), (false, vec![JoinRefusal::BeforeStart]));
    }
    let new = again.token(1);
    assert_eq!(join_outcome(&mut again, &new), (true, vec![]));
}

#[test]
fn token_for_another_server_or_match_of_the_fleet_is_refused_by_the_same_key() {
    let mut token_server = TokenServer::start_with(&ServerAccess {
        server_id: Some("eu-1".to_owned()),
        match_id: Some("match-1".to_owned()),
        ..ServerAccess::new(ServerKey::random().expect("random bytes"), PROTOCOL_ID)
    });
    let mut client_id = 0;
    let mut join = |token_server: &mut TokenServer, server: &str, of_match: &str| {
        client_id += 1;
        let request = ConnectTokenRequest {
            server_id: Some(server.to_owned()),
            match_id: Some(of_match.to_owned()),
            ..token_server.request(client_id)
        };
        let token = request.issue(token_server.access.keys.newest()).expect("a token");
        join_outcome(token_server, &token)
    };
    assert_eq!(join(&mut token_server, "eu-2", "match-1"), (false, vec![JoinRefusal::OtherServer]));
    assert_eq!(join(&mut token_server, "eu-1", "match-2"), (false, vec![JoinRefusal::OtherMatch]));
    assert_eq!(join(&mut token_server, "eu-1", "match-1"), (true, vec![]));
    let assign = AssignMatch { entity: token_server.listener, match_id: Some("match-2".to_owned()) };
    token_server.app.world_mut().trigger(assign);
    assert_eq!(join(&mut token_server, "eu-1", "match-1"), (false, vec![JoinRefusal::OtherMatch]));
    assert_eq!(join(&mut token_server, "eu-1", "match-2"), (true, vec![]));
}

#[test]
fn banned_client_is_refused_before_the_game_sees_it_until_the_ban_ends() {
    let mut token_server = TokenServer::start();
    let ban = |token_server: &mut TokenServer, target: BanTarget| {
        token_server.app.world_mut().resource_mut::<BanList>().ban(target, HOUR)
    };
    assert!(ban(&mut token_server, BanTarget::Client(1)));
    let token = token_server.token(1);
    assert_eq!(join_outcome(&mut token_server, &token), (false, vec![JoinRefusal::Banned]));
    assert_eq!(token_server.joined(), []);
    assert!(token_server.app.world_mut().resource_mut::<BanList>().unban(BanTarget::Client(1)));
    assert_eq!(
        join_outcome(&mut token_server, &token),
        (true, vec![]),
        "the refusal must not use up the token"
    );
    // All clients of these tests have one host.
    assert!(ban(&mut token_server, BanTarget::Host(Ipv4Addr::LOCALHOST.into())));
    let token = token_server.token(2);
    assert_eq!(join_outcome(&mut token_server, &token), (false, vec![JoinRefusal::Banned]));
}

#[test]
fn tokens_of_another_server_game_or_key_are_refused() {
    let mut token_server = TokenServer::start();
    let elsewhere = SocketAddr::from(([203, 0, 113, 7], 5_000));
    let key = token_server.access.keys.newest().clone();
    let other = ConnectTokenRequest { server: elsewhere, ..token_server.request(1) };
    let other = other.issue(&key).expect("a token");
    assert_eq!(join_outcome(&mut token_server, &other), (false, vec![JoinRefusal::OtherServer]));
    let other = ConnectTokenRequest { protocol_id: PROTOCOL_ID + 1, ..token_server.request(1) };
    let other = other.issue(&key).expect("a token");
    assert_eq!(join_outcome(&mut token_server, &other), (false, vec![JoinRefusal::OtherGame]));
    let foreign =
        token_server.request(1).issue(&ServerKey::random().expect("random bytes")).expect("a token");
    assert_eq!(
        join_outcome(&mut token_server, &foreign),
        (false, vec![]),
        "a client with a foreign key cannot be sent a refusal"
    );
    assert!(token_server.stats().foreign > 0);
    assert_eq!(token_server.joined(), []);
}

/// The connection request for a token, as netcode's client writes it.
pub(super) fn request(token: &[u8]) -> Vec<u8> {
    [&[0][..], &token[..21], &token[29..29 + 8 + 24 + 1_024]].concat()
}

#[test]
fn modified_truncated_and_random_requests_join_no_client() {
    let mut token_server = TokenServer::start();
    let good = request(&token_server.token(1));
    let mut rng = SmallRng::seed_from_u64(1);
    let mut datagrams: Vec<Vec<u8>> = Vec::new();
    for _ in 0..300 {
        let mut changed = good.clone();
        // After the version, whose change would make it another kind of datagram.
        let at = rng.random_range(14..good.len());
        changed[at] ^= 1 << rng.random_range(0..8);
        datagrams.push(changed);
        let mut made_up = good.clone();
        rng.fill(&mut made_up[14..]);
        datagrams.push(made_up);
        datagrams.push(good[..rng.random_range(0..good.len())].to_vec());
    }
    let count = datagrams.len() as u64;
    for (number, datagram) in datagrams.into_iter().enumerate() {
        let from = SocketAddr::from(([198, 51, 100, 1], number as u16));
        let stranger = (LinkOf { server: token_server.listener }, Link::default(), PeerAddr(from), Linked);
        let link = token_server.app.world_mut().spawn(stranger).id();
        let mut link = token_server.app.world_mut().get_mut::<Link>(link).expect("a link");
        link.recv.push_raw(RecvPayload::from(&datagram[..]));
        token_server.app.update();
    }
    let dropped = token_server.app.world().resource::<IngressStats>().refused.of(IngressRefusal::NotNetcode);
    let stats = token_server.stats();
    assert_eq!((stats.passed, stats.foreign + dropped), (0, count), "{stats:?}");
    assert_eq!(token_server.joined(), []);
    // An honest client can still join.
    let token = token_server.token(2);
    assert_eq!(join_outcome(&mut token_server, &token), (true, vec![]));
}
