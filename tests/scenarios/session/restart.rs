//! A match begins anew on a server that goes on.

use core::time::Duration;

use bevy_unlag::weapons::ProjectilesInFlight;
use unlag_examples::{app::ServerOptions, weapon_set::WeaponSet};

use super::*;
use crate::{hold_still, own_id, state};

/// 300 ms of round trip, 20 % loss.
const FAR: LinkConditions = LinkConditions {
    latency: Duration::from_millis(150),
    jitter: Duration::from_millis(10),
    loss: 0.2,
    ..LinkConditions::PERFECT
};

fn restart(game: &mut Match) {
    game.server.world_mut().trigger(RestartMatch);
}

#[test]
fn everybody_is_clean_within_five_seconds_at_300_ms_and_20_percent_loss() {
    let server = ServerOptions { weapon_set: WeaponSet::All, ..ServerOptions::default() };
    let mut game =
        play(MatchOptions { players: 4, conditions: FAR, server, seed: 5, ..MatchOptions::default() });
    game.set_firing(true);
    // Until something is in the air.
    time_until(&mut game, 90.0, |game| {
        told(&game.server).damage > 0
            && game.server.world().resource::<ProjectilesInFlight>().launches().len() > 0
    });
    let before = told(&game.server).damage;
    let corrected: Vec<_> = (0..4).map(|i| told(&game.clients[i]).corrected.len()).collect();

    restart(&mut game);
    game.run(seconds(0.02));
    assert_eq!(told(&game.server).restarted.len(), 1);
    assert_eq!(game.server.world().resource::<ProjectilesInFlight>().launches().len(), 0);
    // No move of the new match can be there before word of it went down and up.
    game.run(seconds(0.25));
    assert_eq!(told(&game.server).damage, before, "somebody was hit by a shot of the match before");
    let clean = time_until(&mut game, 5.0, |game| {
        (0..4).all(|i| told(&game.clients[i]).restarted.len() == 1 && game.is_playing(i))
    });
    println!("everybody knows after {:.2} s", clean + 0.27);
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
        let errors = &told(&game.clients[i]).corrected[corrected..];
        assert!(errors.iter().all(|error| *error < 1.0), "client {i} was corrected by {errors:?} m");
        let world = game.clients[i].world_mut();
        assert_eq!(world.query::<&DrawnProjectile>().iter(world).count(), 0, "client {i} shows a ghost");
        assert_eq!(told(&game.clients[i]).restarted.len(), 1, "once");
    }
    game.fight(5.0);
    assert!(told(&game.server).damage > before, "the fight goes on");
}

#[test]
fn the_host_s_own_screen_is_clean_too() {
    let server = ServerOptions { weapon_set: WeaponSet::All, ..ServerOptions::default() };
    let mut game = play(MatchOptions { players: 3, host: true, server, seed: 5, ..MatchOptions::default() });
    let shown = |game: &mut Match| {
        let world = game.server.world_mut();
        world.query::<&DrawnProjectile>().iter(world).count()
    };
    game.set_firing(true);
    time_until(&mut game, 90.0, |game| shown(game) > 0);
    game.set_firing(false);
    restart(&mut game);
    game.run(seconds(0.1));
    assert_eq!(shown(&mut game), 0, "ghosts");
}

#[test]
fn a_new_match_is_compared_anew() {
    let mut game = play(MatchOptions { players: 2, ..MatchOptions::default() });
    game.run(seconds(1.0));
    assert_eq!(told(&game.clients[0]).setup, []);
    // The next match is faster, and only one of the clients knows.
    let quicker = |app: &mut App| app.world_mut().resource_mut::<CapsuleConfig>().max_walk_speed += 1.0;
    quicker(&mut game.server);
    quicker(&mut game.clients[0]);
    restart(&mut game);
    game.run(seconds(2.0));
    assert_eq!(told(&game.clients[0]).setup, []);
    assert_eq!(told(&game.clients[1]).setup, [SetupDifference::Configuration]);
    restart(&mut game);
    restart(&mut game);
    game.run(seconds(0.5));
    restart(&mut game);
    game.run(seconds(1.0));
    let rounds: Vec<_> = told(&game.clients[0]).restarted.iter().map(|one| one.epoch).collect();
    assert_eq!(rounds, [1, 2, 3], "two in one frame are one");
}
