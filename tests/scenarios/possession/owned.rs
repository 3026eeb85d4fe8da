//! Players who own several pawns.

use bevy_unlag::{
    core::ServerControl,
    net::{PlayerReturned, SessionOf},
};
use bevy_unlag_testkit::listen;
use lightyear::prelude::ControlledBy;

use super::{departures::*, *};
use crate::captured_log::errors;

const FIRST: NetId = NetId(1);
const SECOND_SOLDIER: NetId = NetId(2);
const KART: NetId = NetId(3);
const ALL: [NetId; 3] = [FIRST, SECOND_SOLDIER, KART];

/// Starts a server that gives each player three pawns, and joins one player.
fn owner_of_three() -> (SteppedApps, usize) {
    let mut server = headless_app();
    server
        .add_plugins(UnlagServerPlugins { characters: characters(), ..default() })
        .init_resource::<Links>()
        .add_systems(Startup, level)
        .add_observer(|joined: On<PlayerJoined>, mut links: ResMut<Links>, mut commands: Commands| {
            links.by_peer.insert(number(joined.peer), joined.link);
            let place = |x| Transform::from_xyz(x, 0.1, 0.0);
            commands.spawn((SoldierPawn, FIRST, place(0.0), player_pawn(joined.link, joined.peer)));
            let owner = SessionOf(joined.peer);
            commands.spawn((NpcPawn::<Soldier>::default(), SECOND_SOLDIER, place(8.0), owner));
            commands.spawn((NpcPawn::<KartModel>::default(), KART, place(16.0), owner));
        })
        .add_observer(|back: On<PlayerReturned>, mut links: ResMut<Links>| {
            links.by_peer.insert(number(back.peer), back.link);
        })
        .add_observer(|_: On<PlayerLeft>, mut links: ResMut<Links>| links.ended += 1);
    let listener = listen(&mut server, GAME);
    let mut game = SteppedApps::with_listener(server, listener);
    let client = connect(&mut game, 1);
    game.run(2 * SECOND);
    (game, client)
}

/// Returns the place of a pawn on the server.
fn place(game: &mut SteppedApps, id: NetId) -> Vec3 {
    let pawn = pawn_of(game, id);
    game.server.world().get::<Transform>(pawn).expect("a pawn has a place").translation
}

/// Checks that this pawn obeys the player and the others obey the server; soldiers without input stand.
fn steers_only(game: &mut SteppedApps, client: usize, id: NetId) {
    assert_eq!(own_of(game, client), Some(id));
    let before = ALL.map(|id| place(game, id));
    game.run(SECOND);
    for (other, before) in ALL.into_iter().zip(before) {
        let way = place(game, other).distance(before);
        let pawn = pawn_of(game, other);
        let by_server = game.server.world().get::<ServerControl>(pawn).is_some();
        assert_eq!(by_server, other != id, "{other:?}, while {id:?} is steered");
        assert!(other != id || way > 1.5, "{id:?} moves only {way} m");
        assert!(other == id || other == KART || way < 0.05, "{other:?} moves {way} m, {id:?} is steered");
    }
}

/// Returns the ids of the pawns that players own, in order.
fn owned(game: &mut SteppedApps) -> Vec<NetId> {
    let world = game.server.world_mut();
    let mut owned: Vec<NetId> =
        world.query_filtered::<&NetId, With<SessionOf>>().iter(world).copied().collect();
    owned.sort_unstable();
    owned
}

#[test]
fn player_steers_its_pawns_one_after_another_and_owns_all_of_them_after_a_reconnect() {
    let (mut game, client) = owner_of_three();
    steers_only(&mut game, client, FIRST);
    for id in [SECOND_SOLDIER, FIRST, KART, SECOND_SOLDIER] {
        give(&mut game, 1, id);
        // The pawn before comes to rest.
        game.run(3 * SECOND);
        steers_only(&mut game, client, id);
    }
    let world = game.clients[client].world_mut();
    let corrections: u64 = world.query::<&PredictionStats>().iter(world).map(|stats| stats.corrections).sum();
    assert_eq!(corrections, 0);

    end(&mut game, client, 1, End::Disconnect);
    assert_eq!(owned(&mut game), ALL);
    let client = connect(&mut game, 1);
    game.run(3 * SECOND);
    assert_eq!(owned(&mut game), ALL, "nothing is lost, and the game was asked for no new pawn");
    steers_only(&mut game, client, SECOND_SOLDIER);
    for id in [KART, FIRST] {
        give(&mut game, 1, id);
        game.run(3 * SECOND);
        steers_only(&mut game, client, id);
    }
}

#[test]
fn second_player_pawn_of_a_link_is_reported_and_obeys_the_server_until_it_is_possessed() {
    let (mut game, client) = owner_of_three();
    let link = game.server.world().resource::<Links>().by_peer[&1];
    let first = pawn_of(&mut game, FIRST);
    let owner = *game.server.world().get::<SessionOf>(first).expect("a player's pawn");
    let lines = errors(|| {
        let pawn = (SoldierPawn, NetId(9), Transform::from_xyz(-8.0, 0.1, 0.0), player_pawn(link, owner.0));
        game.server.world_mut().spawn(pawn);
        game.run(SECOND);
    });
    let told = lines.iter().filter(|line| line.contains("is a second player_pawn")).count();
    assert_eq!(told, 1, "{lines:?}");
    let second = pawn_of(&mut game, NetId(9));
    let second = game.server.world().entity(second);
    assert!(second.contains::<ServerControl>() && !second.contains::<ControlledBy>());
    assert_eq!(second.get::<SessionOf>(), Some(&owner));
    let world = game.clients[client].world_mut();
    let controlled = world.query_filtered::<&NetId, With<LocalControl>>().iter(world).count();
    assert_eq!(controlled, 1, "the client controls one pawn");
    steers_only(&mut game, client, FIRST);
    give(&mut game, 1, NetId(9));
    game.run(3 * SECOND);
    assert_eq!(own_of(&mut game, client), Some(NetId(9)));
    let from = place(&mut game, NetId(9));
    game.run(SECOND);
    assert!(place(&mut game, NetId(9)).distance(from) > 3.0, "the second pawn obeys");
}
