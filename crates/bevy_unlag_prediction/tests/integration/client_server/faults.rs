//! Bad links of all kinds, with the figures to be reached on them.

use crate::client_server::common::*;

/// Walks for some seconds. The pair's stats and log have the corrections and the owner's errors.
fn walked(seed: u64, profile: LinkProfile, seconds: f64) -> Pair {
    let mut pair = Pair::new(seed, profile);
    pair.play(|tick| match tick / 40 % 4 {
        0 => circle(tick),
        1 => zigzag(tick).with(WalkerInput::RUN),
        2 => WalkerInput { x: -60, z: -60, buttons: if tick % 20 == 3 { WalkerInput::FIRE } else { 0 } },
        _ if tick % 160 == 130 => WalkerInput::WEST.with(WalkerInput::BLINK),
        _ => zigzag(tick),
    });
    pair.run(seconds);
    pair
}

fn assert_no_corrections(seed: u64, profile: LinkProfile, seconds: f64) -> Pair {
    let pair = walked(seed, profile, seconds);
    let (stats, error) = (pair.client.stats(), pair.log.largest_error(0.0));
    assert_eq!((stats.corrections, error), (0, 0.0), "{profile:?}: {stats:?} {:?}", pair.server.stats());
    pair
}

#[test]
fn fibre_link_causes_no_corrections() {
    assert_no_corrections(1, LinkProfile::FIBRE, 300.0);
}

#[test]
fn average_link_causes_no_corrections_and_no_errors_for_ten_minutes() {
    assert_no_corrections(2, LinkProfile::AVERAGE, 600.0);
}

#[test]
fn loss_of_the_first_packets_causes_no_correction() {
    for lost in 1..9 {
        let mut pair = Pair::new(2, LinkProfile { loss: 0.0, ..LinkProfile::AVERAGE });
        pair.up.lose_next = lost;
        pair.play(circle);
        pair.run(5.0);
        assert_eq!((pair.corrections(), pair.log.largest_error(0.0)), (0, 0.0), "{lost} packets lost");
    }
}

#[test]
fn bad_link_causes_fewer_than_three_corrections_per_minute_and_loses_no_moves() {
    let pair = walked(3, LinkProfile::BAD, 300.0);
    let (client, server) = (pair.client.stats(), pair.server.stats());
    assert!(client.corrections < 15, "{client:?}");
    let lost = server.extrapolated_moves as f64 / server.moves as f64;
    assert!(lost < 0.001, "{lost}: {server:?}");
}

/// Returns the share of moves that run within a quarter of a second of their usual arrival.
fn on_time(pair: &Pair) -> f64 {
    let input_latencies = pair.log.input_latencies(0.0, pair.seconds() - 2.0);
    let due = pair.up.profile.delay + pair.up.profile.jitter + 0.25;
    input_latencies.iter().filter(|wait| **wait <= due).count() as f64 / input_latencies.len() as f64
}

#[test]
fn moves_run_on_time_at_20_percent_loss() {
    for seed in 1..4 {
        for profile in [
            LinkProfile { loss: 0.2, ..LinkProfile::AVERAGE },
            LinkProfile { loss: 0.2, ..LinkProfile::late(0.15) },
        ] {
            let pair = walked(seed, profile, 60.0);
            let (share, server) = (on_time(&pair), pair.server.stats());
            assert!(share >= 0.999, "{share} at {profile:?}: {server:?}");
            assert!(server.extrapolated_moves <= server.moves / 1_000, "{server:?}");
        }
    }
}

#[test]
fn bursts_of_eight_lost_packets_lose_no_move() {
    // At any phase, on a link without any loss before.
    for phase in 0..12 {
        let mut pair = walked(4, LinkProfile { jitter: 0.005, loss: 0.0, ..LinkProfile::AVERAGE }, 3.0);
        pair.run(f64::from(phase) * DT);
        for _ in 0..4 {
            pair.up.lose_next = 8;
            pair.run(1.5);
        }
        let server = pair.server.stats();
        assert_eq!((pair.corrections(), server.extrapolated_moves), (0, 0), "phase {phase}: {server:?}");
        assert_eq!(on_time(&pair), 1.0, "phase {phase}");
    }
}

