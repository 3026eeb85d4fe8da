//! Match restart on a running server (row F23).

use core::time::Duration;

use bevy_unlag::{
    net::RestartMatch,
    weapons::{DrawnProjectile, ProjectilesInFlight},
};
use unlag_examples::{app::ServerOptions, weapon_set::WeaponSet};

use super::*;
use crate::{hold_still, own_id, state};

/// A round trip of 300 ms and 20 % loss each way.
const FAR: LinkConditions = LinkConditions {
    latency: Duration::from_millis(150),
    jitter: Duration::from_millis(10),
    loss: 0.2,
    ..LinkConditions::PERFECT
};

fn restart(game: &mut Match) {
    game.server.world_mut().trigger(RestartMatch);
}

// Row F23.
#[test]
fn restarted_match_has_no_stale_state_within_5_s_at_300_ms_and_20_percent_loss() {
    let server = ServerOptions { weapon_set: WeaponSet::All, ..ServerOptions::default() };
    let mut game = start_recorded(MatchOptions {
        players: 4,
        conditions: FAR,
        server,
        seed: 5,
        ..MatchOptions::default()
    });
    game.set_firing(true);
    // Until a projectile is in flight.
    expect_time_until(&mut game, 90.0, |game| {
        session_log(&game.server).damage > 0
            && game.server.world().resource::<ProjectilesInFlight>().launches().len() > 0
    });
    let before = session_log(&game.server).damage;
    let corrected: Vec<_> = (0..4).map(|i| session_log(&game.clients[i]).corrected.len()).collect();

    restart(&mut game);
    game.run(seconds(0.02));
    assert_eq!(session_log(&game.server).restarted.len(), 1);
    assert_eq!(game.server.world().resource::<ProjectilesInFlight>().launches().len(), 0);
    // No move of the new match can arrive within one round trip.
    game.run(seconds(0.25));
    assert_eq!(session_log(&game.server).damage, before, "a shot of the previous match did damage");
    let clean = expect_time_until(&mut game, 5.0, |game| {
        (0..4).all(|i| session_log(&game.clients[i]).restarted.len() == 1 && game.is_playing(i))
    });
    println!("all clients have restarted after {:.2} s", clean + 0.27);
    game.run(seconds(5.0 - clean.min(4.7)));
    for i in 0..4 {
        hold_still(&mut game.clients[i]);
    }
    game.run(seconds(4.0));
    for (i, corrected) in corrected.into_iter().enumerate() {
        let id = own_id(&mut game.clients[i]);
        let (here, there) = (state(&mut game.clients[i], id), state(&mut game.server, id));
        let apart = here.body.position.distance(there.body.position);
        assert!(apart < 0.01, "client {i} is {apart} m from the server");
        let errors = &session_log(&game.clients[i]).corrected[corrected..];
        assert!(errors.iter().all(|error| *error < 1.0), "client {i} was corrected by {errors:?} m");
        let world = game.clients[i].world_mut();
        assert_eq!(
            world.query::<&DrawnProjectile>().iter(world).count(),
            0,
            "client {i} displays a projectile of the previous match"
        );
        assert_eq!(session_log(&game.clients[i]).restarted.len(), 1, "each client must restart once");
    }
    game.fight(5.0);
    assert!(session_log(&game.server).damage > before, "no damage in the new match");
}

#[test]
fn restart_removes_displayed_projectiles_on_the_host() {
    let server = ServerOptions { weapon_set: WeaponSet::All, ..ServerOptions::default() };
    let mut game =
        start_recorded(MatchOptions { players: 3, host: true, server, seed: 5, ..MatchOptions::default() });
    let shown = |game: &mut Match| {
        let world = game.server.world_mut();
        world.query::<&DrawnProjectile>().iter(world).count()
    };
    game.set_firing(true);
    expect_time_until(&mut game, 90.0, |game| shown(game) > 0);
    game.set_firing(false);
    restart(&mut game);
    game.run(seconds(0.1));
    assert_eq!(shown(&mut game), 0, "projectiles of the previous match");
}

#[test]
fn each_restarted_match_compares_the_setups_of_its_clients_again() {
    let mut game = start_recorded(MatchOptions { players: 2, ..MatchOptions::default() });
    game.run(seconds(1.0));
    assert_eq!(session_log(&game.clients[0]).setup, []);
    // The next match is faster, and only one of the clients has the new tuning.
    let quicker = |app: &mut App| app.world_mut().resource_mut::<CapsuleConfig>().max_walk_speed += 1.0;
    quicker(&mut game.server);
    quicker(&mut game.clients[0]);
    restart(&mut game);
    game.run(seconds(2.0));
    assert_eq!(session_log(&game.clients[0]).setup, []);
    assert_eq!(session_log(&game.clients[1]).setup, [SetupDifference::Configuration]);
    restart(&mut game);
    restart(&mut game);
    game.run(seconds(0.5));
    restart(&mut game);
    game.run(seconds(1.0));
    let rounds: Vec<_> = session_log(&game.clients[0]).restarted.iter().map(|one| one.epoch).collect();
    assert_eq!(rounds, [1, 2, 3], "two restarts in one frame must count as one");
}
