//! Row F19: suspended clients, and apps with very old change ticks.
//!
//! `cargo test --release --workspace --test scenarios faults::suspend -- --ignored` runs the long tests.

use bevy::prelude::*;
use bevy_unlag::{guard::IngressStats, net::SessionConfig, prelude::*};
use lightyear::prelude::{Client, Connected, server::ClientOf};
use unlag_examples::stepped_match::{Match, MatchOptions};

use super::{
    preset,
    trial::{Trial, entity_count},
};
use crate::{own_id, seconds};

// Row F19.
#[test]
fn owner_recovers_within_1_s_after_a_client_hitch() {
    for stall in [0.25, 1.0] {
        let what = format!("a client hitch of {stall} s");
        let mut trial = Trial::tour(&what, 2, preset("Average (UE)"), 1);
        trial.game.stall_client(0, seconds(stall));
        // Until the client's long frame is over.
        trial.run(stall + 0.02);
        let from = trial.client_times();
        trial.run(4.0);
        let convergence_time = trial.convergence_time(&from);
        println!("{what}: agreement after {convergence_time:.3} s");
        assert!(convergence_time <= 1.0, "{convergence_time} s");
        trial.assert_invariants();
    }
}

// Row F19.
#[test]
fn every_shot_is_accounted_for_after_client_hitches_in_a_fight() {
    let options = MatchOptions { players: 3, conditions: preset("Average (UE)"), seed: 6, ..default() };
    let mut trial = Trial::new("a fight with client hitches", options);
    trial.game.set_firing(true);
    trial.run(5.0);
    for stall in [0.25, 1.0, 0.25] {
        trial.game.stall_client(0, seconds(stall));
        trial.run(stall + 3.0);
    }
    trial.game.set_firing(false);
    trial.run(3.0);
    let rounds = trial.game.report().total().shots;
    assert!(rounds > 20, "only {rounds} shots");
    trial.assert_invariants();
}

fn connected(client: &mut App) -> bool {
    let world = client.world_mut();
    world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count() == 1
}

fn links(server: &mut App) -> usize {
    let world = server.world_mut();
    world.query_filtered::<(), (With<ClientOf>, With<Connected>)>().iter(world).count()
}

/// Packets in the client's simulated link, which pile up while the client does not run.
fn queued_packets(game: &mut Match, client: usize) -> usize {
    let world = game.clients[client].world_mut();
    let mut sims = world.query::<&NetSim>();
    sims.iter(world).map(|sim| sim.in_flight().0 + sim.in_flight().1).sum()
}

/// Suspends a client for longer than the connection timeout, and asserts that both ends drop the connection
/// and that neither keeps anything of it.
fn assert_suspended_client_is_dropped(time: f64) {
    let what = format!("a client suspended for {time} s");
    let mut trial = Trial::tour(&what, 3, preset("Average (UE)"), 2);
    let game = &mut trial.game;
    // The pawn is removed with the connection; otherwise a kept pawn could not be told from a leak.
    game.server.world_mut().resource_mut::<SessionConfig>().grace = core::time::Duration::ZERO;
    let id = own_id(&mut game.clients[0]);
    let before: Vec<u64> = (1..3).map(|i| crate::stats(&mut game.clients[i]).corrections).collect();
    game.stall_client(0, seconds(time));
    game.run(seconds(4.5));
    assert_eq!(links(&mut game.server), 2, "the server must drop the client after three seconds");
    let base = (entity_count(&mut game.server), entity_count(&mut game.clients[1]));
    game.run(seconds(time - 4.5));
    assert_eq!(
        (entity_count(&mut game.server), entity_count(&mut game.clients[1])),
        base,
        "entities changed while the client was suspended"
    );
    // The client resumes.
    game.run(seconds(2.0));
    assert!(!connected(&mut game.clients[0]), "the client must notice that it was disconnected");
    assert!(queued_packets(game, 0) < 1_000, "{} packets", queued_packets(game, 0));
    let world = game.server.world_mut();
    assert!(
        !world.query::<&NetId>().iter(world).any(|other| *other == id),
        "the pawn of the disconnected client is left"
    );
    for (client, before) in (1..3).zip(before) {
        assert!(connected(&mut game.clients[client]));
        assert_eq!(
            crate::stats(&mut game.clients[client]).corrections,
            before,
            "the other clients must not be corrected"
        );
    }
    assert_eq!(game.server.world().resource::<IngressStats>().kicked, 0);
}

// Row F19.
#[test]
fn client_suspended_beyond_the_timeout_is_disconnected_and_leaves_nothing_behind() {
    assert_suspended_client_is_dropped(5.0);
    assert_suspended_client_is_dropped(60.0);
}

// Row F19.
#[test]
#[ignore = "long: a quarter of an hour of play"]
fn client_suspended_for_15_minutes_is_disconnected_and_leaves_nothing_behind() {
    assert_suspended_client_is_dropped(900.0);
}

/// Row F19. Bevy clamps the age of change ticks: after 518 million system runs it checks all of them, and at
/// 2^32 the counter wraps. A busy server gets there after some hours.
#[test]
#[ignore = "long: fifteen thousand million increments"]
fn fight_continues_past_bevys_maximum_change_tick_age() {
    const STEP: u32 = 500_000_000;
    let options = MatchOptions { players: 2, conditions: preset("Average (UE)"), seed: 3, ..default() };
    let mut trial = Trial::new("a server with an old change tick", options);
    trial.game.set_firing(true);
    for _ in 0..10 {
        for app in trial.game.apps_mut() {
            for _ in 0..STEP {
                app.world_mut().increment_change_tick();
            }
        }
        trial.run(1.5);
    }
    trial.game.set_firing(false);
    trial.run(3.0);
    let rounds = trial.game.report().total().shots;
    assert!(rounds > 20, "only {rounds} shots");
    trial.assert_invariants();
}
