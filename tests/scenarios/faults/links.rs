//! Rows F1 to F9 and F22: permanently bad links.
//!
//! `cargo test --release --workspace --test scenarios faults::links -- --ignored` runs the long tests.

use bevy::prelude::*;
use bevy_unlag::{
    core::Tick, guard::IngressStats, link_conditioner::LinkConditions, prediction::CorrectionCause,
    prelude::*,
};
use unlag_examples::{app::ServerOptions, stepped_match::MatchOptions, weapon_set::WeaponSet};

use super::{preset, trial::Trial};

/// Result of a tour through free space.
struct TourResult {
    /// The highest number of corrections of one client, without those caused by contact with another pawn.
    corrections: u64,
    /// The largest correction of all clients, in metres.
    largest: f32,
    /// The share of moves that the server extrapolated because they did not arrive in time.
    extrapolated_share: f64,
    /// The longest mismatch with the server, in seconds.
    longest: f64,
}

fn expect_tour(name: &str, conditions: LinkConditions, seed: u64, time: f64) -> TourResult {
    let mut trial = Trial::tour(name, 2, conditions, seed);
    let from = trial.client_times();
    trial.run(time);
    let distance_walked = [0, 1].map(|i| trial.distance_walked(i, from[i]));
    let longest =
        (0..2).flat_map(|i| trial.mismatches(i, from[i])).map(|s| s.to - s.from).fold(0.0, f64::max);
    let stats = trial.stats();
    let touched = |s: &PredictionStats| u64::from(s.corrections_of(CorrectionCause::OtherPawn));
    let toured = TourResult {
        corrections: stats.iter().map(|s| s.corrections - touched(s)).max().unwrap_or(0),
        largest: stats.iter().map(|s| s.largest_correction).fold(0.0, f32::max),
        extrapolated_share: trial.extrapolated_share(),
        longest,
    };
    let TourResult { corrections, largest, extrapolated_share, .. } = toured;
    println!(
        "{name}, seed {seed}: {corrections} corrections, the largest {largest:.3} m, {:.3} % extrapolated, \
         longest mismatch {longest:.3} s, {distance_walked:.0?} m",
        extrapolated_share * 100.0
    );
    assert!(
        distance_walked.iter().any(|way| f64::from(*way) > time),
        "walked {distance_walked:?} m: no client tours"
    );
    trial.assert_invariants();
    toured
}

// Row F1.
#[test]
fn lan_and_fibre_links_cause_no_corrections() {
    for name in ["LAN", "Esports fibre"] {
        let toured = expect_tour(name, preset(name), 1, 40.0);
        assert_eq!((toured.corrections, toured.longest), (0, 0.0), "{name}");
    }
}

// Rows F1 to F3.
#[test]
#[ignore = "long: ten minutes of play on each of four links"]
fn corrections_stay_within_limits_during_ten_minutes_on_each_link() {
    for (name, most) in [("LAN", 0), ("Esports fibre", 0), ("Average (UE)", 4), ("Bad (UE)", 29)] {
        let toured = expect_tour(name, preset(name), 2, 600.0);
        assert!(toured.corrections <= most, "{name}");
        assert!(toured.extrapolated_share < 0.001, "{name}");
    }
}

// Row F2.
#[test]
fn average_link_causes_no_corrections_in_a_minute() {
    for seed in [1, 2] {
        let toured = expect_tour("Average (UE)", preset("Average (UE)"), seed, 30.0);
        assert!(toured.corrections == 0 && toured.longest == 0.0 && toured.extrapolated_share < 0.001);
    }
}

// Row F3.
#[test]
#[ignore = "long: `unlag_lab prediction` has the same figures"]
fn bad_link_loses_under_0_1_percent_of_input_and_hits_agree() {
    for seed in [1, 2] {
        let toured = expect_tour("Bad (UE)", preset("Bad (UE)"), seed, 60.0);
        assert!(toured.corrections < 3, "{} corrections in a minute", toured.corrections);
        assert!(
            toured.extrapolated_share < 0.001,
            "a share of {} of the input was lost",
            toured.extrapolated_share
        );
    }
    // At a round trip of 300 ms most targets are older than the default rewind limit of 400 ms.
    let server = ServerOptions { max_age: Some(core::time::Duration::from_millis(500)), ..default() };
    let options = MatchOptions { players: 4, conditions: preset("Bad (UE)"), seed: 3, server, ..default() };
    let mut trial = Trial::new("a fight on Bad (UE)", options);
    trial.game.fight(40.0);
    let tally = trial.game.report().total().unclamped();
    println!("{tally:?} within the rewind limit");
    let (there, back) =
        (tally.confirmed_of_drawn().unwrap_or(0.0), tally.drawn_of_confirmed().unwrap_or(0.0));
    assert!(tally.drawn > 50 && there >= 99.0 && back >= 99.0, "{there} % and {back} %");
    trial.assert_invariants();
}

