//! The game looks at messages before anybody can read them.

use bevy_unlag::{
    guard::{KickReason, Kicked, KickedByServer},
    net::MessageVerdict,
};

use super::*;

/// Numbers that [`judge`] knows.
pub const GOOD: u32 = 0;
pub const BAD: u32 = 1;
pub const HOSTILE: u32 = 2;

/// State of the game that the judge asks for.
#[derive(Resource)]
pub struct Closed;

/// A judge like any system.
pub fn judge(
    ask: InRef<Received<Ask>>,
    closed: Option<Res<Closed>>,
    pawns: Query<&Health>,
) -> MessageVerdict {
    let dead = ask.about.is_some_and(|pawn| pawns.get(pawn).is_ok_and(|health| health.now <= 0.0));
    match ask.message.0 {
        HOSTILE => MessageVerdict::Kick(9),
        GOOD if closed.is_none() && !dead => MessageVerdict::Accept,
        _ => MessageVerdict::Reject,
    }
}

/// What no app has.
#[derive(Resource)]
pub struct Nowhere;

pub fn judge_orphan(_: InRef<Received<Orphan>>, _: Res<Nowhere>) -> MessageVerdict {
    MessageVerdict::Accept
}

#[test]
fn what_the_game_rejects_nobody_reads() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    for ask in [GOOD, BAD, GOOD, BAD] {
        send(&mut game.clients[0], Ask(ask));
    }
    game.run(3);
    assert_eq!(numbers(&game.server, "Ask"), [GOOD, GOOD]);
    assert_eq!(game.refused(0, IngressRefusal::Rejected), 2);
    game.server.insert_resource(Closed);
    send(&mut game.clients[0], Ask(GOOD));
    // A judge that cannot run lets nothing pass.
    send(&mut game.clients[0], Orphan(1));
    send(&mut game.clients[0], Say(1));
    game.run(3);
    assert_eq!(numbers(&game.server, "Ask"), [GOOD, GOOD], "it looks at the game");
    assert!(heard(&game.server, "Orphan").is_empty());
    assert_eq!(numbers(&game.server, "Say"), [1]);
    assert_eq!(game.refused(0, IngressRefusal::Rejected), 4);
    assert_eq!(game.traffic(0).strikes, 0.0, "it is no offence");
}

#[test]
fn who_is_thrown_out_by_the_game_hears_why_and_is_not_heard() {
    let mut game = Game::start(2, LinkConditions::PERFECT);
    for client in &mut game.clients {
        send(client, Say(1));
    }
    send(&mut game.clients[0], Ask(HOSTILE));
    for client in &mut game.clients {
        send(client, Say(2));
    }
    let link = game.link(0).expect("it is connected");
    game.run(3);
    let of = |game: &Game, link| {
        let words = heard(&game.server, "Say").into_iter();
        words
            .filter(|word| word.from == MessageSource::Client(link))
            .map(|word| word.number)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&game, link), [1], "what it said after that came in the same frame");
    assert!(heard(&game.server, "Ask").is_empty());
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
    let other = game.link(1).expect("it did nothing");
    assert_eq!(of(&game, other), [1, 2]);
}
