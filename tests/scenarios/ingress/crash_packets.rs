//! Packets that crash a plain lightyear server (threats T1 to T3): each is shown to do damage without the
//! filters and to be dropped by them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy::ecs::error::FallbackErrorHandler;
use bevy_unlag::guard::IngressRefusal;
use lightyear::prelude::{PingConfig, PingManager};
use unlag_examples::stepped_match::{Match, MatchOptions};

use super::*;
use crate::{seconds, start};

/// Runs a match in which one client attacks in every server frame for half a second. Returns the client's
/// traffic, or `None` if the server panicked.
fn attack(
    filtered: bool,
    mut prepare: impl FnMut(&mut Match),
    mut attack: impl FnMut(&mut Match),
) -> Option<LinkTraffic> {
    let mut game = start(MatchOptions { players: 1, ..MatchOptions::default() });
    game.run(seconds(0.5));
    set_limits(&mut game, |limits| limits.enabled = filtered);
    prepare(&mut game);
    let lived = catch_unwind(AssertUnwindSafe(|| {
        for _ in 0..32 {
            attack(&mut game);
            game.run(seconds(1.0 / 64.0));
        }
        traffic(&mut game.server, 0)
    }));
    if lived.is_err() {
        // An app with a panicked system must not be used again, not even dropped.
        core::mem::forget(game);
    }
    lived.ok()
}

/// Asserts that the attack panics the server without the filters, and that with them exactly its packets are
/// dropped with this refusal.
fn assert_filtered(refusal: IngressRefusal, prepare: fn(&mut Match), act: fn(&mut Match)) {
    assert_eq!(
        attack(false, prepare, act),
        None,
        "the attack does no damage without the filters: the test shows nothing"
    );
    let traffic = attack(true, prepare, act).expect("the server survives");
    let dropped = dropped(&traffic);
    assert!(dropped.len() == 1 && dropped[0].0 == refusal && dropped[0].1 >= 16, "{dropped:?}");
    assert!(traffic.packets > 16, "honest packets of the same client must pass: {traffic:?}");
}

fn nothing(_: &mut Match) {}

// Row LY-1.
#[test]
fn datagram_with_nine_sequence_bytes_does_not_panic_the_server() {
    assert_filtered(IngressRefusal::NotNetcode, nothing, |game| {
        let link = link(&mut game.server, 0).expect("joined");
        datagram(&mut game.server, link, &[0x95; 40]);
    });
}

// Row LY-1.
#[test]
fn datagram_with_nine_sequence_bytes_does_not_panic_a_client() {
    // lightyear's socket accepts datagrams from any host on a player's port.
    let play = |filtered: bool| {
        let mut game = start(MatchOptions { players: 1, ..MatchOptions::default() });
        game.run(seconds(0.5));
        game.clients[0].world_mut().resource_mut::<IngressLimits>().enabled = filtered;
        let lived = catch_unwind(AssertUnwindSafe(|| {
            for _ in 0..32 {
                let world = game.clients[0].world_mut();
                let mut links = world.query_filtered::<&mut Link, With<Client>>();
                links.single_mut(world).expect("a link").recv.push_raw(RecvPayload::from(&[0x95; 40][..]));
                game.run(seconds(1.0 / 64.0));
            }
            (stats(&game.clients[0]).refused.of(IngressRefusal::NotNetcode), game.is_playing(0))
        }));
        if lived.is_err() {
            core::mem::forget(game);
        }
        lived.ok()
    };
    assert_eq!(play(false), None, "the attack does no damage without the filter: the test shows nothing");
    assert_eq!(play(true), Some((32, true)));
}

// Row B.
#[test]
fn client_bytes_on_a_replication_channel_are_refused() {
    for name in ["RepliconUpdatesChannel", "RepliconMutationsChannel"] {
        let act = move |game: &mut Match| {
            let bytes = message(channel(&game.server, name), Some(0), &[1, 2, 3]);
            send(&mut game.clients[0], &bytes);
        };
        assert_eq!(attack(false, nothing, act), None, "{name}");
        let traffic = attack(true, nothing, act).expect("the server survives");
        assert!(traffic.refused.of(IngressRefusal::Channel) >= 16, "{name}: {:?}", dropped(&traffic));
    }
}