// Row F4.
#[test]
fn bursts_of_8_lost_packets_cost_at_most_2_percent_of_moves() {
    for seed in [1, 2] {
        let toured = expect_tour("Bursty", preset("Bursty"), seed, 40.0);
        assert!(toured.extrapolated_share <= 0.02, "{}", toured.extrapolated_share);
    }
}

// Row F5.
#[test]
fn mismatches_on_a_terrible_link_end_within_one_rtt_plus_250_ms() {
    for seed in [1, 2] {
        let toured = expect_tour("GNS terrible", preset("GNS terrible"), seed, 40.0);
        assert!(toured.longest <= 0.2 + 0.25, "{} s", toured.longest);
    }
}

/// Runs a fight of three players with all weapons for `time` seconds on the preset `name`, then switches to
/// an average link and checks the result.
fn assert_fight_survives(name: &str, seed: u64, time: f64) -> Trial {
    let server = ServerOptions { weapon_set: WeaponSet::All, ..default() };
    let options = MatchOptions { players: 3, conditions: preset("Average (UE)"), seed, server, ..default() };
    let mut trial = Trial::new(name, options);
    trial.game.set_conditions(preset(name));
    trial.game.set_firing(true);
    trial.run(time);
    trial.game.set_firing(false);
    trial.game.set_conditions(preset("Average (UE)"));
    // Waits for delayed packets and for retransmissions of lost ones.
    trial.run(6.0);
    let rounds = trial.game.report().total().shots;
    println!("{name}: {rounds} shots");
    assert!(rounds as f64 > time * 2.0, "only {rounds} shots");
    trial.assert_invariants();
    trial
}

// Row F6.
#[test]
fn every_shot_is_accounted_for_at_250_ms_with_25_percent_loss_and_duplication() {
    assert_fight_survives("Torture A", 4, 60.0);
}

// Row F6.
#[test]
#[ignore = "long: half an hour of play"]
fn every_shot_is_accounted_for_in_half_an_hour_on_torture_a() {
    assert_fight_survives("Torture A", 4, 1_800.0);
}

/// Row F7: a fight and a tour for `iterations` ticks on the preset "Torture B", each followed by an average
/// link. Asserts that the tour's `T_conv` is at most 2 s.
fn assert_recovery_from_torture_b(iterations: u32) {
    let time = f64::from(iterations) / 64.0;
    assert_fight_survives("Torture B", 5, time);
    let mut trial = Trial::tour("Torture B", 2, preset("Average (UE)"), 5);
    trial.game.set_conditions(preset("Torture B"));
    trial.run(time);
    trial.game.set_conditions(preset("Average (UE)"));
    let from = trial.client_times();
    trial.run(6.0);
    let back = trial.convergence_time(&from);
    println!("Torture B: agreement {back:.3} s after the link recovered");
    assert!(back <= 2.0, "{back} s");
    trial.assert_invariants();
}

// Row F7.
#[test]
fn client_recovers_within_2_s_after_2000_ticks_on_torture_b() {
    assert_recovery_from_torture_b(2_000);
}

// Row F7.
#[test]
#[ignore = "long: 20,000 iterations"]
fn client_recovers_within_2_s_after_20000_ticks_on_torture_b() {
    assert_recovery_from_torture_b(20_000);
}

/// Newest acknowledged tick and newest snapshot tick of each remote pawn. `back` counts the times that one of
/// them decreased.
#[derive(Resource, Default)]
struct Progress {
    answered: Option<Tick>,
    drawn: std::collections::HashMap<NetId, Tick>,
    back: u32,
}

fn record_progress(
    own: Query<&bevy_unlag::prediction::SavedMoves<Soldier>>,
    others: Query<(&NetId, &bevy_unlag::core::SnapshotHistory)>,
    mut progress: ResMut<Progress>,
) {
    let progress = &mut *progress;
    for saved in &own {
        let answered = saved.last_acked();
        if let (Some(old), Some(new)) = (progress.answered, answered) {
            progress.back += u32::from(old.is_newer_than(new));
        }
        progress.answered = answered;
    }
    for (id, history) in &others {
        let Some(newest) = history.iter().last().map(|snapshot| snapshot.tick) else { continue };
        if let Some(old) = progress.drawn.insert(*id, newest) {
            progress.back += u32::from(old.is_newer_than(newest));
        }
    }
}

