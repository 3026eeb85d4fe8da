//! Fault matrix of links and machines: loss, stalls, clock drift and outages, and the time until client and
//! server agree again. The table is in `docs/faults.md`; codes such as F6 name its rows.

mod bandwidth_limit;
mod bit_flips;
mod clocks;
mod counter_wraps;
mod held_trigger;
mod links;
mod outages;
mod suspend;
mod timeout;
mod trial;

use bevy::prelude::*;
use bevy_unlag::{
    link_conditioner::{LinkConditions, LinkPreset},
    prediction::{CorrectionCause, TimeDiscrepancy},
    prelude::*,
};
use unlag_examples::{
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
};

use crate::{hold_still, own_id, seconds, start, state, stats};

fn preset(name: &str) -> LinkConditions {
    LinkPreset::named(name).expect("a built-in preset").conditions()
}

/// Two players who tour the level without firing.
fn start_tour(conditions: LinkConditions) -> Match {
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

/// The highest number of corrections of one client since `before`.
fn max_corrections_since(game: &mut Match, before: &[u64]) -> u64 {
    corrections(game).iter().zip(before).map(|(now, before)| now - before).max().unwrap_or(0)
}

/// Asserts that with neutral input every pawn comes to rest within 1 cm of its place on the server.
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
fn bad_link_causes_no_corrections_without_pawn_contact() {
    for name in ["Average (UE)", "Bad (UE)", "GNS bad", "GNS reorder", "Torture A"] {
        let mut game = start_tour(preset(name));
        let before = corrections(&mut game);
        game.run(seconds(15.0));
        let most = max_corrections_since(&mut game, &before);
        // Even on the worst link it is rare that no copy of a move arrives within 250 ms.
        let allowed = if name == "Torture A" { 3 } else { 0 };
        assert!(most <= allowed, "{name}: {most} corrections in 15 s");
        assert_agreed(&mut game);
    }
}

#[test]
fn client_and_server_agree_within_one_rtt_plus_250_ms_after_an_outage() {
    let usual = preset("Average (UE)");
    for outage in [0.25, 1.0, 2.0] {
        let mut game = start_tour(usual);
        game.set_conditions(LinkConditions { loss: 1.0, ..usual });
        game.run(seconds(outage));
        game.set_conditions(usual);
        game.run(seconds(0.12 + 0.25));
        let before = corrections(&mut game);
        game.run(seconds(3.0));
        assert_eq!(
            max_corrections_since(&mut game, &before),
            0,
            "corrections continue after an outage of {outage} s"
        );
        assert_agreed(&mut game);
    }
}

#[test]
fn outage_of_8_packets_causes_no_correction() {
    let usual = preset("Good broadband");
    let mut game = start_tour(usual);
    let before = corrections(&mut game);
    for _ in 0..5 {
        // Eight consecutive packets.
        game.set_conditions(LinkConditions { loss: 1.0, ..usual });
        game.run(seconds(8.0 / 64.0));
        game.set_conditions(usual);
        game.run(seconds(1.0));
    }
    assert_eq!(max_corrections_since(&mut game, &before), 0);
    assert_agreed(&mut game);
}

#[test]
fn server_stall_causes_at_most_2_corrections_and_no_clock_detection() {
    for (stall, allowed) in [(0.15, 0), (1.2, 2), (2.5, 2)] {
        let mut game = start_tour(preset("Average (UE)"));
        let before = corrections(&mut game);
        game.stall_server(seconds(stall));
        game.run(seconds(stall + 0.12 + 0.5));
        let most = max_corrections_since(&mut game, &before);
        let causes = stats(&mut game.clients[0]).by_cause;
        assert!(most <= allowed, "{most} corrections after {stall} s: {causes:?}");
        let before = corrections(&mut game);
        game.run(seconds(3.0));
        assert_eq!(
            max_corrections_since(&mut game, &before),
            0,
            "corrections continue after a stall of {stall} s"
        );
        assert!(
            discrepancies(&mut game).iter().all(|d| d.detected == 0),
            "a server stall was detected as a fast client clock"
        );
        assert_agreed(&mut game);
    }
}

#[test]
fn client_and_server_agree_within_1_s_after_a_client_stall() {
    // Longer stalls end the connection.
    for stall in [0.25, 1.0, 2.0] {
        let mut game = start_tour(preset("Average (UE)"));
        let before = corrections(&mut game);
        game.stall_client(0, seconds(stall));
        game.run(seconds(stall + 1.0));
        assert!(max_corrections_since(&mut game, &before) <= 2, "{:?}", stats(&mut game.clients[0]));
        let before = corrections(&mut game);
        game.run(seconds(3.0));
        assert_eq!(
            max_corrections_since(&mut game, &before),
            0,
            "corrections continue after a hitch of {stall} s"
        );
        assert!(
            discrepancies(&mut game).iter().all(|d| d.detected == 0),
            "a client hitch was detected as a fast clock"
        );
        assert_agreed(&mut game);
    }
}

// Row F20.
#[test]
fn drifting_client_clock_is_steered_without_corrections_or_detection() {
    let mut game = start_tour(preset("Average (UE)"));
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
    assert_eq!(max_corrections_since(&mut game, &before), 0);
    assert!(discrepancies(&mut game).iter().all(|d| d.detected == 0), "{:?}", discrepancies(&mut game));
}

#[test]
fn client_clock_at_double_speed_gains_no_moves_and_is_detected() {
    let mut game = start_tour(preset("Average (UE)"));
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
    assert!(fast < honest + 16, "the fast client ran {fast} moves, the honest one {honest}");
    assert!(discrepancies(&mut game).iter().any(|d| d.detected > 0), "the fast clock was not detected");
    let stats = stats(&mut game.clients[0]);
    assert!(stats.corrections_of(CorrectionCause::ClientClock) > 0, "{stats:?}");
}

#[test]
fn corrections_of_a_client_with_different_tuning_name_the_configuration() {
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
