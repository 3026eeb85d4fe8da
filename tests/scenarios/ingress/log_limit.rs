//! Log rate limit during floods of invalid packets (threat T8, rows H and LY-8).

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

/// Number of log lines by target, as a console would print them.
#[derive(Clone, Default)]
struct LogLines(Arc<Mutex<BTreeMap<String, usize>>>);

impl<S: Subscriber> Layer<S> for LogLines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut lines = self.0.lock().expect("an unpoisoned lock");
        *lines.entry(event.metadata().target().to_owned()).or_default() += 1;
    }
}

/// Counts the log lines that this thread writes during `run`, with the layers that Bevy's `LogPlugin` builds
/// with `custom_layer: limit_logs` (`limited`) or without it.
fn lines(limited: bool, run: impl FnOnce()) -> BTreeMap<String, usize> {
    let lines = LogLines::default();
    let limit = if limited { limit_logs(&mut App::empty()) } else { None };
    let subscriber = Registry::default().with(limit).with(LevelFilter::INFO).with(lines.clone());
    with_default(subscriber, run);
    let lines = lines.0.lock().expect("an unpoisoned lock");
    lines.clone()
}

/// Starts a match of two players with unreachable limits, so that every packet is inspected.
fn start_unlimited() -> (Match, Entity) {
    let mut game = start(MatchOptions { players: 2, ..MatchOptions::default() });
    game.run(seconds(4.0));
    set_limits(&mut game, |limits| {
        limits.strikes = f32::INFINITY;
        limits.packets_per_second = 1e6;
        limits.bytes_per_second = 1e9;
        limits.datagrams_per_second = 1e6;
        limits.messages_per_second = 1e6;
    });
    // Lets the token buckets fill.
    game.run(seconds(0.5));
    let world = game.server.world_mut();
    let listener = world.query_filtered::<Entity, With<NetcodeServer>>().single(world).expect("one listener");
    (game, listener)
}

/// Sends a thousand invalid packets per round: half of them from a connected client, a quarter from unknown
/// addresses and a quarter spoofed from the address of the other client.
fn flood(game: &mut Match, listener: Entity, rounds: u32) {
    let sense = message(channel(&game.server, "ServerEventChannel"), Some(0), &[1, 2, 3]);
    let (part, answer) = (packet(1, &[7; 9]), packet(4, &[1]));
    let client = [&sense[..], &[0xFF; 40], &part[..], &answer[..]];
    let request = [&[0][..], b"NETCODE 1.02\0", &[7; 1_064]].concat();
    let strangers = [&request[..], &[0x15; 64], &[0x95; 40], &[1; 1_400]];
    // Datagrams that look encrypted, from a sender without the key.
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
        let honest = link(&mut game.server, 1).expect("the other client is connected");
        for bytes in spoofed.iter().cycle().take(250) {
            datagram(&mut game.server, honest, bytes);
        }
        game.run(seconds(1.0 / 64.0));
    }
    game.run(seconds(0.2));
}

// Threat T8.
#[test]
fn hundred_thousand_invalid_packets_write_fewer_than_100_log_lines() {
    let (mut game, listener) = start_unlimited();
    let began = Instant::now();
    let written = lines(true, || {
        flood(&mut game, listener, 100);
        // Then the client is kicked, which must be logged.
        set_limits(&mut game, |limits| limits.strikes = 100.0);
        flood(&mut game, listener, 1);
        game.run(seconds(2.0));
    });
    let passed = began.elapsed().as_secs() as usize;
    println!("{written:?} in {passed} s");
    let refused = stats(&game.server).refused;
    let foreign = game.server.world().resource::<TokenStats>().foreign;
    // netcode drops datagrams that the link's key does not decrypt: an eighth of all.
    assert!(
        refused.total() + foreign > 80_000,
        "{} refused and {foreign} foreign tokens are too few for a flood",
        refused.total()
    );
    assert!(refused.of(IngressRefusal::Channel) > 10_000 && refused.of(IngressRefusal::Malformed) > 10_000);
    assert!(link(&mut game.server, 0).is_none() && stats(&game.server).kicked == 1);
    assert!(
        written.keys().any(|target| target.starts_with("lightyear_guard")),
        "{written:?}: the kick was not logged"
    );
    // On a slow machine each further second allows as many lines again.
    let most = 100 + passed * 20 * written.len();
    assert!(written.values().sum::<usize>() < most, "{written:?} in {passed} s");
    assert!(written.values().all(|lines| *lines <= 20 * (passed + 1)), "{written:?} in {passed} s");
}

/// Control: without the limit there are lines to suppress, and they are counted.
#[test]
fn invalid_packets_write_thousands_of_log_lines_without_the_limit() {
    let (mut game, listener) = start_unlimited();
    let written = lines(false, || flood(&mut game, listener, 20));
    println!("{written:?}");
    let most = written.values().max().copied().unwrap_or(0);
    assert!(most > 1_000, "{written:?}: too few log lines to limit");
}
