//! Players who leave during a change of control, and come back.

use std::collections::HashMap;

use bevy_unlag::{net::PlayerReturned, rewind::ViewTimeValidator};
use bevy_unlag_testkit::{Client as Frames, finish, join, listen};
use lightyear::prelude::{Client, ControlledBy, Disconnect, PeerId};

use super::*;

/// Netcode's protocol id of this game.
pub(super) const GAME: u64 = 77;
pub(super) const KART: NetId = NetId(900);

/// The server's ends of the players' links, and the number of those that have ended.
#[derive(Resource, Default)]
pub(super) struct Links {
    pub(super) by_peer: HashMap<u64, Entity>,
    pub(super) ended: usize,
}

pub(super) fn number(peer: PeerId) -> u64 {
    let PeerId::Netcode(number) = peer else { panic!("{peer:?} is no client of netcode") };
    number
}

pub(super) fn game_server() -> App {
    let mut server = headless_app();
    server
        .add_plugins(UnlagServerPlugins { characters: characters(), ..default() })
        .init_resource::<Links>()
        .add_systems(
            Startup,
            (level, |mut commands: Commands| {
                commands.spawn((NpcPawn::<KartModel>::default(), KART, Transform::from_xyz(6.0, 0.1, 0.0)));
            }),
        )
        .add_observer(|joined: On<PlayerJoined>, mut links: ResMut<Links>, mut commands: Commands| {
            let peer = number(joined.peer);
            let again = links.by_peer.insert(peer, joined.link).is_some();
            let id = NetId(peer as u16 + if again { 500 } else { 0 });
            let place = Transform::from_xyz(-8.0 * peer as f32, 0.1, 0.0);
            commands.spawn((SoldierPawn, id, place, player_pawn(joined.link, joined.peer)));
        })
        .add_observer(|back: On<PlayerReturned>, mut links: ResMut<Links>| {
            links.by_peer.insert(number(back.peer), back.link);
        })
        .add_observer(|_: On<PlayerLeft>, mut links: ResMut<Links>| links.ended += 1);
    server
}

/// Joins a new app as this player. Returns its index.
pub(super) fn connect(game: &mut SteppedApps, peer: u64) -> usize {
    let mut client = client();
    let mut sim = NetSim::new(peer);
    sim.set(LinkConditions { latency: Duration::from_millis(75), loss: 0.05, ..default() });
    join(&mut game.server, game.listener, &mut client, (peer, GAME), sim).expect("a connect token");
    finish(&mut client);
    let due = game.now() + Duration::from_micros(3_700);
    game.add(client, Frames::new(SteppedApps::CLIENT_FRAME, due))
}

pub(super) fn own_of(game: &mut SteppedApps, client: usize) -> Option<NetId> {
    let world = game.clients[client].world_mut();
    world.query_filtered::<&NetId, With<LocalControl>>().iter(world).next().copied()
}

pub(super) fn pawn_of(game: &mut SteppedApps, id: NetId) -> Entity {
    let world = game.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    pawns.iter(world).find(|(_, of)| **of == id).expect("the pawn is there").0
}

pub(super) fn give(game: &mut SteppedApps, peer: u64, id: NetId) {
    let pawn = Some(pawn_of(game, id));
    let world = game.server.world_mut();
    let link = world.resource::<Links>().by_peer[&peer];
    world.trigger(Possess { link, pawn });
    world.flush();
}

/// End of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum End {
    /// The client says so.
    Disconnect,
    /// The client's machine is switched off.
    PowerOff,
    /// The game despawns the server's end of the link.
    Despawn,
}

pub(super) fn end(game: &mut SteppedApps, client: usize, peer: u64, how: End) {
    let ended = game.server.world().resource::<Links>().ended;
    match how {
        End::Disconnect => {
            let world = game.clients[client].world_mut();
            let entity = world.query_filtered::<Entity, With<Client>>().single(world).expect("one link");
            world.trigger(Disconnect { entity });
            world.flush();
        }
        End::PowerOff => game.power_off(client),
        End::Despawn => {
            let world = game.server.world_mut();
            let link = world.resource::<Links>().by_peer[&peer];
            world.despawn(link);
            game.power_off(client);
        }
    }
    let limit = Duration::from_secs(8);
    let gone = game.run_until(limit, |game| game.server.world().resource::<Links>().ended > ended);
    assert!(gone, "the server does not notice that the player has left");
    // Netcode keeps the slot of a link that was despawned until it times out.
    game.run(if how == End::Despawn { 4 * SECOND } else { Duration::from_millis(200) });
}

pub(super) const SECOND: Duration = Duration::from_secs(1);

