//! What a client says that no client may say.

use super::*;
use crate::ingress::{channel, message_id};

/// Packets with a message of every name that there can be, with these bytes behind it.
fn every_name(client: &App, channel_name: &str, message: &str, reliable: bool, body: &[u8]) -> Vec<Vec<u8>> {
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

/// Lets a client send so many packets a frame.
fn pour(game: &mut Game, packets: &[Vec<u8>], a_frame: usize) {
    for some in packets.chunks(a_frame) {
        some.iter().for_each(|packet| crate::ingress::send(&mut game.clients[0], packet));
        game.run(1);
    }
    game.run(3);
}

fn open_all_gates(game: &mut Game) {
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

#[test]
fn by_no_name_a_client_speaks_in_another_direction_or_on_another_channel() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    game.seconds(4);
    open_all_gates(&mut game);
    // No pawn, and a number: the first bit of the body is clear.
    let body = (5_u64 << 1).to_le_bytes();
    let packets =
        every_name(&game.clients[0], "GameUnreliableChannel", "GameUnreliableMessage", false, &body[..5]);
    pour(&mut game, &packets, 100);
    let words: Vec<_> = game.server.world().resource::<Heard>().0.clone();
    let kinds: Vec<_> = words.iter().map(|word| (word.kind, word.number)).collect();
    assert_eq!(kinds, [("Wave", 5)], "it alone is unreliable and for the server");
    // Seven of this test's, and the game's own.
    assert_eq!(game.refused(0, IngressRefusal::Channel), 8, "the reliable ones for the server");
    let unknown = game.refused(0, IngressRefusal::Message);
    assert_eq!(unknown, 65_536 - 9, "what is for clients is as unknown as what there is not");
    assert!(game.traffic(0).strikes > 100_000.0);
}

#[test]
fn who_speaks_for_another_s_pawn_is_refused_and_in_the_end_thrown_out() {
    let mut game = Game::start(2, LinkConditions::PERFECT);
    game.seconds(4);
    let (own, other) = (game.pawn(Some(0)), game.pawn(Some(1)));
    send_about(&mut game.clients[0], other, Say(1));
    send_about(&mut game.clients[0], own, Say(2));
    send_about(&mut game.clients[0], other, Wave(3));
    game.run(3);
    assert_eq!(numbers(&game.server, "Say"), [2]);
    assert!(heard(&game.server, "Wave").is_empty());
    assert_eq!(game.refused(0, IngressRefusal::Owner), 2);
    let strikes = game.traffic(0).strikes;
    assert!((3.0..=4.0).contains(&strikes), "{strikes} strikes");
    let mut frames = 0;
    while game.connected(0) && frames < 128 {
        send_about(&mut game.clients[0], other, Say(frames));
        game.run(1);
        frames += 1;
    }
    assert!((45..70).contains(&frames), "thrown out after {frames} frames");
    game.seconds(1);
    assert!(game.link(0).is_none(), "it went on for that long");
    assert_eq!(numbers(&game.server, "Say"), [2]);
    assert_eq!(game.traffic(1).strikes, 0.0);
}

#[test]
fn what_cannot_be_read_is_an_offence_and_nobody_gets_it() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    game.seconds(4);
    for number in [3, 101, u32::MAX, 7, 4] {
        send(&mut game.clients[0], Strict(number));
    }
    game.run(3);
    assert_eq!(numbers(&game.server, "Strict"), [3, 4], "7 has something behind it");
    assert_eq!(game.refused(0, IngressRefusal::Content), 3);
    let strikes = game.traffic(0).strikes;
    assert!((29.0..=30.0).contains(&strikes), "{strikes} strikes");
    (0..8).for_each(|_| send(&mut game.clients[0], Strict(101)));
    game.seconds(1);
    assert!(game.link(0).is_none(), "eleven of them end it");
}

#[test]
fn cut_and_mangled_envelopes_are_refused_and_nothing_breaks() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    game.seconds(4);
    open_all_gates(&mut game);
    let (channel, id) = (
        channel(&game.clients[0], "GameUnreliableChannel"),
        message_id(&game.clients[0], "GameUnreliableMessage"),
    );
    let mut state = 7_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    let mut packets = Vec::new();
    for length in (0..40).chain([1_000, 1_090]) {
        for _ in 0..20 {
            let bytes: Vec<u8> = (0..length).map(|_| random()).collect();
            packets.push(crate::ingress::message(channel, None, &[&id[..], &bytes].concat()));
        }
    }
    pour(&mut game, &packets, 20);
    let refused = stats(&game.server).refused;
    assert_eq!(refused, packets.len() as u64, "{:?}", game.traffic(0));
    send(&mut game.clients[0], Say(1));
    game.run(3);
    assert_eq!(numbers(&game.server, "Say"), [1], "all else goes on");
}
