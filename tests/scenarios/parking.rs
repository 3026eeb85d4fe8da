//! Parking of pawns: what reaches the clients while the server replicates no pawn.
//!
//! The controls pause the same pawns by hand, as lightyear documents it, and show what the suite has to prevent.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_replicon::prelude::ServerSystems;
use bevy_unlag::{
    link_conditioner::LinkConditions,
    net::{ParkedPawn, PawnParking, ReplicatedPawn},
    prelude::*,
    rewind::Team,
};
use bevy_unlag_testkit::{SteppedApps, headless_app};
use lightyear::prelude::{
    AppComponentExt, Controlled, ControlledBy, Lifetime, NetworkTarget, Replicate, Replicating, VisibilityExt,
};
use serde::{Deserialize, Serialize};
use unlag_examples::stepped_match::MatchOptions;

use crate::seconds;

const SECOND: Duration = Duration::from_secs(1);
/// A pawn of the server's own.
const NPC: NetId = NetId(1);

/// A component that the game replicates.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
struct Hat(u32);

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
}

fn server(parking: bool) -> App {
    let mut server = headless_app();
    server
        .add_plugins(UnlagServerPlugins::default())
        .insert_resource(PawnParking { enabled: parking })
        .add_systems(
            Startup,
            (level, |mut commands: Commands| {
                commands.spawn((NpcPawn::<Soldier>::default(), NPC, Transform::from_xyz(0.0, 0.1, 0.0)));
            }),
        )
        .add_observer(
            |joined: On<PlayerJoined>, pawns: Query<(), With<ReplicatedPawn>>, mut commands: Commands| {
                let place = Transform::from_xyz(4.0 * pawns.iter().count() as f32, 0.1, 0.0);
                commands.spawn((SoldierPawn, place, player_pawn(joined.link, joined.peer)));
            },
        );
    server.component::<Hat>().replicate();
    server
}

fn join(game: &mut SteppedApps, loss: f32) -> usize {
    let mut client = headless_app();
    client
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .add_systems(Startup, level);
    client.component::<Hat>().replicate();
    let conditions = LinkConditions { latency: Duration::from_millis(40), loss, ..default() };
    let sim = NetSim::new(game.clients.len() as u64 + 5).with(conditions);
    game.join_over(client, sim).expect("a connect token")
}

/// A server with an NPC and two players; all have all three pawns, for a second at least.
fn start(parking: bool, loss: f32) -> SteppedApps {
    start_with(server(parking), loss)
}

fn start_with(server: App, loss: f32) -> SteppedApps {
    let mut game = SteppedApps::new(server);
    for _ in 0..2 {
        join(&mut game, loss);
    }
    let complete = |game: &mut SteppedApps| game.clients.iter_mut().all(|client| ids(client).len() == 3);
    assert!(game.run_until(20 * SECOND, complete), "not all pawns arrive");
    game.run(SECOND);
    game
}

/// Starts a game whose pawns are parked by the suite.
fn start_parked(loss: f32) -> SteppedApps {
    let mut game = start(true, loss);
    assert_eq!(parked_and_replicated(&mut game.server), (3, 0));
    game
}

/// Starts a game whose pawns are paused by hand.
fn start_paused(loss: f32) -> SteppedApps {
    let mut game = start(false, loss);
    assert_eq!(parked_and_replicated(&mut game.server), (0, 3));
    let world = game.server.world_mut();
    let pawns: Vec<Entity> = world.query_filtered::<Entity, With<ReplicatedPawn>>().iter(world).collect();
    for pawn in pawns {
        world.entity_mut(pawn).remove::<Replicating>();
    }
    game
}

fn ids(app: &mut App) -> Vec<NetId> {
    let world = app.world_mut();
    let mut ids: Vec<NetId> = world.query::<&NetId>().iter(world).copied().collect();
    ids.sort_unstable();
    ids
}

fn pawn(app: &mut App, id: NetId) -> Entity {
    let world = app.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    pawns.iter(world).find(|(_, other)| **other == id).expect("the pawn is there").0
}

fn parked_and_replicated(server: &mut App) -> (usize, usize) {
    let world = server.world_mut();
    let parked = world.query_filtered::<(), With<ParkedPawn>>().iter(world).count();
    let replicated =
        world.query_filtered::<(), (With<ReplicatedPawn>, With<Replicating>)>().iter(world).count();
    (parked, replicated)
}

/// Ids of the pawns that a client takes for its own.
fn controlled(client: &mut App) -> Vec<NetId> {
    let world = client.world_mut();
    world.query_filtered::<&NetId, With<Controlled>>().iter(world).copied().collect()
}

/// The server's end of a client's link, and the client's pawn there.
fn link_and_pawn(game: &mut SteppedApps, client: usize) -> (Entity, NetId) {
    let own = controlled(&mut game.clients[client]);
    assert_eq!(own.len(), 1, "{own:?}");
    let entity = pawn(&mut game.server, own[0]);
    let by = game.server.world().get::<ControlledBy>(entity).expect("a player controls the pawn");
    (by.owner, own[0])
}

