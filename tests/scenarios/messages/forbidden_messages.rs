//! Game messages that no client may send (threat T9 in `book/src/operations/link_protection.md`).

use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::*;
use crate::ingress::{channel, message_id};
use bevy_unlag::guard::IngressLimits;

/// One packet for every possible message type index, followed by `body`.
fn every_message_index(
    client: &App,
    channel_name: &str,
    message: &str,
    reliable: bool,
    body: &[u8],
) -> Vec<Vec<u8>> {
    let (channel, id) = (channel(client, channel_name), message_id(client, message));
    let mut number = 0_u16;
    (0..=u16::MAX)
        .map(|key| {
            let bytes = [&id[..], &key.to_le_bytes(), body].concat();
            let packet = crate::ingress::message(channel, reliable.then_some(number), &bytes);
            number = number.wrapping_add(1);
            packet
        })
        .collect()
}

/// Sends the packets from the first client, `a_frame` of them per frame.
fn send_paced(game: &mut Game, packets: &[Vec<u8>], a_frame: usize) {
    for some in packets.chunks(a_frame) {
        some.iter().for_each(|packet| crate::ingress::send(&mut game.clients[0], packet));
        game.run(1);
    }
    game.run(3);
}

fn remove_limits(game: &mut Game) {
    let open = f32::INFINITY;
    game.server.insert_resource(IngressLimits {
        datagrams_per_second: open,
        packets_per_second: open,
        bytes_per_second: open,
        messages_per_second: open,
        strikes: open,
        ..default()
    });
}

// Threat T9.
#[test]
fn no_message_index_lets_a_client_send_in_another_direction_or_channel() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    game.seconds(4);
    remove_limits(&mut game);
    // A number without a pawn: the first bit of the body is clear.
    let body = (5_u64 << 1).to_le_bytes();
    let packets = every_message_index(
        &game.clients[0],
        "GameUnreliableChannel",
        "GameUnreliableMessage",
        false,
        &body[..5],
    );
    send_paced(&mut game, &packets, 100);
    let words: Vec<_> = game.server.world().resource::<ReceivedLog>().0.clone();
    let kinds: Vec<_> = words.iter().map(|word| (word.kind, word.number)).collect();
    assert_eq!(kinds, [("Wave", 5)], "only `Wave` is unreliable and sent to the server");
    // Seven types of this test, and two of the game.
    assert_eq!(game.refused(0, IngressRefusal::Channel), 9, "reliable types to the server");
    let unknown = game.refused(0, IngressRefusal::Message);
    assert_eq!(unknown, 65_536 - 10, "types to clients and unassigned indices must count as unknown");
    assert!(game.traffic(0).strikes > 100_000.0);
}

// Threat T9.
#[test]
fn messages_about_another_players_pawn_are_refused_and_finally_kick_the_sender() {
    let mut game = Game::start(2, LinkConditions::PERFECT);
    game.seconds(4);
    let (own, other) = (game.pawn(Some(0)), game.pawn(Some(1)));
    send_about(&mut game.clients[0], other, Say(1));
    send_about(&mut game.clients[0], own, Say(2));
    send_about(&mut game.clients[0], other, Wave(3));
    game.run(3);
    assert_eq!(numbers(&game.server, "Say"), [2]);
    assert!(logged(&game.server, "Wave").is_empty());
    assert_eq!(game.refused(0, IngressRefusal::Owner), 2);
    let strikes = game.traffic(0).strikes;
    assert!((3.0..=4.0).contains(&strikes), "{strikes} strikes");
    let mut frames = 0;
    while game.connected(0) && frames < 128 {
        send_about(&mut game.clients[0], other, Say(frames));
        game.run(1);
        frames += 1;
    }
    assert!((45..70).contains(&frames), "kicked after {frames} frames");
    game.seconds(1);
    assert!(game.link(0).is_none(), "the kicked client is still connected");
    assert_eq!(numbers(&game.server, "Say"), [2]);
    assert_eq!(game.traffic(1).strikes, 0.0);
}

#[test]
fn undecodable_messages_are_dropped_and_cost_strikes() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    game.seconds(4);
    for number in [3, 101, u32::MAX, 7, 4] {
        send(&mut game.clients[0], Strict(number));
    }
    game.run(3);
    assert_eq!(numbers(&game.server, "Strict"), [3, 4], "7 has trailing bytes");
    assert_eq!(game.refused(0, IngressRefusal::Content), 3);
    let strikes = game.traffic(0).strikes;
    assert!((29.0..=30.0).contains(&strikes), "{strikes} strikes");
    (0..8).for_each(|_| send(&mut game.clients[0], Strict(101)));
    game.seconds(1);
    assert!(game.link(0).is_none(), "eleven offences must kick the client");
}

#[test]
fn random_envelopes_are_refused_and_valid_messages_still_arrive() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    game.seconds(4);
    remove_limits(&mut game);
    let (channel, id) = (
        channel(&game.clients[0], "GameUnreliableChannel"),
        message_id(&game.clients[0], "GameUnreliableMessage"),
    );
    let mut rng = SmallRng::seed_from_u64(7);
    let mut packets = Vec::new();
    for length in (0..40).chain([1_000, 1_090]) {
        for _ in 0..20 {
            let bytes: Vec<u8> = (0..length).map(|_| rng.random()).collect();
            packets.push(crate::ingress::message(channel, None, &[&id[..], &bytes].concat()));
        }
    }
    send_paced(&mut game, &packets, 20);
    let refused = stats(&game.server).refused;
    assert_eq!(refused, packets.len() as u64, "{:?}", game.traffic(0));
    send(&mut game.clients[0], Say(1));
    game.run(3);
    assert_eq!(numbers(&game.server, "Say"), [1], "valid messages must still arrive");
}
