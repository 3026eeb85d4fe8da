//! One downlink budget for everything that a client is sent: a game's own flood of replication must not delay movement.

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{
    SoldierBody,
    core::SnapshotHistory,
    guard::{KickReason, KickedByServer},
    link_conditioner::LinkConditions,
    movement::CapsuleState,
    net::{Bandwidth, DownlinkBudget, MessageClass, MessageLimits, ReplicatedPawn},
    prelude::*,
    weapons::WeaponState,
};
use lightyear::prelude::{AppComponentExt, Connected, NetworkTarget, Replicate, Transport, server::ClientOf};
use serde::{Deserialize, Serialize};
use unlag_examples::{
    app::{self, ServerOptions},
    connection,
    scripted_player::ScriptedPlayer,
};

/// A game's component of a kilobyte that may change in every tick.
#[derive(Component, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Noise {
    changes: u32,
    padding: Vec<u8>,
}

impl Noise {
    fn new() -> Self {
        Self { changes: 0, padding: vec![7; 1_000] }
    }
}

/// Number of entities with the component.
const SOURCES: usize = 100;

/// A server and one client, which tours the arena, stepped together.
struct Game {
    server: App,
    client: App,
}

impl Game {
    fn start(line: LinkConditions) -> Self {
        let mut server = app::server(ServerOptions::default());
        let mut client = app::scripted_client(3, ServerOptions::default());
        for app in [&mut server, &mut client] {
            app.component::<Noise>().replicate();
            app.insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK));
        }
        client.insert_resource(ScriptedPlayer::touring(3));
        let listener = connection::listen_in_process(&mut server);
        bevy_unlag_testkit::finish(&mut server);
        connection::join(&mut server, listener, &mut client, 1, NetSim::new(70).with(line)).expect("a token");
        bevy_unlag_testkit::finish(&mut client);
        let mut game = Self { server, client };
        // Out of the player's way.
        for id in 101..131u16 {
            let body = CapsuleState::at(Vec3::new(f32::from(id) - 115.0, 30.0, -6.0));
            let state = SoldierState { body, extension: WeaponState::default() };
            game.server.world_mut().spawn((ReplicatedPawn, NetId(id), state, SoldierBody));
        }
        game.run(256);
        let world = game.server.world_mut();
        let transport =
            world.query_filtered::<&Transport, With<ClientOf>>().single(world).expect("a client's link");
        let priorities = format!("{:?}", transport.priority_manager);
        assert!(priorities.contains("enabled: true"), "packets have no order: {priorities}");
        game
    }

    fn run(&mut self, frames: u32) {
        for _ in 0..frames {
            self.server.update();
            self.client.update();
        }
    }

    /// Spawns the entities with the component.
    fn add_noise(&mut self) {
        // A few at a time: all insertions of a tick are one message.
        for i in 1..=SOURCES {
            self.server.world_mut().spawn((Noise::new(), Replicate::to_clients(NetworkTarget::All)));
            if i % 5 == 0 {
                self.run(20);
            }
        }
        self.run(128);
        assert_eq!(self.changes().len(), SOURCES, "the entities must reach the client");
    }

    /// Changes all components.
    fn make_noise(&mut self) {
        let world = self.server.world_mut();
        world.query::<&mut Noise>().iter_mut(world).for_each(|mut noise| noise.changes += 1);
    }

    /// Number of changes of each component that the client knows.
    fn changes(&mut self) -> Vec<u32> {
        let world = self.client.world_mut();
        world.query::<&Noise>().iter(world).map(|noise| noise.changes).collect()
    }

    /// Age of the newest snapshot on the client, in ticks.
    fn snapshot_age(&mut self) -> i32 {
        let now = self.server.world().resource::<CurrentTick>().0;
        let world = self.client.world_mut();
        let mut others = world.query::<&SnapshotHistory>();
        let newest = others.iter(world).filter_map(|history| history.newest());
        newest.map(|newest| now.since(newest.tick)).min().unwrap_or(i32::MAX)
    }

    fn replication(&self) -> (u64, u64) {
        let traffic = self.server.world().resource::<Bandwidth>().of(MessageClass::Replication);
        (traffic.bytes, traffic.deferred)
    }
}

