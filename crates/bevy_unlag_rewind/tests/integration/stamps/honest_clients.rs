//! Honest clients' claims are accepted unchanged.

use bevy_unlag_rewind::{ViewTimeError, ViewValidationConfig};

use crate::stamps::simulation::{Setup, simulate};

/// Returns the numbers of shots and errors over links, machines and seeds.
fn expect_honest_run(config: &ViewValidationConfig, loss: f64, seconds: f64) -> (usize, u64) {
    let (mut shots, mut errors, mut seed) = (0, 0, 0);
    for rtt in [0.0, 0.05, 0.15, 0.3] {
        for jitter in [0.0, 0.01, 0.03] {
            for (fps, interval, drift) in
                [(144.0, 3, 1e-4), (60.0, 3, -1e-4), (30.0, 3, 0.0), (60.0, 6, 2e-4), (60.0, 1, 0.0)]
            {
                seed += 1;
                let setup =
                    Setup { rtt, jitter, loss, fps, interval, drift, seconds, seed, ..Setup::default() };
                let played = simulate(&setup, config);
                shots += played.shots.len();
                errors += played.counts.errors();
                let of: Vec<_> = ViewTimeError::ALL
                    .into_iter()
                    .map(|error| (error, played.counts.of(error)))
                    .filter(|(_, count)| *count > 0)
                    .collect();
                if !of.is_empty() {
                    println!("{setup:?}: {} shots, {of:?}", played.shots.len());
                }
                let moved = played.shots.iter().filter(|shot| shot.admitted.time != shot.shown).count();
                assert_eq!(
                    moved as u64,
                    played.counts.errors(),
                    "every changed view time must be counted as an error"
                );
            }
        }
    }
    (shots, errors)
}

fn assert_honest_views_are_accepted(seconds: f64, least_shots: usize) {
    for loss in [0.0, 0.05] {
        let (shots, errors) = expect_honest_run(&ViewValidationConfig::default(), loss, seconds);
        println!("loss {loss}: {errors} errors in {shots} shots");
        assert!(shots >= least_shots, "{shots} shots");
        assert!(errors * 100_000 <= shots as u64, "{errors} of {shots} honest shots");
    }
}

#[test]
fn honest_views_are_accepted_unchanged() {
    assert_honest_views_are_accepted(150.0, 45_000);
}

#[test]
#[ignore = "long: ten minutes on each of 120 links"]
fn honest_views_of_ten_minutes_are_accepted_unchanged() {
    assert_honest_views_are_accepted(600.0, 100_000);
}

/// Returns the numbers of shots and errors of machines with low frame rates.
fn simulate_slow_machines(config: &ViewValidationConfig) -> (usize, u64) {
    let (mut shots, mut errors, mut seed) = (0, 0, 0);
    for fps in [20.0, 15.0, 10.0, 7.0, 5.0] {
        for rtt in [0.0, 0.05, 0.15, 0.3] {
            for (jitter, loss) in [(0.0, 0.0), (0.01, 0.05), (0.03, 0.05)] {
                seed += 1;
                let setup = Setup { rtt, jitter, loss, fps, seconds: 300.0, seed, ..Setup::default() };
                let played = simulate(&setup, config);
                shots += played.shots.len();
                errors += played.counts.errors();
            }
        }
    }
    println!("at 5 to 20 frames per second: {errors} errors in {shots} shots");
    (shots, errors)
}

#[test]
fn slow_machines_are_accepted_thanks_to_the_longer_frame_allowance() {
    let (shots, errors) = simulate_slow_machines(&ViewValidationConfig::default());
    assert!(shots >= 90_000, "{shots} shots");
    assert!(errors * 10_000 <= shots as u64, "{errors} of {shots} honest shots");
    let (shots, errors) = simulate_slow_machines(&ViewValidationConfig {
        max_frame_allowance: ViewValidationConfig::default().frame_allowance,
        ..ViewValidationConfig::default()
    });
    assert!(errors * 10 > shots as u64, "{errors} of {shots}");
}

#[test]
fn honest_clients_are_rejected_without_a_frame_allowance() {
    // Half of all moves are made late in their frame.
    let strict = ViewValidationConfig {
        frame_allowance: core::time::Duration::ZERO,
        ..ViewValidationConfig::default()
    };
    let (shots, errors) = expect_honest_run(&strict, 0.0, 60.0);
    assert!(errors * 1_000 > shots as u64, "{errors} of {shots}");
}
