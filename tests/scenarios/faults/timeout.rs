//! Row F14: a client falls silent. Both ends time out; the pawn stays, and can be hit, until the grace time
//! is over.

use bevy::prelude::*;
use bevy_unlag::{
    link_conditioner::LinkConditions,
    net::{AwaitingReconnect, SessionConfig},
    prelude::*,
};
use lightyear::prelude::{Client, Connected};
use unlag_examples::stepped_match::{Match, MatchOptions};

use super::preset;
use crate::{own_id, seconds, start};

/// Timeout of the connect token, and the tolerance for a frame and the link latency, in seconds.
const TIMEOUT: f64 = 3.0;
const SLACK: f64 = 0.5;

/// Number of hits on this pawn.
#[derive(Resource)]
struct HitCounter(Entity, usize);

/// A player's pawn on the server, and whether its player is absent; `None` if the pawn does not exist.
fn pawn(game: &mut Match, id: NetId) -> Option<(Entity, bool)> {
    let world = game.server.world_mut();
    let mut pawns = world.query::<(&NetId, Entity, Has<AwaitingReconnect>)>();
    pawns.iter(world).find(|(other, ..)| **other == id).map(|(_, pawn, absent)| (pawn, absent))
}

fn is_connected(client: &mut App) -> bool {
    let world = client.world_mut();
    world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count() == 1
}

/// Events after the client fell silent, in seconds from then.
#[derive(Debug, Default)]
struct TimeoutTimes {
    server: Option<f64>,
    client: Option<f64>,
    /// Removal of the pawn.
    removed: Option<f64>,
    /// Hits on the pawn while its player was absent.
    hits: usize,
}

fn expect_timeouts(switched_off: bool, seed: u64) -> TimeoutTimes {
    // No random loss: the last packet sent before the silence arrives.
    let conditions = LinkConditions { loss: 0.0, ..preset("Average (UE)") };
    let mut game = start(MatchOptions { players: 4, conditions, seed, ..default() });
    game.set_firing(true);
    game.run(seconds(3.0));
    let id = own_id(&mut game.clients[0]);
    let (entity, absent) = pawn(&mut game, id).expect("the client has a pawn");
    assert!(!absent);
    game.server.insert_resource(HitCounter(entity, 0)).add_systems(
        Last,
        |mut damage: MessageReader<Damage>,
         away: Query<(), With<AwaitingReconnect>>,
         mut hit: ResMut<HitCounter>| {
            let of = hit.0;
            let hits = damage.read().filter(|damage| damage.target == of && away.contains(of)).count();
            hit.1 += hits;
        },
    );
    if switched_off {
        game.power_off(0);
    } else {
        let world = game.clients[0].world_mut();
        let dark = LinkConditions { loss: 1.0, ..LinkConditions::PERFECT };
        world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| sim.set(dark));
    }
    let mut noticed = TimeoutTimes::default();
    for step in 1..=2_000 {
        game.run(seconds(0.01));
        let now = f64::from(step) * 0.01;
        if !switched_off && !is_connected(&mut game.clients[0]) {
            noticed.client = noticed.client.or(Some(now));
        }
        match pawn(&mut game, id) {
            None => {
                noticed.removed = Some(now);
                break;
            }
            Some((same, absent)) => {
                assert_eq!(same, entity);
                assert!(absent || noticed.server.is_none(), "the player returned");
                noticed.server = noticed.server.or(absent.then_some(now));
            }
        }
    }
    noticed.hits = game.server.world().resource::<HitCounter>().1;
    game.run(seconds(0.5));
    for client in 1..4 {
        assert!(is_connected(&mut game.clients[client]), "another client lost its connection");
        let world = game.clients[client].world_mut();
        assert!(
            !world.query::<&NetId>().iter(world).any(|other| *other == id),
            "client {client} still has the removed pawn"
        );
    }
    noticed
}

// Row F14.
#[test]
fn silent_client_times_out_on_both_ends_and_its_pawn_can_be_hit_until_removed() {
    let grace = SessionConfig::default().grace.as_secs_f64();
    assert_eq!(grace, 10.0);
    for (switched_off, seed) in [(true, 1), (false, 2)] {
        let noticed = expect_timeouts(switched_off, seed);
        eprintln!("switched off: {switched_off}, seed {seed}: {noticed:.2?}");
        let server = noticed.server.expect("the server times out");
        assert!(
            (TIMEOUT - SLACK..TIMEOUT + SLACK).contains(&server),
            "the server timed out after {server} s"
        );
        if !switched_off {
            let client = noticed.client.expect("the client times out");
            assert!(
                (TIMEOUT - SLACK..TIMEOUT + SLACK).contains(&client),
                "the client timed out after {client} s"
            );
        }
        let waited = noticed.removed.expect("the pawn is removed") - server;
        assert!((grace - 0.05..grace + 0.1).contains(&waited), "the pawn stayed for {waited} s");
        assert!(noticed.hits > 0, "the pawn was never hit");
    }
}