/// Figures of ten seconds.
#[derive(Debug)]
struct Figures {
    /// 99th percentiles of the moves without an acknowledgement, and of the age of the newest snapshot in ticks.
    unanswered: u32,
    age: i32,
    /// Corrections of the client's own pawn.
    corrections: u64,
    /// Fewest changes of a component that the client has learned of.
    fewest_changes: u32,
    /// Bytes of replication that the server has sent, and messages over the budget.
    replication: (u64, u64),
}

fn measure(is_noisy: bool, bytes_per_second: u32) -> Figures {
    let latency = crate::seconds(0.02);
    let mut game =
        Game::start(LinkConditions { latency, bytes_per_second: 64_000, ..LinkConditions::PERFECT });
    // Half of the line: the rest is for the framing of packets.
    game.server.insert_resource(DownlinkBudget { bytes_per_second: 32_000 });
    game.add_noise();
    game.server.insert_resource(DownlinkBudget { bytes_per_second });
    let corrections = crate::stats(&mut game.client).corrections;
    let before = game.replication();
    let (mut unanswered, mut ages) = (Vec::new(), Vec::new());
    for _ in 0..640 {
        if is_noisy {
            game.make_noise();
        }
        game.run(1);
        unanswered.push(crate::stats(&mut game.client).unacknowledged_moves);
        ages.push(game.snapshot_age());
    }
    unanswered.sort_unstable();
    ages.sort_unstable();
    let after = game.replication();
    let figures = Figures {
        unanswered: unanswered[633],
        age: ages[633],
        corrections: crate::stats(&mut game.client).corrections - corrections,
        fewest_changes: game.changes().into_iter().min().unwrap_or(0),
        replication: (after.0 - before.0, after.1 - before.1),
    };
    println!("noisy {is_noisy}, a budget of {bytes_per_second}: {figures:?}");
    figures
}

#[test]
fn noisy_component_leaves_movement_alone_and_reaches_clients_slowly() {
    let calm = measure(false, 32_000);
    let noisy = measure(true, 32_000);
    assert_eq!((calm.corrections, noisy.corrections), (0, 0));
    assert!(calm.replication.1 == 0, "nothing must be deferred without noise: {calm:?}");
    // Six ticks are 94 ms.
    assert!(noisy.unanswered <= calm.unanswered + 6, "the noise delays acknowledgements of moves: {noisy:?}");
    assert!(noisy.age <= calm.age + 6, "the noise delays snapshots: {noisy:?}");
    assert!(noisy.fewest_changes > 0, "every component must be sent now and then: {noisy:?}");
    let (bytes, deferred) = noisy.replication;
    assert!(bytes > 100_000 && bytes < 330_000, "{bytes} bytes of replication in ten seconds");
    assert!(deferred > 1_000, "{deferred} messages were over the budget");

    let unlimited = measure(true, 100_000_000);
    assert!(
        unlimited.age > 40,
        "without a budget the noise delays nothing: the test shows nothing: {unlimited:?}"
    );
}

/// Inserts and removes all components again and again for ten seconds. Returns the kicks that the client was told.
fn flood_with_insertions(game: &mut Game, replication_queue: usize) -> Vec<KickedByServer> {
    let limits = MessageLimits { replication_queue, ..MessageLimits::default() };
    game.server.insert_resource(limits);
    let world = game.server.world_mut();
    let sources: Vec<_> = world.query_filtered::<Entity, With<Noise>>().iter(world).collect();
    let mut told = Vec::new();
    for frame in 0..640 {
        for source in &sources {
            let mut source = game.server.world_mut().entity_mut(*source);
            // Replication runs in every third tick.
            if frame % 6 < 3 {
                source.remove::<Noise>();
            } else {
                source.insert_if_new(Noise::new());
            }
        }
        game.run(1);
        told.extend(game.client.world_mut().resource_mut::<Messages<KickedByServer>>().drain());
    }
    told
}

#[test]
fn flood_of_insertions_that_lasts_ends_the_connection() {
    for (limit, expected) in
        [(300_000, vec![KickedByServer(KickReason::QueueOverflow)]), (usize::MAX, Vec::new())]
    {
        let mut game = Game::start(LinkConditions::PERFECT);
        game.add_noise();
        assert_eq!(flood_with_insertions(&mut game, limit), expected, "a limit of {limit}");
        let world = game.server.world_mut();
        let connected = world.query_filtered::<(), (With<ClientOf>, With<Connected>)>().iter(world).count();
        assert_eq!(connected, usize::from(expected.is_empty()));
    }
}
