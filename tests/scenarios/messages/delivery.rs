//! Delivery of game messages: once, in order and to the right receivers.

use super::*;
use bevy_unlag::net::{Bandwidth, MessageClass};

/// Whether the received messages are a gapless prefix of those sent: their numbers are the sending order over
/// all types.
fn is_gapless_prefix(words: &[LoggedMessage]) -> bool {
    let mut numbers: Vec<_> = words.iter().map(|word| word.number).collect();
    numbers.sort_unstable();
    numbers.into_iter().eq(0..words.len() as u32)
}

#[test]
fn reliable_messages_arrive_once_and_in_order_on_any_link() {
    for conditions in [LinkConditions::PERFECT, bad_link()] {
        let mut game = Game::start(2, conditions);
        let pawn = game.pawn(Some(0));
        for frame in 0..900 {
            if frame < 100 {
                let client = &mut game.clients[0];
                send(client, Say(frame * 2));
                send_about(client, pawn, Add(frame * 2 + 1));
                send_about(&mut game.server, pawn, Tell(frame * 2));
                send_about(&mut game.server, pawn, Shout(frame * 2 + 1));
            }
            game.run(1);
            assert!(is_gapless_prefix(&logged_all(&game.server, &["Say", "Add"])), "up, frame {frame}");
            assert!(
                is_gapless_prefix(&logged_all(&game.clients[0], &["Tell", "Shout"])),
                "down, frame {frame}"
            );
        }
        let evens = || (0..100).map(|number| number * 2);
        assert!(numbers(&game.server, "Say").into_iter().eq(evens()));
        assert!(numbers(&game.server, "Add").into_iter().eq(evens().map(|even| even + 1)));
        assert!(numbers(&game.clients[0], "Tell").into_iter().eq(evens()));
        for client in &game.clients {
            assert!(numbers(client, "Shout").into_iter().eq(evens().map(|even| even + 1)));
        }
        assert!(logged(&game.clients[1], "Tell").is_empty(), "only the pawn's owner may receive `Tell`");
        let link = game.link(0).expect("the client is connected");
        assert!(logged(&game.server, "Say").iter().all(|word| word.from == MessageSource::Client(link)));
        assert!(logged(&game.server, "Say").iter().all(|word| word.about.is_none()));
        assert!(logged(&game.server, "Add").iter().all(|word| word.about == Some(pawn)));
        assert!(logged(&game.clients[1], "Shout").iter().all(|word| word.about == Some(pawn)));
        // The server itself receives its messages to all clients.
        assert_eq!(logged(&game.server, "Shout").len(), 100);
        assert!(logged(&game.server, "Shout").iter().all(|word| word.from == MessageSource::Server));
        let traffic = game.traffic(0);
        assert_eq!((traffic.refused.total(), traffic.strikes), (0, 0.0), "{traffic:?}");
    }
}

fn logged_all(app: &App, kinds: &[&str]) -> Vec<LoggedMessage> {
    kinds.iter().flat_map(|kind| logged(app, kind)).collect()
}

#[test]
fn messages_of_a_frame_are_sent_in_that_frame_and_share_packets() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    let packets = |game: &mut Game| {
        let world = game.clients[0].world_mut();
        world.query::<&NetSim>().single(world).expect("a link").up_counters().sent
    };
    for number in 0..30 {
        send(&mut game.clients[0], Wave(number));
        send(&mut game.clients[0], Say(number));
    }
    let before = packets(&mut game);
    game.clients[0].update();
    let sent = packets(&mut game) - before;
    assert!((1..=2).contains(&sent), "60 messages and a move in {sent} packets");
    game.server.update();
    game.server.update();
    assert!(numbers(&game.server, "Say").into_iter().eq(0..30));
    let mut waves = numbers(&game.server, "Wave");
    waves.sort_unstable();
    assert!(waves.into_iter().eq(0..30));
}

#[test]
fn unreliable_messages_may_be_lost_and_never_arrive_twice() {
    let conditions = LinkConditions { duplication: 0.5, ..bad_link() };
    let mut game = Game::start(1, conditions);
    for number in 0..200 {
        send(&mut game.clients[0], Wave(number));
        send(&mut game.server, Spark(number));
        game.run(1);
    }
    game.seconds(2);
    for mut come in [numbers(&game.server, "Wave"), numbers(&game.clients[0], "Spark")] {
        let all = come.len();
        come.sort_unstable();
        come.dedup();
        assert_eq!(come.len(), all, "a message arrived twice");
        assert!((120..195).contains(&all), "{all} of 200");
    }
}