fn hat(app: &mut App, id: NetId) -> Option<Hat> {
    let pawn = pawn(app, id);
    app.world().get::<Hat>(pawn).copied()
}

#[test]
fn parked_pawns_still_tell_their_states_and_parking_can_be_switched_at_run_time() {
    let mut game = start_parked(0.0);
    let npc = pawn(&mut game.server, NPC);
    game.server.world_mut().entity_mut(npc).insert(Team(4));
    game.run(SECOND);
    assert_eq!(parked_and_replicated(&mut game.server), (3, 0));
    for client in &mut game.clients {
        let npc = pawn(client, NPC);
        assert_eq!(client.world().get::<Team>(npc), Some(&Team(4)));
    }
    for (enabled, expected) in [(false, (0, 3)), (true, (3, 0))] {
        game.server.insert_resource(PawnParking { enabled });
        game.run(SECOND);
        assert_eq!(parked_and_replicated(&mut game.server), expected);
        assert!(game.clients.iter_mut().all(|client| ids(client).len() == 3));
    }
}

#[test]
fn late_joiner_gets_the_parked_pawns_which_are_parked_again() {
    for (mut game, arrive) in [(start_parked(0.1), true), (start_paused(0.1), false)] {
        let npc = pawn(&mut game.server, NPC);
        game.server.world_mut().entity_mut(npc).insert(Team(7));
        let late = join(&mut game, 0.1);
        game.run(6 * SECOND);
        assert_eq!(ids(&mut game.clients[late]).len(), if arrive { 4 } else { 1 });
        if arrive {
            let npc = pawn(&mut game.clients[late], NPC);
            assert_eq!(game.clients[late].world().get::<Team>(npc), Some(&Team(7)));
            assert_eq!(parked_and_replicated(&mut game.server), (4, 0));
        }
    }
}

#[test]
fn parked_pawn_that_is_despawned_under_loss_vanishes_everywhere() {
    for (mut game, vanishes) in [(start_parked(0.25), true), (start_paused(0.25), false)] {
        let npc = pawn(&mut game.server, NPC);
        game.server.world_mut().despawn(npc);
        game.run(4 * SECOND);
        for client in &mut game.clients {
            assert_eq!(ids(client).contains(&NPC), !vanishes, "{:?}", ids(client));
            assert_eq!(controlled(client).len(), 1);
        }
        if vanishes {
            assert_eq!(parked_and_replicated(&mut game.server), (2, 0));
        }
    }
}

#[test]
fn owner_of_a_parked_pawn_changes_on_all_clients() {
    let mut game = start_parked(0.1);
    let (link, old) = link_and_pawn(&mut game, 0);
    let (_, other) = link_and_pawn(&mut game, 1);
    for now in [NPC, old, NPC] {
        let pawn = Some(pawn(&mut game.server, now));
        game.server.world_mut().trigger(Possess { link, pawn });
        game.server.world_mut().flush();
        game.run(3 * SECOND);
        // The old pawn's loss of control reaches its former owner, too.
        assert_eq!(controlled(&mut game.clients[0]), [now]);
        assert_eq!(controlled(&mut game.clients[1]), [other]);
        assert_eq!(parked_and_replicated(&mut game.server), (3, 0));
    }
}

#[test]
fn change_of_owner_of_a_parked_pawn_does_not_meet_replicons_panic() {
    for (mut game, lives) in [(start_parked(0.0), true), (start_paused(0.0), false)] {
        let npc = pawn(&mut game.server, NPC);
        // No client's link, so the mark of control is hidden from all clients.
        let owner = game.server.world_mut().spawn_empty().id();
        game.server
            .world_mut()
            .entity_mut(npc)
            .insert(ControlledBy { owner, lifetime: Lifetime::Persistent });
        let lived = catch_unwind(AssertUnwindSafe(|| {
            // Replication sends in every third.
            for _ in 0..6 {
                game.server.update();
            }
        }));
        assert_eq!(lived.is_ok(), lives);
        if !lives {
            // An app with a panicked system must not be used again, not even dropped.
            core::mem::forget(game);
        }
    }
}

/// Whether each client has the NPC.
fn with_npc(game: &mut SteppedApps) -> Vec<bool> {
    game.clients.iter_mut().map(|client| ids(client).contains(&NPC)).collect()
}

#[test]
fn visibility_of_parked_pawns_changes_for_single_clients() {
    for (mut game, comes_back) in [(start_parked(0.1), true), (start_paused(0.1), false)] {
        let (link, _) = link_and_pawn(&mut game, 0);
        let npc = pawn(&mut game.server, NPC);
        game.server.world_mut().lose_visibility(npc, link);
        game.run(2 * SECOND);
        assert_eq!(with_npc(&mut game), [false, true]);
        game.server.world_mut().gain_visibility(npc, link);
        game.run(2 * SECOND);
        assert_eq!(with_npc(&mut game), [comes_back, true]);
    }
}