/// Replayed moves plus corrections of all clients.
fn replayed_and_corrected(trial: &mut Trial) -> u64 {
    trial.stats().iter().map(|s| s.replayed + s.corrections).sum()
}

// Row F8.
#[test]
fn reordered_packets_cause_no_replay_and_no_stale_state() {
    let reordered = preset("GNS reorder");
    let in_order = LinkConditions { reorder: 0.0, ..reordered };
    let runs = [reordered, in_order].map(|conditions| {
        let mut trial = Trial::tour("GNS reorder", 2, conditions, 6);
        for client in &mut trial.game.clients {
            client.init_resource::<Progress>().add_systems(Last, record_progress);
        }
        let before = replayed_and_corrected(&mut trial);
        trial.run(30.0);
        let back: u32 = trial.game.clients.iter().map(|c| c.world().resource::<Progress>().back).sum();
        assert_eq!(back, 0, "a stale acknowledgement or snapshot was applied");
        let replayed = replayed_and_corrected(&mut trial) - before;
        let swapped: u64 = trial.packets().iter().map(|(up, down)| up.reordered + down.reordered).sum();
        assert_eq!(swapped > 500, conditions == reordered, "{swapped}");
        trial.assert_invariants();
        replayed
    });
    println!("replayed moves and corrections: {runs:?}");
    assert_eq!(runs, [0, 0]);
}

/// FNV hash of all positions and velocities of the server's pawns.
#[derive(Resource, Default, PartialEq, Debug)]
struct StateHash(u64);

fn hash_states(pawns: Query<(&NetId, &SoldierState)>, mut trail: ResMut<StateHash>) {
    let mut all: Vec<_> = pawns.iter().collect();
    all.sort_by_key(|(id, _)| **id);
    for (_, state) in all {
        for number in state.body.position.to_array().into_iter().chain(state.body.velocity.to_array()) {
            trail.0 = (trail.0 ^ u64::from(number.to_bits())).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

// Row F9.
#[test]
fn duplicated_packets_change_no_state_and_are_never_read() {
    let doubled = LinkConditions { duplication: 0.25, ..preset("Average (UE)") };
    let once = preset("Average (UE)");
    let runs = [doubled, once].map(|conditions| {
        let mut trial = Trial::tour("25 % of packets are duplicated", 2, conditions, 7);
        trial.game.server.init_resource::<StateHash>().add_systems(FixedLast, hash_states);
        trial.run(40.0);
        let copies: u64 = trial.packets().iter().map(|(up, down)| up.duplicated + down.duplicated).sum();
        assert_eq!(copies > 1_000, conditions == doubled, "{copies}");
        let world = trial.game.server.world();
        let run = (world.resource::<StateHash>().0, world.resource::<IngressStats>().packets);
        trial.assert_invariants();
        run
    });
    println!("{runs:?}");
    // netcode drops copies: their only cost is the check of the sequence number.
    assert_eq!(runs[0], runs[1], "the trail of all pawns or the number of packets that were read differs");
}

/// Row F22: every 15 s the latency rises by 100 ms for 140 ms, in which a third of the packets is lost.
#[test]
fn satellite_handover_causes_no_correction_of_5_cm() {
    for seed in [1, 2] {
        let toured = expect_tour("Starlink", preset("Starlink"), seed, 32.0);
        assert!(toured.largest < 0.05, "{} m", toured.largest);
        assert!(toured.longest <= 0.3, "{} s", toured.longest);
    }
}

#[test]
fn trial_reports_the_mismatch_of_a_displaced_pawn() {
    let mut trial = Trial::tour("a pawn displaced by its client", 2, preset("Average (UE)"), 8);
    let world = trial.game.clients[0].world_mut();
    for mut state in world.query_filtered::<&mut SoldierState, With<LocalControl>>().iter_mut(world) {
        state.body.position.y += 0.5;
    }
    let from = trial.client_times();
    trial.run(3.0);
    let back = trial.convergence_time(&from);
    assert!((0.05..0.35).contains(&back), "{back} s");
    assert_eq!(trial.mismatches(1, from[1]).len(), 0);
    trial.assert_invariants();
}
