//! Links of every kind, with the figures they have to reach.

use crate::common::*;

/// Walks for so many seconds and says how often it was corrected; the owner's errors are in its log.
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
fn nobody_is_corrected_on_fibre() {
    assert_never_astray(1, Weather::FIBRE, 300.0);
}

#[test]
fn nobody_is_corrected_on_an_average_link_and_the_owner_is_never_a_centimetre_astray() {
    assert_never_astray(2, Weather::AVERAGE, 600.0);
}

#[test]
fn a_bad_link_corrects_less_than_three_times_a_minute_and_loses_no_input() {
    let pair = walked(3, Weather::BAD, 300.0);
    let (client, server) = (pair.client.stats(), pair.server.stats());
    assert!(client.corrections < 15, "{client:?}");
    let lost = server.carried as f64 / server.moves as f64;
    assert!(lost < 0.001, "{lost}: {server:?}");
}

/// The share of moves that are run within a quarter of a second after they would have arrived.
fn on_time(pair: &Pair) -> f64 {
    let waits = pair.log.waits(0.0, pair.seconds() - 2.0);
    let due = pair.up.weather.delay + pair.up.weather.jitter + 0.25;
    waits.iter().filter(|wait| **wait <= due).count() as f64 / waits.len() as f64
}

#[test]
fn inputs_are_on_time_when_a_fifth_is_lost() {
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
    // At any phase, on a link that has never lost anything before.
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
fn bursts_by_chance_leave_nearly_all_inputs_on_time() {
    for seed in 1..4 {
        let pair = walked(seed, Weather { loss: 0.03, burst: 8.0, ..Weather::AVERAGE }, 60.0);
        let share = on_time(&pair);
        assert!(share >= 0.98, "{share}: {:?}", pair.server.stats());
    }
}

#[test]
fn a_long_way_with_much_loss_and_disorder_is_playable() {
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
fn a_link_like_an_endurance_test_is_survived() {
    let weather = Weather { delay: 0.25, jitter: 0.1, loss: 0.25, twice: 0.25, ..Weather::PERFECT };
    let pair = walked(6, weather, 120.0);
    let (client, server) = (pair.client.stats(), pair.server.stats());
    assert_eq!((client.malformed, server.malformed, pair.account().detected), (0, 0, 0));
    assert!(server.moves as f64 > 0.99 * client.moves as f64 - 64.0, "{server:?}");
}

#[test]
fn a_second_each_way_is_survived_and_forgotten() {
    let weather = Weather { delay: 1.0, jitter: 0.1, loss: 0.25, twice: 0.25, ..Weather::PERFECT };
    let mut pair = walked(7, weather, 120.0);
    assert!(pair.server.stats().moves > 4_000, "it walks: {:?}", pair.server.stats());
    (pair.up.weather, pair.down.weather) = (Weather::AVERAGE, Weather::AVERAGE);
    let from = pair.seconds();
    pair.run(8.0);
    let converged = pair.log.converged(from);
    // What was sent before is on its way for another second.
    assert!(converged <= 1.1 + 2.0, "{converged} s");
    let corrections = pair.corrections();
    pair.run(60.0);
    assert_eq!(pair.corrections(), corrections, "{:?}", pair.client.stats());
}

#[test]
fn disorder_is_worth_no_correction() {
    let late = Weather { disorder: 0.3, disorder_by: 0.04, ..Weather::late(0.04) };
    assert_never_astray(8, late, 120.0);
}

#[test]
fn a_satellites_handover_every_15_seconds_is_nothing() {
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
