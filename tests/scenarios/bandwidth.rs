//! Bandwidth counters by message class, on both ends.

use bevy::prelude::*;
use bevy_unlag::{
    net::{Bandwidth, MessageClass},
    prelude::*,
};
use unlag_examples::stepped_match::MatchOptions;

use crate::{seconds, start};

#[test]
fn sent_and_received_bytes_agree_for_each_message_class() {
    let mut game = start(MatchOptions { players: 3, ..MatchOptions::default() });
    game.fight(8.0);
    let on = |app: &App, class| app.world().resource::<Bandwidth>().of(class);
    for class in [
        MessageClass::Moves,
        MessageClass::MoveAcks,
        MessageClass::Snapshots,
        MessageClass::Replication,
        MessageClass::Verdicts,
        MessageClass::Tracers,
        MessageClass::Hello,
        MessageClass::Pings,
        MessageClass::Pongs,
    ] {
        let server = on(&game.server, class);
        let clients = game.clients.iter().map(|client| on(client, class));
        let (messages, bytes) = clients.fold((0, 0), |sum, one| (sum.0 + one.messages, sum.1 + one.bytes));
        assert!(messages > 0 && bytes >= messages, "{class:?}: {messages} messages of {bytes} bytes");
        // No loss here; a few messages are in flight.
        assert!(server.messages.abs_diff(messages) <= 12, "{class:?}: {server:?}, {messages} on clients");
        assert!(server.bytes.abs_diff(bytes) <= 600, "{class:?}: {server:?}, {bytes} on clients");
    }
}

#[test]
fn client_reports_rates_per_class_without_the_packet_overhead() {
    let mut game = start(MatchOptions { players: 2, ..MatchOptions::default() });
    game.run(seconds(6.0));
    for client in &mut game.clients {
        let bandwidth = *client.world().resource::<Bandwidth>();
        let moves = bandwidth.of(MessageClass::Moves);
        assert!((10.0..100.0).contains(&moves.messages_per_second), "{moves:?}");
        assert!(moves.bytes_per_second >= moves.messages_per_second * 8.0, "{moves:?}");
        let snapshots = bandwidth.of(MessageClass::Snapshots);
        assert!(snapshots.bytes_per_second > 100.0, "snapshots of the other pawn: {snapshots:?}");
        let replication = bandwidth.of(MessageClass::Replication);
        assert!(replication.bytes > 20, "replication of the other pawn: {replication:?}");
        assert!(
            replication.bytes_per_second < snapshots.bytes_per_second / 2.0,
            "{replication:?}, {snapshots:?}"
        );

        let world = client.world_mut();
        let (up, down) = world.query::<&NetSim>().single(world).expect("a simulated link").bytes();
        assert!(bandwidth.up().bytes < up, "{bandwidth:?}, {up} bytes of datagrams");
        assert!(bandwidth.down().bytes < down, "{bandwidth:?}, {down} bytes of datagrams");
    }
}