#[test]
fn random_bursts_of_loss_leave_98_percent_of_moves_on_time() {
    for seed in 1..4 {
        let pair = walked(seed, LinkProfile { loss: 0.03, burst: 8.0, ..LinkProfile::AVERAGE }, 60.0);
        let share = on_time(&pair);
        assert!(share >= 0.98, "{share}: {:?}", pair.server.stats());
    }
}

#[test]
fn long_link_with_loss_and_reordering_converges_within_450_ms() {
    let profile = LinkProfile { loss: 0.2, reordering: 0.04, reorder_delay: 0.05, ..LinkProfile::late(0.1) };
    let mut pair = walked(5, profile, 60.0);
    assert!(pair.corrections() <= 6, "{:?}", pair.client.stats());
    for _ in 0..5 {
        pair.server.edit::<WalkerState>().at.z += 1.3;
        let from = pair.seconds();
        pair.run(3.0);
        let seconds_to_convergence = pair.log.seconds_to_convergence(from);
        assert!(seconds_to_convergence <= 0.2 + 0.25, "{seconds_to_convergence} s");
    }
}

#[test]
fn stress_link_loses_at_most_one_percent_of_moves() {
    let profile =
        LinkProfile { delay: 0.25, jitter: 0.1, loss: 0.25, duplication: 0.25, ..LinkProfile::PERFECT };
    let pair = walked(6, profile, 120.0);
    let (client, server) = (pair.client.stats(), pair.server.stats());
    assert_eq!((client.malformed, server.malformed, pair.account().detected), (0, 0, 0));
    assert!(server.moves as f64 > 0.99 * client.moves as f64 - 64.0, "{server:?}");
}

#[test]
fn latency_of_one_second_is_survived_and_leaves_no_lasting_errors() {
    let profile =
        LinkProfile { delay: 1.0, jitter: 0.1, loss: 0.25, duplication: 0.25, ..LinkProfile::PERFECT };
    let mut pair = walked(7, profile, 120.0);
    assert!(pair.server.stats().moves > 4_000, "the pawn walks: {:?}", pair.server.stats());
    (pair.up.profile, pair.down.profile) = (LinkProfile::AVERAGE, LinkProfile::AVERAGE);
    let from = pair.seconds();
    pair.run(8.0);
    let seconds_to_convergence = pair.log.seconds_to_convergence(from);
    // Packets sent before the change arrive for another second.
    assert!(seconds_to_convergence <= 1.1 + 2.0, "{seconds_to_convergence} s");
    let corrections = pair.corrections();
    pair.run(60.0);
    assert_eq!(pair.corrections(), corrections, "{:?}", pair.client.stats());
}

#[test]
fn reordering_causes_no_corrections() {
    let late = LinkProfile { reordering: 0.3, reorder_delay: 0.04, ..LinkProfile::late(0.04) };
    assert_no_corrections(8, late, 120.0);
}

#[test]
fn satellite_handovers_every_15_s_converge_within_300_ms() {
    for seed in 1..4 {
        let mut pair = walked(seed, LinkProfile { loss: 0.01, jitter: 0.01, ..LinkProfile::late(0.03) }, 5.0);
        for _ in 0..8 {
            let calm = pair.up.profile;
            let handover = LinkProfile { delay: calm.delay + 0.1, loss: 0.3, ..calm };
            (pair.up.profile, pair.down.profile) = (handover, handover);
            pair.run(0.14);
            (pair.up.profile, pair.down.profile) = (calm, calm);
            let from = pair.seconds();
            pair.run(14.86);
            let seconds_to_convergence = pair.log.seconds_to_convergence(from);
            assert!(seconds_to_convergence <= 0.3, "seed {seed}: {seconds_to_convergence} s");
        }
        let stats = pair.client.stats();
        assert!(stats.largest_correction <= 0.05, "seed {seed}: {stats:?}");
    }
}
