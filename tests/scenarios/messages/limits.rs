//! Limits of game messages: queue length, rate and bandwidth.

use bevy_unlag::{
    core::SnapshotHistory,
    guard::{KickReason, KickedByServer},
    net::{DownlinkBudget, MessageLimits},
};

use super::*;

#[test]
fn client_disconnects_when_its_reliable_queue_overflows() {
    let mut game = Game::start(2, bad_link());
    (0..256).for_each(|number| send(&mut game.clients[0], Say(number)));
    game.run(1);
    assert_eq!(stats(&game.clients[0]).overflowed, 0);
    // Everything that fits into the queue arrives.
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
fn server_kicks_a_client_whose_reliable_queue_overflows() {
    let mut game = Game::start(2, LinkConditions::PERFECT);
    let link = game.link(0).expect("the client is connected");
    (0..300).for_each(|number| send_to(&mut game.server, link, Tell(number)));
    game.run(2);
    let told: Vec<_> =
        game.clients[0].world_mut().resource_mut::<Messages<KickedByServer>>().drain().collect();
    assert_eq!(told, [KickedByServer(KickReason::QueueOverflow)]);
    game.seconds(2);
    assert!(game.link(0).is_none() && game.link(1).is_some());
    let stats = stats(&game.server);
    assert_eq!((stats.overflowed, stats.sent, stats.unsent), (1, 256, 44));
    // A longer queue.
    game.server.world_mut().resource_mut::<MessageLimits>().reliable_queue = 400;
    let link = game.link(1).expect("the client is connected");
    (0..300).for_each(|number| send_to(&mut game.server, link, Tell(number)));
    game.seconds(4);
    assert!(numbers(&game.clients[1], "Tell").into_iter().eq(0..300));
}

#[test]
fn message_rate_is_limited_by_the_client_and_enforced_by_the_server() {
    let mut game = Game::start(1, bad_link());
    game.seconds(4);
    for second in 0..8 {
        (0..20).for_each(|number| send(&mut game.clients[0], Seldom(second * 20 + number)));
        game.seconds(1);
    }
    game.seconds(2);
    let come = numbers(&game.server, "Seldom");
    assert!((38..=42).contains(&come.len()), "{} messages in eight seconds", come.len());
    assert_eq!(stats(&game.clients[0]).limited + come.len() as u64, 160);
    let traffic = game.traffic(0);
    assert_eq!(
        (traffic.refused.total(), traffic.strikes),
        (0, 0.0),
        "an honest client must never be refused"
    );

    // A client without its own rate limit.
    add::<Seldom>(&mut game.clients[0], MessageRules::to_server().per_second(f32::INFINITY));
    for count in [200, 120] {
        (0..count).for_each(|number| send(&mut game.clients[0], Seldom(1_000 + number)));
        game.seconds(3);
    }
    let more = numbers(&game.server, "Seldom").len() - come.len();
    // The burst for messages that may have waited during an outage, plus the rate of six seconds.
    assert!((250..=290).contains(&more), "{more} more messages");
    assert_eq!(game.refused(0, IngressRefusal::Rate) + more as u64, 320);
}

/// Movement figures during a flood of game messages in both directions.
struct FloodFigures {
    /// Unacknowledged moves: maximum and 99th percentile over all frames.
    unanswered: (u64, u64),
    /// Age of the newest snapshot of remote pawns, in ticks: maximum and 99th percentile.
    age: (i32, i32),
    /// Reliable and unreliable messages that the client received.
    come: (usize, usize),
}

/// Runs a match with thirty remote pawns on a link with the given rate. For ten seconds the game sends, per
/// frame, `messages` reliable messages of 200 bytes each way and as many small unreliable ones to the client.
/// `tame` keeps the bandwidth limits.
fn run_flood(bytes_per_second: u32, messages: u32, tame: bool) -> FloodFigures {
    let line = LinkConditions { latency: crate::seconds(0.02), bytes_per_second, ..LinkConditions::PERFECT };
    let mut game = Game::start(1, line);
    for id in 101..131 {
        pawns::spawn_standing_pawn(&mut game, id);
    }
    // Half the rate: the rest is for acknowledgements and packet overhead.
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
    FloodFigures {
        unanswered: (unanswered[639], unanswered[633]),
        age: (ages[639], ages[633]),
        come: (numbers(&game.clients[0], "Long<false>").len(), numbers(&game.clients[0], "Spark").len()),
    }
}

#[test]
fn flood_of_reliable_messages_delays_movement_by_at_most_94_ms() {
    for rate in [64_000, 16_000] {
        let calm = run_flood(rate, 0, true);
        let tame = run_flood(rate, 2, true);
        println!(
            "{rate} bytes/s: unacked moves {:?}, {:?} in a flood; age in ticks {:?}, {:?}; received {:?}",
            calm.unanswered, tame.unanswered, calm.age, tame.age, tame.come
        );
        // Six ticks are 94 ms.
        assert!(tame.unanswered.1 <= calm.unanswered.1 + 6, "the flood delays acknowledgements of moves");
        assert!(tame.age.1 <= calm.age.1 + 6, "the flood delays snapshots");
        assert!(tame.come.0 > 30, "reliable messages must arrive");
        assert!(rate > 16_000 || tame.come.1 < 1_000, "unreliable messages must be dropped first");
    }
    let wild = run_flood(16_000, 2, false);
    println!("without limits: {:?} unacknowledged moves, age {:?} ticks", wild.unanswered, wild.age);
    assert!(
        wild.unanswered.1 > 40 && wild.age.1 > 40,
        "movement is not delayed without limits: the test shows nothing"
    );
}