// Row C.
#[test]
fn protocol_check_from_a_client_is_refused() {
    fn strict(game: &mut Match) {
        game.server.insert_resource(FallbackErrorHandler(bevy::ecs::error::panic));
    }
    fn act(game: &mut Match) {
        let bytes = [&message_id(&game.server, "ProtocolCheck")[..], &[0, 0, 0]].concat();
        let id = game.server.world().resource::<IngressStats>().packets as u16 % 256;
        let metadata = channel(&game.server, "MetadataChannel");
        send(&mut game.clients[0], &message(metadata, Some(id), &bytes));
    }
    assert_filtered(IngressRefusal::Message, strict, act);
    // Without the filters, but with the error handler of a headless app.
    assert!(attack(false, nothing, act).is_some(), "a failing observer must not stop the server");
}

/// Makes the server ping every 40 ms. lightyear pings once an hour here; a game may ping more often.
fn ping_often(game: &mut Match) {
    let link = link(&mut game.server, 0).expect("joined");
    let pings = PingManager::new(PingConfig { ping_interval: core::time::Duration::from_millis(40) });
    game.server.world_mut().entity_mut(link).insert(pings);
}

// Rows D and LY-5.
#[test]
fn pongs_with_a_negative_time_are_refused() {
    assert_filtered(IngressRefusal::Content, ping_often, |game| {
        let name = message_id(&game.server, "Pong");
        let channel = channel(&game.server, "PingChannel");
        for ping in 0..16_u16 {
            let bytes = [&name[..], &ping.to_be_bytes(), &0x8000_0001_u32.to_be_bytes(), &[0]].concat();
            send(&mut game.clients[0], &message(channel, None, &bytes));
        }
    });
}

#[test]
fn honest_pongs_are_never_refused() {
    let traffic = attack(true, ping_often, nothing).expect("the server survives");
    assert_eq!(dropped(&traffic), []);
}

/// The virtual memory size of this process, in bytes.
#[cfg(target_os = "linux")]
fn virtual_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: u64 = statm.split(' ').next().and_then(|pages| pages.parse().ok()).expect("pages");
    pages * 4_096
}

// Rows A and LY-4, threat T2.
#[cfg(target_os = "linux")]
#[test]
fn fragment_of_two_million_parts_reserves_no_memory() {
    // One small packet that claims to be the first of two million fragments. A claim of 2^53 aborts the
    // process.
    let bomb = |game: &mut Match, id: u16| {
        let channel = channel(&game.server, "RepliconMutationAcksChannel");
        let parts = [&[0][..], &varint(1 << 21), &[0, 1, 7]].concat();
        let body = [&varint(channel.into())[..], &(id + 20).to_be_bytes(), &parts].concat();
        send(&mut game.clients[0], &packet(1, &body));
    };
    let mut grown = [0; 2];
    for (filtered, grown) in [false, true].into_iter().zip(&mut grown) {
        let mut game = start(MatchOptions { players: 1, ..MatchOptions::default() });
        game.run(seconds(0.5));
        set_limits(&mut game, |limits| limits.enabled = filtered);
        let before = virtual_bytes();
        for id in 0..4 {
            bomb(&mut game, id);
            game.run(seconds(0.05));
        }
        *grown = virtual_bytes().saturating_sub(before) >> 20;
        let refused = stats(&game.server).refused.of(IngressRefusal::Fragments);
        assert_eq!(refused, if filtered { 4 } else { 0 });
    }
    // Other tests in this process may allocate at the same time.
    assert!(grown[0] > 4_000 && grown[1] < 2_000, "{grown:?} MB without and with the filters");
}

// Row E.
#[test]
fn metadata_with_a_negative_interval_or_foreign_entity_is_refused() {
    // lightyear's interpolation would panic on the interval. The suite does not use it, but a game may.
    // Entity names would be kept forever.
    fn act(game: &mut Match) {
        let name = message_id(&game.server, "SenderMetadata");
        let channel = channel(&game.server, "MetadataChannel");
        let packets = stats(&game.server).packets as u32;
        let slow = [&name[..], &0x8000_0000_u32.to_be_bytes(), &[0, 0x05]].concat();
        send(&mut game.clients[0], &message(channel, Some(99), &slow));
        let entity = varint((packets + 1_000) << 2 | 1);
        let other = [&name[..], &[0, 0, 0, 3, 0], &entity].concat();
        send(&mut game.clients[0], &message(channel, Some(100), &other));
    }
    let traffic = attack(true, nothing, act).expect("the server survives");
    assert!(traffic.refused.of(IngressRefusal::Content) >= 32, "{:?}", dropped(&traffic));
    assert!(attack(false, nothing, act).is_some(), "the suite is built without lightyear's interpolation");
}
