//! Who sends much that makes no sense does not fill a log.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
    time::Instant,
};

use bevy::log::{
    tracing::{Event, Subscriber, subscriber::with_default},
    tracing_subscriber::{
        Layer, Registry,
        filter::LevelFilter,
        layer::{Context, SubscriberExt},
    },
};
use bevy_unlag::guard::{TokenStats, limit_logs};
use lightyear::{
    link::Linked,
    prelude::{LinkOf, PeerAddr, server::NetcodeServer},
};
use unlag_examples::stepped_match::MatchOptions;

use super::*;
use crate::{seconds, start};

/// Lines by their target, as a console would have them.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<BTreeMap<String, usize>>>);

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut lines = self.0.lock().expect("nobody has panicked");
        *lines.entry(event.metadata().target().to_owned()).or_default() += 1;
    }
}

/// The lines that are written meanwhile by this thread, as Bevy's `LogPlugin` with `custom_layer: limit_logs` puts its
/// layers together, or as without that.
fn lines(limited: bool, run: impl FnOnce()) -> BTreeMap<String, usize> {
    let lines = Lines::default();
    let limit = if limited { limit_logs(&mut App::empty()) } else { None };
    let subscriber = Registry::default().with(limit).with(LevelFilter::INFO).with(lines.clone());
    with_default(subscriber, run);
    let lines = lines.0.lock().expect("nobody has panicked");
    lines.clone()
}

/// Two who play, and limits that nobody reaches: each packet is looked at.
fn open() -> (Match, Entity) {
    let mut game = start(MatchOptions { players: 2, ..MatchOptions::default() });
    game.run(seconds(4.0));
    set_limits(&mut game, |limits| {
        limits.strikes = f32::INFINITY;
        limits.packets_per_second = 1e6;
        limits.bytes_per_second = 1e9;
        limits.datagrams_per_second = 1e6;
        limits.messages_per_second = 1e6;
    });
    // The buckets fill.
    game.run(seconds(0.5));
    let world = game.server.world_mut();
    let listener = world.query_filtered::<Entity, With<NetcodeServer>>().single(world).expect("one listens");
    (game, listener)
}

/// A thousand a round: half of them from a client that has joined, the rest from strangers, in their own names and in
/// that of the other client.
fn flood(game: &mut Match, listener: Entity, rounds: u32) {
    let sense = message(channel(&game.server, "ServerEventChannel"), Some(0), &[1, 2, 3]);
    let (part, answer) = (packet(1, &[7; 9]), packet(4, &[1]));
    let client = [&sense[..], &[0xFF; 40], &part[..], &answer[..]];
    let request = [&[0][..], b"NETCODE 1.02\0", &[7; 1_064]].concat();
    let strangers = [&request[..], &[0x15; 64], &[0x95; 40], &[1; 1_400]];
    // What nobody knows who does not have the key looks like this.
    let spoofed = [&[0x25; 80][..], &[0x95; 64], &[0xFF; 80], &[0x25; 30]];
    for round in 0..rounds {
        for bytes in client.iter().cycle().take(500) {
            send(&mut game.clients[0], bytes);
        }
        for stranger in 0..10 {
            let mut link = Link::default();
            for bytes in strangers.iter().cycle().take(25) {
                link.recv.push_raw(RecvPayload::from(*bytes));
            }
            let host = Ipv4Addr::from(0x0A00_0000 | round);
            let from = SocketAddr::from((host, 1_024 + stranger));
            game.server.world_mut().spawn((LinkOf { server: listener }, link, Linked, PeerAddr(from)));
        }
        let honest = link(&mut game.server, 1).expect("the other one plays");
        for bytes in spoofed.iter().cycle().take(250) {
            datagram(&mut game.server, honest, bytes);
        }
        game.run(seconds(1.0 / 64.0));
    }
    game.run(seconds(0.2));
}

#[test]
fn a_hundred_thousand_packets_that_make_no_sense_are_fewer_than_a_hundred_lines() {
    let (mut game, listener) = open();
    let began = Instant::now();
    let written = lines(true, || {
        flood(&mut game, listener, 100);
        // And now it is thrown out for it, which is worth a line.
        set_limits(&mut game, |limits| limits.strikes = 100.0);
        flood(&mut game, listener, 1);
        game.run(seconds(2.0));
    });
    let passed = began.elapsed().as_secs() as usize;
    println!("{written:?} in {passed} s");
    let refused = stats(&game.server).refused;
    let foreign = game.server.world().resource::<TokenStats>().foreign;
    // What a link's own key does not open, netcode drops: an eighth of all.
    assert!(refused.total() + foreign > 80_000, "{} and {foreign}: that was no flood", refused.total());
    assert!(refused.of(IngressRefusal::Channel) > 10_000 && refused.of(IngressRefusal::Malformed) > 10_000);
    assert!(link(&mut game.server, 0).is_none() && stats(&game.server).kicked == 1);
    assert!(
        written.keys().any(|target| target.starts_with("bevy_unlag")),
        "{written:?}: who was thrown out?"
    );
    // A slow machine may write as many again in each further second.
    let most = 100 + passed * 20 * written.len();
    assert!(written.values().sum::<usize>() < most, "{written:?} in {passed} s");
    assert!(written.values().all(|lines| *lines <= 20 * (passed + 1)), "{written:?} in {passed} s");
}

/// The control: there is something to be left out, and it would be counted.
#[test]
fn without_the_limit_they_are_thousands() {
    let (mut game, listener) = open();
    let written = lines(false, || flood(&mut game, listener, 20));
    println!("{written:?}");
    let most = written.values().max().copied().unwrap_or(0);
    assert!(most > 1_000, "{written:?}: the filters leave nothing to write");
}
