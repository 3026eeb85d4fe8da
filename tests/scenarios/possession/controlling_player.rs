//! Names of the players that control pawns, on all machines.

use bevy_unlag::net::ControllingPlayer;
use bevy_unlag_testkit::listen;

use super::{departures::*, *};

/// Checks on every machine, from this one on, which player controls the first soldier and the kart.
fn assert_players(game: &mut SteppedApps, soldier: Option<u64>, kart: Option<u64>) {
    for (number, app) in game.apps_mut().enumerate() {
        let world = app.world_mut();
        let mut pawns = world.query::<(&NetId, Option<&ControllingPlayer>)>();
        for (id, expected) in [(NetId(1), soldier), (KART, kart), (NetId(2), Some(2))] {
            let known = pawns.iter(world).find(|(of, _)| **of == id).map(|(_, player)| player.map(|of| of.0));
            assert_eq!(known, Some(expected), "{id:?} on app {number}");
        }
    }
}

#[test]
fn bystander_and_late_joiner_know_who_controls_a_pawn_before_and_after_a_change() {
    let mut server = game_server();
    let listener = listen(&mut server, GAME);
    let mut game = SteppedApps::with_listener(server, listener);
    connect(&mut game, 1);
    connect(&mut game, 2);
    game.run(2 * SECOND);
    assert_players(&mut game, Some(1), None);
    give(&mut game, 1, KART);
    game.run(SECOND);
    assert_players(&mut game, None, Some(1));
    connect(&mut game, 3);
    game.run(2 * SECOND);
    assert_players(&mut game, None, Some(1));
    give(&mut game, 1, NetId(1));
    game.run(SECOND);
    assert_players(&mut game, Some(1), None);
    // A player who leaves controls nothing.
    end(&mut game, 0, 1, End::Disconnect);
    game.run(SECOND);
    let at_bystander = game.clients[1].world_mut();
    let mut pawns = at_bystander.query::<(&NetId, Has<ControllingPlayer>)>();
    let known = pawns.iter(at_bystander).find(|(id, _)| **id == NetId(1));
    assert!(known.is_none_or(|(_, is_controlled)| !is_controlled), "{known:?}");
}
