//! Game validators, which check messages before any system can read them.

use bevy_unlag::{
    guard::{KickReason, Kicked, KickedByServer},
    net::MessageVerdict,
};

use super::*;

/// Message numbers that [`validate_ask`] knows.
pub const GOOD: u32 = 0;
pub const BAD: u32 = 1;
pub const HOSTILE: u32 = 2;

/// Game state that the validator reads.
#[derive(Resource)]
pub struct Closed;

/// A validator, which is an ordinary system.
pub fn validate_ask(
    ask: InRef<Received<Ask>>,
    closed: Option<Res<Closed>>,
    pawns: Query<&Health>,
) -> MessageVerdict {
    let dead = ask.about.is_some_and(|pawn| pawns.get(pawn).is_ok_and(|health| health.current <= 0.0));
    match ask.message.0 {
        HOSTILE => MessageVerdict::Kick(9),
        GOOD if closed.is_none() && !dead => MessageVerdict::Accept,
        _ => MessageVerdict::Reject,
    }
}

/// A resource that no app has, so that its validator cannot run.
#[derive(Resource)]
pub struct MissingResource;

pub fn validate_orphan(_: InRef<Received<Orphan>>, _: Res<MissingResource>) -> MessageVerdict {
    MessageVerdict::Accept
}

#[test]
fn messages_rejected_by_the_validator_are_never_delivered() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    for ask in [GOOD, BAD, GOOD, BAD] {
        send(&mut game.clients[0], Ask(ask));
    }
    game.run(3);
    assert_eq!(numbers(&game.server, "Ask"), [GOOD, GOOD]);
    assert_eq!(game.refused(0, IngressRefusal::Rejected), 2);
    game.server.insert_resource(Closed);
    send(&mut game.clients[0], Ask(GOOD));
    // A validator that cannot run rejects everything.
    send(&mut game.clients[0], Orphan(1));
    send(&mut game.clients[0], Say(1));
    game.run(3);
    assert_eq!(numbers(&game.server, "Ask"), [GOOD, GOOD], "the validator must read the game state");
    assert!(logged(&game.server, "Orphan").is_empty());
    assert_eq!(numbers(&game.server, "Say"), [1]);
    assert_eq!(game.refused(0, IngressRefusal::Rejected), 4);
    assert_eq!(game.traffic(0).strikes, 0.0, "a rejection must cost no strikes");
}

#[test]
fn validator_kick_sends_its_reason_and_drops_the_senders_later_messages() {
    let mut game = Game::start(2, LinkConditions::PERFECT);
    for client in &mut game.clients {
        send(client, Say(1));
    }
    send(&mut game.clients[0], Ask(HOSTILE));
    for client in &mut game.clients {
        send(client, Say(2));
    }
    let link = game.link(0).expect("the first client is connected");
    game.run(3);
    let of = |game: &Game, link| {
        let words = logged(&game.server, "Say").into_iter();
        words
            .filter(|word| word.from == MessageSource::Client(link))
            .map(|word| word.number)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&game, link), [1], "messages after the kick must be dropped, even in the same frame");
    assert!(logged(&game.server, "Ask").is_empty());
    let told: Vec<_> = game
        .server
        .world_mut()
        .resource_mut::<Messages<Kicked>>()
        .drain()
        .map(|kicked| kicked.reason)
        .collect();
    assert_eq!(told, [KickReason::Game(9)]);
    let told: Vec<_> =
        game.clients[0].world_mut().resource_mut::<Messages<KickedByServer>>().drain().collect();
    assert_eq!(told, [KickedByServer(KickReason::Game(9))]);
    game.seconds(2);
    assert!(game.link(0).is_none() && !game.connected(0));
    let other = game.link(1).expect("the second client is connected");
    assert_eq!(of(&game, other), [1, 2]);
}
