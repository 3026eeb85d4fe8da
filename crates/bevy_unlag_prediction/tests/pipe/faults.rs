//! Bad links of all kinds, with the figures to be reached on them.

use crate::common::*;

/// Walks for some seconds. The pair's stats and log have the corrections and the owner's errors.
fn walked(seed: u64, weather: Weather, seconds: f64) -> Pair {
    let mut pair = Pair::new(seed, weather);
    pair.play(|tick| match tick / 40 % 4 {
        0 => circle(tick),
        1 => zigzag(tick).with(Wish::RUN),
        2 => Wish { x: -60, z: -60, buttons: if tick % 20 == 3 { Wish::FIRE } else { 0 } },
        _ if tick % 160 == 130 => Wish::WEST.with(Wish::BLINK),
        _ => zigzag(tick),
    });
    pair.run(seconds);
    pair
}

fn assert_never_astray(seed: u64, weather: Weather, seconds: f64) -> Pair {
    let pair = walked(seed, weather, seconds);
    let (stats, error) = (pair.client.stats(), pair.log.largest_error(0.0));
    assert_eq!((stats.corrections, error), (0, 0.0), "{weather:?}: {stats:?} {:?}", pair.server.stats());
    pair
}

#[test]
fn fibre_link_causes_no_corrections() {
    assert_never_astray(1, Weather::FIBRE, 300.0);
}

#[test]
fn average_link_causes_no_corrections_and_no_errors_for_ten_minutes() {
    assert_never_astray(2, Weather::AVERAGE, 600.0);
}

#[test]
fn bad_link_causes_fewer_than_three_corrections_per_minute_and_loses_no_moves() {
    let pair = walked(3, Weather::BAD, 300.0);
    let (client, server) = (pair.client.stats(), pair.server.stats());
    assert!(client.corrections < 15, "{client:?}");
    let lost = server.carried as f64 / server.moves as f64;
    assert!(lost < 0.001, "{lost}: {server:?}");
}

/// Returns the share of moves that run within a quarter of a second of their usual arrival.
fn on_time(pair: &Pair) -> f64 {
    let waits = pair.log.waits(0.0, pair.seconds() - 2.0);
    let due = pair.up.weather.delay + pair.up.weather.jitter + 0.25;
    waits.iter().filter(|wait| **wait <= due).count() as f64 / waits.len() as f64
}

#[test]
fn moves_run_on_time_at_20_percent_loss() {
    for seed in 1..4 {
        for weather in
            [Weather { loss: 0.2, ..Weather::AVERAGE }, Weather { loss: 0.2, ..Weather::late(0.15) }]
        {
            let pair = walked(seed, weather, 60.0);
            let (share, server) = (on_time(&pair), pair.server.stats());
            assert!(share >= 0.999, "{share} at {weather:?}: {server:?}");
            assert!(server.carried <= server.moves / 1_000, "{server:?}");
        }
    }
}

#[test]
fn bursts_of_eight_lose_no_move_and_the_first_one_neither() {
    // At any phase, on a link without any loss before.
    for phase in 0..12 {
        let mut pair = walked(4, Weather { jitter: 0.005, loss: 0.0, ..Weather::AVERAGE }, 3.0);
        pair.run(f64::from(phase) * DT);
        for _ in 0..4 {
            pair.up.lose_next = 8;
            pair.run(1.5);
        }
        let server = pair.server.stats();
        assert_eq!((pair.corrections(), server.carried), (0, 0), "phase {phase}: {server:?}");
        assert_eq!(on_time(&pair), 1.0, "phase {phase}");
    }
}

#[test]
fn random_bursts_of_loss_leave_98_percent_of_moves_on_time() {
    for seed in 1..4 {
        let pair = walked(seed, Weather { loss: 0.03, burst: 8.0, ..Weather::AVERAGE }, 60.0);
        let share = on_time(&pair);
        assert!(share >= 0.98, "{share}: {:?}", pair.server.stats());
    }
}

#[test]
fn long_link_with_loss_and_reordering_converges_within_450_ms() {
    let weather = Weather { loss: 0.2, disorder: 0.04, disorder_by: 0.05, ..Weather::late(0.1) };
    let mut pair = walked(5, weather, 60.0);
    assert!(pair.corrections() <= 6, "{:?}", pair.client.stats());
    for _ in 0..5 {
        pair.server.edit::<Place>().at.z += 1.3;
        let from = pair.seconds();
        pair.run(3.0);
        let converged = pair.log.converged(from);
        assert!(converged <= 0.2 + 0.25, "{converged} s");
    }
}

#[test]
fn stress_link_loses_at_most_one_percent_of_moves() {
    let weather = Weather { delay: 0.25, jitter: 0.1, loss: 0.25, twice: 0.25, ..Weather::PERFECT };
    let pair = walked(6, weather, 120.0);
    let (client, server) = (pair.client.stats(), pair.server.stats());
    assert_eq!((client.malformed, server.malformed, pair.account().detected), (0, 0, 0));
    assert!(server.moves as f64 > 0.99 * client.moves as f64 - 64.0, "{server:?}");
}

#[test]
fn latency_of_one_second_is_survived_and_leaves_no_lasting_errors() {
    let weather = Weather { delay: 1.0, jitter: 0.1, loss: 0.25, twice: 0.25, ..Weather::PERFECT };
    let mut pair = walked(7, weather, 120.0);
    assert!(pair.server.stats().moves > 4_000, "the pawn walks: {:?}", pair.server.stats());
    (pair.up.weather, pair.down.weather) = (Weather::AVERAGE, Weather::AVERAGE);
    let from = pair.seconds();
    pair.run(8.0);
    let converged = pair.log.converged(from);
    // Packets sent before the change arrive for another second.
    assert!(converged <= 1.1 + 2.0, "{converged} s");
    let corrections = pair.corrections();
    pair.run(60.0);
    assert_eq!(pair.corrections(), corrections, "{:?}", pair.client.stats());
}

#[test]
fn reordering_causes_no_corrections() {
    let late = Weather { disorder: 0.3, disorder_by: 0.04, ..Weather::late(0.04) };
    assert_never_astray(8, late, 120.0);
}

#[test]
fn satellite_handovers_every_15_s_converge_within_300_ms() {
    for seed in 1..4 {
        let mut pair = walked(seed, Weather { loss: 0.01, jitter: 0.01, ..Weather::late(0.03) }, 5.0);
        for _ in 0..8 {
            let calm = pair.up.weather;
            let handover = Weather { delay: calm.delay + 0.1, loss: 0.3, ..calm };
            (pair.up.weather, pair.down.weather) = (handover, handover);
            pair.run(0.14);
            (pair.up.weather, pair.down.weather) = (calm, calm);
            let from = pair.seconds();
            pair.run(14.86);
            let converged = pair.log.converged(from);
            assert!(converged <= 0.3, "seed {seed}: {converged} s");
        }
        let stats = pair.client.stats();
        assert!(stats.largest_correction <= 0.05, "seed {seed}: {stats:?}");
    }
}
