//! Tokens that were stolen, kept, changed or made up.

use std::time::SystemTime;

use bevy_unlag::guard::{IngressRefusal, IngressStats, WallClock};
use lightyear::{
    link::{Link, Linked, RecvPayload},
    prelude::{LinkOf, PeerAddr},
};

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);

fn set_clock(door: &mut Door, clock: fn() -> SystemTime) {
    door.app.insert_resource(WallClock(clock));
}

/// What comes of a token of a client that nobody else has shown, on this server.
fn outcome(door: &mut Door, token: &[u8]) -> (bool, Vec<JoinRefusal>) {
    let mut client = door.come(token, LinkConditions::PERFECT);
    door.run(&mut [&mut client], 1.5);
    (is_in(&mut client), refused(&client).to_vec())
}

#[test]
fn a_token_that_was_used_is_used_up_for_its_thief() {
    let mut door = Door::open();
    let token = door.token(1);
    let mut owner = door.come(&token, LinkConditions::PERFECT);
    door.run(&mut [&mut owner], 1.0);
    // Stolen from a player who plays.
    let mut thief = door.come(&token, LinkConditions::PERFECT);
    door.run(&mut [&mut owner, &mut thief], 1.5);
    assert!(is_in(&mut owner) && !is_in(&mut thief));
    assert_eq!(refused(&thief), [JoinRefusal::Used]);
    // And after the player has left.
    let link = {
        let world = owner.world_mut();
        world.query_filtered::<Entity, With<Client>>().single(world).expect("a link")
    };
    owner.world_mut().trigger(lightyear::prelude::Disconnect { entity: link });
    door.run(&mut [&mut owner], 1.0);
    assert_eq!(outcome(&mut door, &token), (false, vec![JoinRefusal::Used]));
    assert_eq!(door.joined(), [PeerId::Netcode(1)], "the game has seen nobody else");
}

#[test]
fn of_two_who_show_a_token_at_once_one_gets_in() {
    let mut door = Door::open();
    let token = door.token(1);
    let mut first = door.come(&token, LinkConditions::PERFECT);
    let mut second = door.come(&token, LinkConditions::PERFECT);
    door.run(&mut [&mut first, &mut second], 2.0);
    assert!(is_in(&mut first) ^ is_in(&mut second));
    let other = if is_in(&mut first) { &second } else { &first };
    assert_eq!(refused(other), [JoinRefusal::Used]);
    assert_eq!(door.joined().len(), 1);
}

#[test]
fn a_token_is_of_its_time() {
    let mut door = Door::open();
    let token = door.token(1);
    set_clock(&mut door, || SystemTime::now() + Duration::from_secs(601));
    assert_eq!(outcome(&mut door, &token), (false, vec![JoinRefusal::Expired]));
    set_clock(&mut door, SystemTime::now);
    assert_eq!(outcome(&mut door, &token), (true, vec![]), "it was not used");
}

#[test]
fn a_clock_that_is_set_throws_nobody_out_and_makes_no_used_token_good() {
    let mut door = Door::open();
    let (token, spare) = (door.token(1), door.token(2));
    let mut player = door.come(&token, LinkConditions::PERFECT);
    door.run(&mut [&mut player], 1.0);
    // An hour ahead its time is over; an hour behind it would be good, and somebody has joined with it.
    let clocks: [(fn() -> SystemTime, JoinRefusal); 2] = [
        (|| SystemTime::now() + HOUR, JoinRefusal::Expired),
        (|| SystemTime::now() - HOUR, JoinRefusal::Used),
    ];
    for (clock, refusal) in clocks {
        set_clock(&mut door, clock);
        door.run(&mut [&mut player], 5.0);
        assert!(is_in(&mut player));
        let mut thief = door.come(&token, LinkConditions::PERFECT);
        door.run(&mut [&mut player, &mut thief], 1.0);
        assert!(!is_in(&mut thief));
        assert_eq!(refused(&thief), [refusal]);
    }
    // A server whose clock alone was set back takes what it takes for fresh.
    let mut late = door.come(&spare, LinkConditions::PERFECT);
    door.run(&mut [&mut player, &mut late], 1.5);
    assert!(is_in(&mut late), "{:?}", refused(&late));
}

#[test]
fn a_token_from_before_a_restart_is_refused() {
    let mut door = Door::open();
    let (used, fresh) = (door.token(1), door.token(2));
    assert_eq!(outcome(&mut door, &used), (true, vec![]));
    let mut again = Door::open_as(&door.access);
    for token in [used, fresh] {
        assert_eq!(outcome(&mut again, &token), (false, vec![JoinRefusal::BeforeStart]));
    }
    let new = again.token(1);
    assert_eq!(outcome(&mut again, &new), (true, vec![]));
}

#[test]
fn a_token_is_for_one_server_and_one_game() {
    let mut door = Door::open();
    let elsewhere = SocketAddr::from(([203, 0, 113, 7], 5_000));
    let key = door.access.key.clone();
    let other = ConnectTokenRequest { server: elsewhere, ..door.request(1) };
    let other = other.issue(&key).expect("a token");
    assert_eq!(outcome(&mut door, &other), (false, vec![JoinRefusal::OtherServer]));
    let other = ConnectTokenRequest { protocol_id: PROTOCOL_ID + 1, ..door.request(1) };
    let other = other.issue(&key).expect("a token");
    assert_eq!(outcome(&mut door, &other), (false, vec![JoinRefusal::OtherGame]));
    let foreign = door.request(1).issue(&ServerKey::random().expect("random bytes")).expect("a token");
    assert_eq!(outcome(&mut door, &foreign), (false, vec![]), "nobody can tell it anything");
    assert!(door.stats().foreign > 0);
    assert_eq!(door.joined(), []);
}

/// The connection request of a token, as netcode's client writes it.
pub(super) fn request(token: &[u8]) -> Vec<u8> {
    [&[0][..], &token[..21], &token[29..29 + 8 + 24 + 1_024]].concat()
}

#[test]
fn changed_cut_and_made_up_requests_get_nobody_in() {
    let mut door = Door::open();
    let good = request(&door.token(1));
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let mut datagrams: Vec<Vec<u8>> = Vec::new();
    for _ in 0..300 {
        let mut changed = good.clone();
        // Behind the version: that alone makes it another kind of datagram.
        let at = 14 + next() as usize % (good.len() - 14);
        changed[at] ^= 1 << (next() % 8);
        datagrams.push(changed);
        let mut made_up = good.clone();
        made_up[14..].fill_with(|| next() as u8);
        datagrams.push(made_up);
        datagrams.push(good[..next() as usize % good.len()].to_vec());
    }
    let count = datagrams.len() as u64;
    for (number, datagram) in datagrams.into_iter().enumerate() {
        let from = SocketAddr::from(([198, 51, 100, 1], number as u16));
        let stranger = (LinkOf { server: door.listener }, Link::default(), PeerAddr(from), Linked);
        let link = door.app.world_mut().spawn(stranger).id();
        let mut link = door.app.world_mut().get_mut::<Link>(link).expect("a link");
        link.recv.push_raw(RecvPayload::from(&datagram[..]));
        door.app.update();
    }
    let dropped = door.app.world().resource::<IngressStats>().refused.of(IngressRefusal::NotNetcode);
    let stats = door.stats();
    assert_eq!((stats.passed, stats.foreign + dropped), (0, count), "{stats:?}");
    assert_eq!(door.joined(), []);
    // The honest owner is none the worse.
    let token = door.token(2);
    assert_eq!(outcome(&mut door, &token), (true, vec![]));
}
