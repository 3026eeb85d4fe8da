//! Corrections of the owner's pawn: when they happen and how soon client and server agree again.

use bevy::prelude::*;
use bevy_unlag::{
    link_conditioner::{LinkConditions, LinkPreset},
    prediction::MoveTrace,
    prelude::*,
};
use unlag_examples::{app::ServerOptions, scripted_player::ScriptedPlayer, stepped_match::MatchOptions};

use crate::{hold_still, link_150, own_id, seconds, start, state, stats};

#[test]
fn displaced_client_returns_to_server_state_within_one_rtt_plus_250_ms() {
    let mut game = start(MatchOptions { players: 2, conditions: link_150(), ..MatchOptions::default() });
    for client in &mut game.clients {
        hold_still(client);
    }
    game.run(seconds(2.0));
    let id = own_id(&mut game.clients[0]);
    let before = stats(&mut game.clients[0]).corrections;
    let world = game.clients[0].world_mut();
    let mut own = world.query_filtered::<&mut SoldierState, With<LocalControl>>();
    own.single_mut(world).expect("the client has a pawn").body.position.x += 1.0;
    let apart =
        state(&mut game.clients[0], id).body.position.distance(state(&mut game.server, id).body.position);
    assert!(apart > 0.9, "the test did not displace the pawn: {apart} m");

    game.run(seconds(0.15 + 0.25));
    let apart =
        state(&mut game.clients[0], id).body.position.distance(state(&mut game.server, id).body.position);
    assert!(apart < 0.01, "client and server are still {apart} m apart");
    let stats = stats(&mut game.clients[0]);
    assert_eq!(stats.corrections, before + 1, "one displacement must cause one correction: {stats:?}");
    assert!((stats.largest_correction - 1.0).abs() < 0.05, "{stats:?}");
}

#[test]
fn owner_reaches_the_server_state_within_400_ms_after_a_server_push() {
    let mut game = start(MatchOptions { players: 1, conditions: link_150(), ..MatchOptions::default() });
    hold_still(&mut game.clients[0]);
    game.run(seconds(1.0));
    let id = own_id(&mut game.clients[0]);
    let world = game.server.world_mut();
    let mut pawns = world.query::<&mut SoldierState>();
    pawns.single_mut(world).expect("one pawn").body.position += Vec3::new(0.5, 0.0, 0.5);
    game.run(seconds(0.4));
    let (client, server) = (state(&mut game.clients[0], id), state(&mut game.server, id));
    assert!(client.body.position.distance(server.body.position) < 0.01, "{client:?} {server:?}");
}

#[test]
fn deaths_and_respawns_are_changes_by_the_server_and_no_corrections() {
    let conditions = LinkConditions { loss: 0.0, ..link_150() };
    let mut game = start(MatchOptions { players: 3, conditions, ..MatchOptions::default() });
    game.fight(25.0);
    for client in &mut game.clients {
        let stats = stats(client);
        assert_eq!(stats.corrections, 0, "{stats:?}");
    }
    let changes: u32 = game.clients.iter_mut().map(|client| stats(client).server_changes()).sum();
    assert!(changes >= 4, "control: {changes} changes, two for each life lost");
}

#[test]
fn server_change_hides_no_error_that_the_owner_makes_later() {
    let mut game = start(MatchOptions { players: 1, conditions: link_150(), ..MatchOptions::default() });
    hold_still(&mut game.clients[0]);
    game.run(seconds(1.0));
    let world = game.server.world_mut();
    let mut pawns = world.query::<&mut SoldierState>();
    pawns.single_mut(world).expect("one pawn").body.position += Vec3::new(0.5, 0.0, 0.5);
    game.run(seconds(1.0));
    let known = stats(&mut game.clients[0]);
    assert_eq!((known.server_changes(), known.corrections), (1, 0), "{known:?}");
    let world = game.clients[0].world_mut();
    let mut own = world.query_filtered::<&mut SoldierState, With<LocalControl>>();
    own.single_mut(world).expect("the client has a pawn").body.position.x += 1.0;
    game.run(seconds(1.0));
    let stats = stats(&mut game.clients[0]);
    assert_eq!((stats.server_changes(), stats.corrections), (1, 1), "{stats:?}");
}

#[test]
fn running_jumping_and_turning_causes_no_corrections_on_an_average_link() {
    let conditions = LinkPreset::named("Average (UE)").expect("a built-in preset").conditions();
    let server = ServerOptions { trace: true, ..ServerOptions::default() };
    let mut game = start(MatchOptions { players: 3, conditions, server, ..MatchOptions::default() });
    for (seed, client) in (0..).zip(&mut game.clients) {
        client.world_mut().insert_resource(ScriptedPlayer::touring(seed));
    }
    game.run(seconds(20.0));
    let highest = game.clients.iter_mut().map(|client| {
        let world = client.world_mut();
        let mut own = world.query_filtered::<&MoveTrace, With<LocalControl>>();
        let heights = own.iter(world).flat_map(|trace| trace.0.iter().map(|(_, place)| place.y));
        heights.fold(0.0, f32::max)
    });
    assert!(highest.fold(0.0, f32::max) > 1.5, "no pawn climbed the stairs");
    for client in &mut game.clients {
        let stats = stats(client);
        assert!(stats.moves > 1_200, "{stats:?}");
        assert_eq!(stats.corrections, 0, "{stats:?}");
    }
}

#[test]
fn client_and_server_agree_after_an_outage_of_2_s() {
    let conditions = link_150();
    let mut game = start(MatchOptions { players: 2, conditions, ..MatchOptions::default() });
    game.run(seconds(3.0));
    let set = |game: &mut unlag_examples::stepped_match::Match, conditions| {
        for client in &mut game.clients {
            let world = client.world_mut();
            for mut sim in world.query::<&mut NetSim>().iter_mut(world) {
                sim.set(conditions);
            }
        }
    };
    set(&mut game, LinkConditions { loss: 1.0, ..conditions });
    game.run(seconds(2.0));
    set(&mut game, conditions);
    game.run(seconds(0.15 + 0.25));
    let mut clients = core::mem::take(&mut game.clients);
    for client in &mut clients {
        hold_still(client);
    }
    game.clients = clients;
    // The client runs ahead of the server by design: the states are comparable once both pawns stand still.
    game.run(seconds(2.0));
    for i in 0..2 {
        let id = own_id(&mut game.clients[i]);
        let (client, server) = (state(&mut game.clients[i], id), state(&mut game.server, id));
        assert!(client.body.position.distance(server.body.position) < 0.01, "{client:?} {server:?}");
    }
}
