//! What goes wrong on real links and machines, and how soon the owner is back. `docs/faults.md` has the table.

mod bits;
mod clocks;
mod links;
mod outages;
mod rate;
mod suspend;
mod timeout;
mod trial;
mod trigger;
mod wraps;

use bevy::prelude::*;
use bevy_unlag::{
    prediction::{CorrectionCause, TimeDiscrepancy},
    prelude::*,
};
use unlag_examples::{
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
};

use crate::{hold_still, own_id, seconds, start, state, stats};

fn preset(name: &str) -> LinkConditions {
    LinkPreset::named(name).expect("a preset of ours").conditions()
}

/// Two who run over everything and shoot nobody.
fn tourists(conditions: LinkConditions) -> Match {
    let mut game = start(MatchOptions { players: 2, conditions, ..MatchOptions::default() });
    for (seed, client) in (0..).zip(&mut game.clients) {
        client.world_mut().insert_resource(ScriptedPlayer::touring(seed));
    }
    game.run(seconds(3.0));
    game
}

fn corrections(game: &mut Match) -> Vec<u64> {
    game.clients.iter_mut().map(|client| stats(client).corrections).collect()
}

/// The most corrections that any of them had since.
fn most_since(game: &mut Match, before: &[u64]) -> u64 {
    corrections(game).iter().zip(before).map(|(now, before)| now - before).max().unwrap_or(0)
}

/// Everybody takes the hands off, and stands in the same place on both sides.
fn assert_agreed(game: &mut Match) {
    for client in &mut game.clients {
        hold_still(client);
    }
    game.run(seconds(2.0));
    for i in 0..game.clients.len() {
        let id = own_id(&mut game.clients[i]);
        let (client, server) = (state(&mut game.clients[i], id), state(&mut game.server, id));
        let apart = client.body.position.distance(server.body.position);
        assert!(apart < 0.01, "client {i} is {apart} m from the server");
    }
}

fn discrepancies(game: &mut Match) -> Vec<TimeDiscrepancy> {
    let world = game.server.world_mut();
    world.query::<&TimeDiscrepancy>().iter(world).copied().collect()
}

#[test]
fn a_bad_link_corrects_nobody_without_contact() {
    for name in ["Average (UE)", "Bad (UE)", "GNS bad", "GNS reorder", "Torture A"] {
        let mut game = tourists(preset(name));
        let before = corrections(&mut game);
        game.run(seconds(15.0));
        let most = most_since(&mut game, &before);
        // Moves that no copy of arrives in a quarter of a second are rare even on the worst.
        let allowed = if name == "Torture A" { 3 } else { 0 };
        assert!(most <= allowed, "{name}: {most} corrections in 15 s");
        assert_agreed(&mut game);
    }
}

#[test]
fn outages_end_with_the_owner_back_within_a_round_trip_and_a_quarter_second() {
    let usual = preset("Average (UE)");
    for outage in [0.25, 1.0, 2.0] {
        let mut game = tourists(usual);
        game.set_conditions(LinkConditions { loss: 1.0, ..usual });
        game.run(seconds(outage));
        game.set_conditions(usual);
        game.run(seconds(0.12 + 0.25));
        let before = corrections(&mut game);
        game.run(seconds(3.0));
        assert_eq!(most_since(&mut game, &before), 0, "after {outage} s of silence they still disagree");
        assert_agreed(&mut game);
    }
}

#[test]
fn a_short_outage_is_no_correction_at_all() {
    let usual = preset("Good broadband");
    let mut game = tourists(usual);
    let before = corrections(&mut game);
    for _ in 0..5 {
        // Eight packets in a row.
        game.set_conditions(LinkConditions { loss: 1.0, ..usual });
        game.run(seconds(8.0 / 64.0));
        game.set_conditions(usual);
        game.run(seconds(1.0));
    }
    assert_eq!(most_since(&mut game, &before), 0);
    assert_agreed(&mut game);
}