/// Delays in milliseconds between the request for a change and the end of the link. The first moves of the new pawn
/// follow 210 ms after the request.
const DELAYS: [u64; 7] = [0, 30, 90, 150, 215, 260, 800];
const ENDS: [End; 3] = [End::Disconnect, End::PowerOff, End::Despawn];

/// Asserts what follows if a player leaves during a change to the kart, or from it if it `drives`.
fn assert_leaves_during_a_change(delay: u64, drives: bool, how: End) {
    let text = format!("{how:?} {delay} ms after a change, from the kart: {drives}");
    let mut server = game_server();
    let listener = listen(&mut server, GAME);
    let mut game = SteppedApps::with_listener(server, listener);
    let (first, second) = (connect(&mut game, 1), connect(&mut game, 2));
    game.run(2 * SECOND);
    if drives {
        give(&mut game, 1, KART);
        game.run(SECOND);
        assert_eq!(own_of(&mut game, first), Some(KART), "{text}");
    }
    // The control: while the first player has the kart or is about to, the second one cannot have it.
    give(&mut game, 1, if drives { NetId(1) } else { KART });
    give(&mut game, 2, KART);
    game.run(Duration::from_millis(delay));
    assert_eq!(own_of(&mut game, second), Some(NetId(2)), "{text}");
    end(&mut game, first, 1, how);

    let kart = pawn_of(&mut game, KART);
    assert!(game.server.world().get::<ControlledBy>(kart).is_none(), "{text}");
    let known = game.server.world().get::<ViewTimeValidator>(kart).is_some();
    assert!(!known, "{text}: the kart is not a player's any more");
    give(&mut game, 2, KART);
    game.run(SECOND);
    assert_eq!(own_of(&mut game, second), Some(KART), "{text}: the kart is free");
    give(&mut game, 2, NetId(2));
    game.run(SECOND);
    assert_eq!(own_of(&mut game, second), Some(NetId(2)), "{text}");

    let first = connect(&mut game, 1);
    game.run(2 * SECOND);
    assert_eq!(own_of(&mut game, first), Some(NetId(1)), "{text}: back");
    let soldier = pawn_of(&mut game, NetId(1));
    let at = |game: &SteppedApps| {
        Soldier::position(game.server.world().get::<SoldierState>(soldier).expect("a soldier"))
    };
    let from = at(&game);
    game.run(SECOND);
    assert!(at(&game).distance(from) > 3.0, "{text}: it does not obey");
    let checked = game.server.world().get::<ViewTimeValidator>(soldier).is_some();
    assert!(checked, "{text}: the views of its shots are not validated");
    give(&mut game, 1, KART);
    game.run(SECOND);
    assert_eq!(own_of(&mut game, first), Some(KART), "{text}: a change after the return");
}

#[test]
fn player_who_leaves_during_a_change_frees_both_pawns_and_gets_its_own_back() {
    for (case, delay) in DELAYS.into_iter().enumerate() {
        assert_leaves_during_a_change(delay, case % 2 == 1, ENDS[case % ENDS.len()]);
    }
}

#[test]
#[ignore = "long: the other half of the delays"]
fn player_who_leaves_at_other_moments_of_a_change_frees_both_pawns_and_gets_its_own_back() {
    for (case, delay) in DELAYS.into_iter().enumerate() {
        assert_leaves_during_a_change(delay, case % 2 == 0, ENDS[(case + 1) % ENDS.len()]);
    }
}

#[test]
fn pawn_that_another_player_has_taken_stays_with_it_when_its_owner_returns() {
    let mut server = game_server();
    let listener = listen(&mut server, GAME);
    let mut game = SteppedApps::with_listener(server, listener);
    let (first, second) = (connect(&mut game, 1), connect(&mut game, 2));
    game.run(2 * SECOND);
    give(&mut game, 1, KART);
    game.run(SECOND);
    give(&mut game, 2, NetId(1));
    game.run(SECOND);
    assert_eq!((own_of(&mut game, first), own_of(&mut game, second)), (Some(KART), Some(NetId(1))));
    end(&mut game, first, 1, End::Disconnect);
    // The game gives the one who comes back a new pawn.
    let pawns = |game: &mut SteppedApps| {
        let world = game.server.world_mut();
        world.query::<&NetId>().iter(world).count()
    };
    let before = pawns(&mut game);
    let first = connect(&mut game, 1);
    game.run(2 * SECOND);
    assert_eq!(own_of(&mut game, second), Some(NetId(1)), "it keeps what it has taken");
    assert_eq!(pawns(&mut game), before + 1);
    assert_eq!(own_of(&mut game, first), Some(NetId(501)));
}
