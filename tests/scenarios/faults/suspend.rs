//! Row F19: a client that does not run for a while, and one that has run for very long.
//!
//! `cargo test --release --workspace --test scenarios faults::suspend -- --ignored` runs the long one.

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use lightyear::prelude::{Client, Connected, server::ClientOf};
use unlag_examples::stepped_match::Match;

use super::{
    preset,
    trial::{Trial, entities},
};
use crate::{own_id, seconds};

#[test]
fn f19_after_a_hitch_the_owner_is_back_within_a_second() {
    for stall in [0.25, 1.0] {
        let what = format!("a client that hangs for {stall} s");
        let mut trial = Trial::tour(&what, 2, preset("Average (UE)"), 1);
        trial.game.stall_client(0, seconds(stall));
        // Until its long frame is over.
        trial.run(stall + 0.02);
        let from = trial.clocks();
        trial.run(4.0);
        let back = trial.back(&from);
        println!("{what}: back after {back:.3} s");
        assert!(back <= 1.0, "{back} s");
        trial.check();
    }
}

fn connected(client: &mut App) -> bool {
    let world = client.world_mut();
    world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count() == 1
}

fn links(server: &mut App) -> usize {
    let world = server.world_mut();
    world.query_filtered::<(), (With<ClientOf>, With<Connected>)>().iter(world).count()
}

/// The memory that grows while somebody is away: packets that nobody takes out.
fn waiting(game: &mut Match, client: usize) -> usize {
    let world = game.clients[client].world_mut();
    let mut sims = world.query::<&NetSim>();
    sims.iter(world).map(|sim| sim.in_flight().0 + sim.in_flight().1).sum()
}

/// A client sleeps for longer than the connection lasts.
fn sleep(time: f64) {
    let what = format!("a client that is suspended for {time} s");
    let mut trial = Trial::tour(&what, 3, preset("Average (UE)"), 2);
    let game = &mut trial.game;
    // Its pawn goes with it, or what is kept of it could not be told from what is left over.
    game.server.world_mut().resource_mut::<SessionConfig>().grace = core::time::Duration::ZERO;
    let id = own_id(&mut game.clients[0]);
    let before: Vec<u64> = (1..3).map(|i| crate::stats(&mut game.clients[i]).corrections).collect();
    game.stall_client(0, seconds(time));
    game.run(seconds(4.5));
    assert_eq!(links(&mut game.server), 2, "the server lets it go after three seconds");
    let base = (entities(&mut game.server), entities(&mut game.clients[1]));
    game.run(seconds(time - 4.5));
    assert_eq!((entities(&mut game.server), entities(&mut game.clients[1])), base, "what is kept of it");
    // It wakes up.
    game.run(seconds(2.0));
    assert!(!connected(&mut game.clients[0]), "it knows that it is gone");
    assert!(waiting(game, 0) < 1_000, "{} packets", waiting(game, 0));
    let world = game.server.world_mut();
    assert!(!world.query::<&NetId>().iter(world).any(|other| *other == id), "its pawn has gone with it");
    for (client, before) in (1..3).zip(before) {
        assert!(connected(&mut game.clients[client]));
        assert_eq!(crate::stats(&mut game.clients[client]).corrections, before, "the others play on");
    }
    assert_eq!(game.server.world().resource::<IngressStats>().kicked, 0);
}

#[test]
fn f19_suspended_for_longer_than_the_connection_lasts_is_gone_cleanly() {
    sleep(5.0);
    sleep(60.0);
}

#[test]
#[ignore = "long: a quarter of an hour of play"]
fn f19_suspended_for_a_quarter_of_an_hour_is_gone_cleanly() {
    sleep(900.0);
}

/// Bevy ages what changed: at 518 million system runs it looks through all of them, and at 2^32 the count begins
/// anew. A busy server is there after some hours.
#[test]
fn f19_beyond_the_age_of_bevys_change_ticks() {
    const STEP: u32 = 500_000_000;
    let options = unlag_examples::stepped_match::MatchOptions {
        players: 2,
        conditions: preset("Average (UE)"),
        seed: 3,
        ..default()
    };
    let mut trial = Trial::new("a server that has run for long", options);
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
    assert!(rounds > 20, "{rounds} rounds");
    trial.check();
}