#[test]
fn a_server_that_stands_still_pulls_nobody_back_and_forth() {
    for (stall, allowed) in [(0.15, 0), (1.2, 2), (2.5, 2)] {
        let mut game = tourists(preset("Average (UE)"));
        let before = corrections(&mut game);
        game.stall_server(seconds(stall));
        game.run(seconds(stall + 0.12 + 0.5));
        let most = most_since(&mut game, &before);
        let causes = stats(&mut game.clients[0]).by_cause;
        assert!(most <= allowed, "{most} corrections after {stall} s: {causes:?}");
        let before = corrections(&mut game);
        game.run(seconds(3.0));
        assert_eq!(most_since(&mut game, &before), 0, "they still disagree after a stall of {stall} s");
        assert!(discrepancies(&mut game).iter().all(|d| d.detected == 0), "a stall accused somebody");
        assert_agreed(&mut game);
    }
}

#[test]
fn a_client_that_stands_still_is_back_within_a_second() {
    // Longer ones end the connection.
    for stall in [0.25, 1.0, 2.0] {
        let mut game = tourists(preset("Average (UE)"));
        let before = corrections(&mut game);
        game.stall_client(0, seconds(stall));
        game.run(seconds(stall + 1.0));
        assert!(most_since(&mut game, &before) <= 2, "{:?}", stats(&mut game.clients[0]));
        let before = corrections(&mut game);
        game.run(seconds(3.0));
        assert_eq!(most_since(&mut game, &before), 0, "still disagrees after a hitch of {stall} s");
        assert!(discrepancies(&mut game).iter().all(|d| d.detected == 0), "a hitch accused somebody");
        assert_agreed(&mut game);
    }
}

#[test]
fn clocks_that_drift_are_steered_and_accused_of_nothing() {
    let mut game = tourists(preset("Average (UE)"));
    game.set_clock(0, 1.005);
    game.set_clock(1, 0.995);
    game.run(seconds(20.0));
    let before = corrections(&mut game);
    let apart = |game: &mut Match| -> Vec<i32> {
        let server = game.server.world().resource::<CurrentTick>().0;
        game.clients.iter().map(|c| server.since(c.world().resource::<CurrentTick>().0)).collect()
    };
    let began = apart(&mut game);
    game.run(seconds(60.0));
    for (began, now) in began.into_iter().zip(apart(&mut game)) {
        assert!((now - began).abs() <= 8, "from {began} to {now} ticks behind in a minute");
    }
    assert_eq!(most_since(&mut game, &before), 0);
    assert!(discrepancies(&mut game).iter().all(|d| d.detected == 0), "{:?}", discrepancies(&mut game));
}

#[test]
fn a_clock_at_twice_the_speed_gains_nothing_and_is_named() {
    let mut game = tourists(preset("Average (UE)"));
    let moves = |game: &mut Match| -> Vec<u64> {
        let ids: Vec<_> = (0..2).map(|i| own_id(&mut game.clients[i])).collect();
        let world = game.server.world_mut();
        let mut pawns = world.query::<(&NetId, &PredictionStats)>();
        let run = |id| {
            pawns.iter(world).find(|(other, _)| **other == id).map(|(_, s)| s.moves + s.extrapolated_moves)
        };
        ids.into_iter().filter_map(run).collect()
    };
    let before = moves(&mut game);
    game.clients[0].world_mut().resource_mut::<PredictionConfig>().steer_clock = false;
    game.set_clock(0, 2.0);
    game.run(seconds(30.0));
    let after = moves(&mut game);
    let (fast, honest) = (after[0] - before[0], after[1] - before[1]);
    assert!(fast < honest + 16, "the fast one made {fast} moves, the honest one {honest}");
    assert!(discrepancies(&mut game).iter().any(|d| d.detected > 0), "nobody was detected");
    let stats = stats(&mut game.clients[0]);
    assert!(stats.corrections_of(CorrectionCause::ClientClock) > 0, "{stats:?}");
}

#[test]
fn a_wrong_tuning_is_named_when_joining_and_in_corrections() {
    let conditions = preset("LAN");
    let mut game = start(MatchOptions { players: 2, conditions, ..MatchOptions::default() });
    game.clients[0].world_mut().resource_mut::<CapsuleConfig>().max_walk_speed = 3.0;
    game.run(seconds(3.0));
    let stats = stats(&mut game.clients[0]);
    assert!(stats.corrections > 0, "{stats:?}");
    assert_eq!(
        u64::from(stats.corrections_of(CorrectionCause::Configuration)),
        stats.corrections,
        "{stats:?}"
    );
}
