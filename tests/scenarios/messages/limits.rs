//! How many messages there may be.

use bevy_unlag::{
    core::SnapshotHistory,
    guard::{KickReason, KickedByServer},
    net::MessageLimits,
};

use super::*;

#[test]
fn more_than_the_queue_holds_ends_the_connection_of_a_client() {
    let mut game = Game::start(2, bad());
    (0..256).for_each(|number| send(&mut game.clients[0], Say(number)));
    game.run(1);
    assert_eq!(stats(&game.clients[0]).overflowed, 0);
    // What was sent at once arrives, all of it.
    game.seconds(10);
    assert!(numbers(&game.server, "Say").into_iter().eq(0..256));
    assert!(game.connected(0));

    (0..257).for_each(|number| send(&mut game.clients[0], Say(number)));
    game.seconds(1);
    assert!(!game.connected(0) && game.connected(1));
    let stats = stats(&game.clients[0]);
    assert_eq!((stats.overflowed, stats.unsent), (1, 1));
    assert!(stats.refused == 0 && game.clients[0].world().resource::<Messages<KickedByServer>>().is_empty());
}

#[test]
fn more_than_the_queue_holds_throws_a_client_out() {
    let mut game = Game::start(2, LinkConditions::PERFECT);
    let link = game.link(0).expect("it is connected");
    (0..300).for_each(|number| send_to(&mut game.server, link, Tell(number)));
    game.run(2);
    let told: Vec<_> =
        game.clients[0].world_mut().resource_mut::<Messages<KickedByServer>>().drain().collect();
    assert_eq!(told, [KickedByServer(KickReason::QueueOverflow)]);
    game.seconds(2);
    assert!(game.link(0).is_none() && game.link(1).is_some());
    let stats = stats(&game.server);
    assert_eq!((stats.overflowed, stats.sent, stats.unsent), (1, 256, 44));
    // A queue of another length.
    game.server.world_mut().resource_mut::<MessageLimits>().reliable_queue = 400;
    let link = game.link(1).expect("it is connected");
    (0..300).for_each(|number| send_to(&mut game.server, link, Tell(number)));
    game.seconds(4);
    assert!(numbers(&game.clients[1], "Tell").into_iter().eq(0..300));
}

#[test]
fn a_client_counts_its_own_and_the_server_counts_again() {
    let mut game = Game::start(1, bad());
    game.seconds(4);
    for second in 0..8 {
        (0..20).for_each(|number| send(&mut game.clients[0], Seldom(second * 20 + number)));
        game.seconds(1);
    }
    game.seconds(2);
    let come = numbers(&game.server, "Seldom");
    assert!((38..=42).contains(&come.len()), "{} in eight seconds", come.len());
    assert_eq!(stats(&game.clients[0]).limited + come.len() as u64, 160);
    let traffic = game.traffic(0);
    assert_eq!((traffic.refused.total(), traffic.strikes), (0, 0.0), "an honest one is never refused");

    // One that does not count.
    add::<Seldom>(&mut game.clients[0], MessageRules::to_server().per_second(f32::INFINITY));
    for count in [200, 120] {
        (0..count).for_each(|number| send(&mut game.clients[0], Seldom(1_000 + number)));
        game.seconds(3);
    }
    let more = numbers(&game.server, "Seldom").len() - come.len();
    // As many as may have waited on a line that was down, and what six seconds allow.
    assert!((250..=290).contains(&more), "{more} more");
    assert_eq!(game.refused(0, IngressRefusal::Rate) + more as u64, 320);
}

/// What a line does to movement while the game says a lot, each way.
struct Flooded {
    /// How many moves waited for answers: the largest, and of 99 in a hundred frames.
    unanswered: (u64, u64),
    /// How old what is seen of others is, in ticks: the largest, and of 99 in a hundred frames.
    age: (i32, i32),
    /// Reliable and unreliable messages that have come to the client.
    come: (usize, usize),
}

/// Thirty others stand around on a line with such a rate; then, for ten seconds, the game says so many messages of 200
/// bytes a frame, each way, and one more that may be lost.
fn flooded(bytes_per_second: u32, messages: u32, tame: bool) -> Flooded {
    let line = LinkConditions { latency: crate::seconds(0.02), bytes_per_second, ..LinkConditions::PERFECT };
    let mut game = Game::start(1, line);
    for id in 101..131 {
        pawns::stand(&mut game, id);
    }
    // Half the line: the rest is for answers and for what is put around messages.
    game.server.insert_resource(DownlinkBudget { bytes_per_second: bytes_per_second / 2 });
    let wild = MessageLimits { down_share: 1.0, up_bytes_per_second: 1_000_000, ..MessageLimits::default() };
    for app in [&mut game.server, &mut game.clients[0]] {
        if !tame {
            app.insert_resource(DownlinkBudget { bytes_per_second: 1_000_000 }).insert_resource(wild);
        }
        app.world_mut().resource_mut::<MessageLimits>().reliable_queue = 1_000_000;
    }
    game.seconds(3);
    let (mut unanswered, mut ages) = (Vec::new(), Vec::new());
    for _ in 0..640 {
        for _ in 0..messages {
            send(&mut game.clients[0], Long::<true>(200));
            send(&mut game.server, Long::<false>(200));
            send(&mut game.server, Spark(1));
        }
        game.run(1);
        unanswered.push(u64::from(crate::stats(&mut game.clients[0]).unacknowledged_moves));
        let now = game.server.world().resource::<CurrentTick>().0;
        let world = game.clients[0].world_mut();
        let mut others = world.query::<&SnapshotHistory>();
        let newest = others.iter(world).filter_map(|history| history.newest()).map(|newest| newest.tick);
        ages.push(newest.map(|tick| now.since(tick)).min().unwrap_or(i32::MAX));
    }
    unanswered.sort_unstable();
    ages.sort_unstable();
    Flooded {
        unanswered: (unanswered[639], unanswered[633]),
        age: (ages[639], ages[633]),
        come: (numbers(&game.clients[0], "Long<false>").len(), numbers(&game.clients[0], "Spark").len()),
    }
}

#[test]
fn a_flood_of_reliable_messages_does_not_hold_up_movement() {
    for rate in [64_000, 16_000] {
        let calm = flooded(rate, 0, true);
        let tame = flooded(rate, 2, true);
        println!(
            "{rate} bytes a second: moves unanswered {:?}, {:?} in a flood; ticks of age {:?}, {:?}; come {:?}",
            calm.unanswered, tame.unanswered, calm.age, tame.age, tame.come
        );
        // Six ticks are 94 ms.
        assert!(tame.unanswered.1 <= calm.unanswered.1 + 6, "moves wait");
        assert!(tame.age.1 <= calm.age.1 + 6, "others are seen late");
        assert!(tame.come.0 > 30, "and what must arrive does");
        assert!(rate > 16_000 || tame.come.1 < 1_000, "what may be lost is what is left out");
    }
    let wild = flooded(16_000, 2, false);
    println!("without limits: {:?} unanswered, {:?} ticks of age", wild.unanswered, wild.age);
    assert!(wild.unanswered.1 > 40 && wild.age.1 > 40, "so this test shows something");
}