#[test]
fn pawn_with_a_replicated_component_of_the_game_is_replicated_while_it_has_it() {
    for (mut game, arrives) in [(start_parked(0.1), true), (start_paused(0.1), false)] {
        let npc = pawn(&mut game.server, NPC);
        for value in [1, 2] {
            game.server.world_mut().entity_mut(npc).insert(Hat(value));
            game.run(2 * SECOND);
            for client in &mut game.clients {
                assert_eq!(hat(client, NPC), arrives.then_some(Hat(value)));
            }
        }
        if !arrives {
            continue;
        }
        assert_eq!(parked_and_replicated(&mut game.server), (2, 1));
        game.server.world_mut().entity_mut(npc).remove::<Hat>();
        game.run(2 * SECOND);
        for client in &mut game.clients {
            assert_eq!(hat(client, NPC), None);
        }
        assert_eq!(parked_and_replicated(&mut game.server), (3, 0));
    }
}

/// Changes that a system of the game makes in the frame of a send, right after it.
#[derive(Resource, Default)]
struct AfterSend(Option<fn(&mut World)>);

#[test]
fn changes_right_after_a_send_reach_all_clients() {
    for after in [0, 1, 2, 3, 4, 5] {
        let mut server = server(true);
        server.init_resource::<AfterSend>().add_systems(
            PostUpdate,
            (|world: &mut World| {
                if let Some(change) = world.resource_mut::<AfterSend>().0.take() {
                    change(world);
                }
            })
            .after(ServerSystems::Send)
            .before(ServerSystems::SendPackets),
        );
        let mut game = start_with(server, 0.1);
        assert_eq!(parked_and_replicated(&mut game.server), (3, 0));
        // Replication sends in every third tick.
        for _ in 0..after {
            game.server.update();
        }
        game.server.insert_resource(AfterSend(Some(|world| {
            let mut pawns = world.query::<(Entity, &NetId)>();
            let npc = pawns.iter(world).find(|(_, id)| **id == NPC).expect("the NPC").0;
            world.despawn(npc);
            world.spawn((NpcPawn::<Soldier>::default(), NetId(9), Transform::from_xyz(0.0, 0.1, 9.0)));
        })));
        game.run(4 * SECOND);
        for client in &mut game.clients {
            let ids = ids(client);
            assert!(
                ids.len() == 3 && ids.contains(&NetId(9)) && !ids.contains(&NPC),
                "{ids:?}, {after} ticks"
            );
        }
        assert_eq!(parked_and_replicated(&mut game.server), (3, 0));
    }
}

#[test]
fn withdrawn_pawn_is_not_sent_to_a_late_joiner_whatever_it_gets() {
    let mut game = start_parked(0.0);
    let npc = pawn(&mut game.server, NPC);
    game.server.world_mut().entity_mut(npc).remove::<Replicate>();
    game.run(SECOND);
    game.server.world_mut().entity_mut(npc).insert(Hat(1));
    let late = join(&mut game, 0.0);
    game.run(4 * SECOND);
    assert!(!ids(&mut game.clients[late]).contains(&NPC), "{:?}", ids(&mut game.clients[late]));
    assert_eq!(ids(&mut game.clients[late]).len(), 3);
}

#[test]
fn pawns_stay_parked_while_other_entities_spawn_and_vanish() {
    let mut game = start_parked(0.1);
    let mut old = None;
    for round in 0..20 {
        let hat = game.server.world_mut().spawn((Hat(round), Replicate::to_clients(NetworkTarget::All))).id();
        if let Some(old) = old.replace(hat) {
            game.server.world_mut().despawn(old);
        }
        game.run(SECOND / 16);
        assert_eq!(parked_and_replicated(&mut game.server), (3, 0), "round {round}");
    }
    game.run(2 * SECOND);
    for client in &mut game.clients {
        let world = client.world_mut();
        let hats: Vec<_> = world.query::<&Hat>().iter(world).copied().collect();
        assert_eq!((hats, ids(client).len()), (vec![Hat(19)], 3));
    }
}

#[test]
fn pawns_are_parked_beside_a_host_and_through_a_reconnect() {
    let mut game = crate::start(MatchOptions { players: 2, host: true, ..MatchOptions::default() });
    game.run(seconds(1.0));
    assert_eq!(parked_and_replicated(&mut game.server), (3, 0));
    let before = ids(&mut game.clients[1]);
    let own = crate::own_id(&mut game.clients[0]);
    game.rejoin(0).expect("a token");
    let came_back = |apps: &mut SteppedApps| ids(&mut apps.clients[0]).len() == 3;
    assert!(game.run_until(15 * SECOND, came_back), "the returning player has not got all pawns");
    game.run(seconds(2.0));
    assert_eq!(crate::own_id(&mut game.clients[0]), own);
    assert_eq!([ids(&mut game.clients[0]), ids(&mut game.clients[1])], [before.clone(), before]);
    assert_eq!(controlled(&mut game.clients[1]), [crate::own_id(&mut game.clients[1])]);
    assert_eq!(parked_and_replicated(&mut game.server), (3, 0));
}