#[test]
fn message_rules_apply_to_the_host_without_a_link() {
    let mut game = Game::start_with(1, LinkConditions::PERFECT, true);
    let (own, other) = (game.pawn(None), game.pawn(Some(0)));
    send(&mut game.server, Say(1));
    send_about(&mut game.server, own, Say(2));
    send_about(&mut game.server, other, Say(3));
    for ask in [validators::GOOD, validators::BAD, validators::HOSTILE, validators::GOOD] {
        send(&mut game.server, Ask(ask));
    }
    send_about(&mut game.server, own, Tell(5));
    send_about(&mut game.server, other, Tell(6));
    send_about(&mut game.server, own, Shout(7));
    (0..20).for_each(|number| send(&mut game.server, Seldom(number)));
    game.run(5);
    let words = logged(&game.server, "Say");
    assert!(words.iter().all(|word| word.from == MessageSource::Host));
    assert!(words.iter().map(|word| (word.number, word.about)).eq([(1, None), (2, Some(own))]), "{words:?}");
    assert_eq!(numbers(&game.server, "Ask"), [validators::GOOD, validators::GOOD]);
    assert_eq!(numbers(&game.server, "Seldom").len(), 5);
    assert_eq!(stats(&game.server).limited, 15);
    assert_eq!((numbers(&game.server, "Tell"), numbers(&game.clients[0], "Tell")), (vec![5], vec![6]));
    assert_eq!((numbers(&game.server, "Shout"), numbers(&game.clients[0], "Shout")), (vec![7], vec![7]));
    assert_eq!(stats(&game.server).refused, 3, "one message about another pawn and two rejected ones");
}

#[test]
fn messages_that_cannot_be_sent_are_counted() {
    let mut game = Game::start(1, LinkConditions::PERFECT);
    let own = game.pawn(Some(0));
    let link = game.link(0).expect("the client is connected");
    // Wrong direction, wrong target, a pawn without an owner, and too long.
    send(&mut game.clients[0], Shout(1));
    send(&mut game.clients[0], Tell(1));
    send(&mut game.clients[0], Long::<true>(1_001));
    send(&mut game.server, Tell(1));
    send_to(&mut game.server, link, Shout(1));
    let pawn = game.server.world_mut().spawn((bevy_unlag::net::ReplicatedPawn, NetId(700))).id();
    send_about(&mut game.server, NetId(700), Tell(1));
    send_about(&mut game.server, NetId(700), Shout(1));
    game.server.world_mut().entity_mut(pawn).despawn();
    game.run(3);
    assert_eq!((stats(&game.clients[0]).unsent, stats(&game.clients[0]).sent), (3, 0));
    // One of them is about a pawn that was despawned before the message could be sent.
    assert_eq!((stats(&game.server).unsent, stats(&game.server).sent), (4, 0));
    assert!(game.server.world().resource::<ReceivedLog>().0.is_empty());
    // Messages that can be sent.
    send_to(&mut game.server, link, Tell(2));
    send(&mut game.clients[0], Long::<true>(1_000));
    send(&mut game.server, Long::<false>(1_000));
    send_about(&mut game.clients[0], own, Say(9));
    // The long message has overdrawn the budget.
    game.run(20);
    assert_eq!(numbers(&game.clients[0], "Tell"), [2]);
    assert_eq!(numbers(&game.server, "Long<true>"), [1_000]);
    assert_eq!(numbers(&game.clients[0], "Long<false>"), [1_000]);
    assert_eq!(numbers(&game.server, "Say"), [9]);
    let bandwidth = |app: &App, class| app.world().resource::<Bandwidth>().of(class);
    for class in [MessageClass::GameUplink, MessageClass::GameDownlink] {
        let (server, client) = (bandwidth(&game.server, class), bandwidth(&game.clients[0], class));
        assert_eq!((server.messages, server.bytes), (client.messages, client.bytes), "{class:?}");
        assert!(server.messages == 2 && server.bytes > 1_000, "{class:?}: {server:?}");
    }
}
