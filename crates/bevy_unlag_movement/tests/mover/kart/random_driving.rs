//! Random kart driving: robustness and determinism.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_movement::{KartConfig, KartEvent, KartInput, KartModel, KartState};
use rand::Rng;

use super::{EAST, FULL, build_with_karts, flat_level, rolling_kart, run, tune};
use crate::common::{DT, Level, bits, drive, first_difference, last_state, rng};

/// A walled yard, 60 m by 60 m, with tilted boxes.
fn cluttered_yard() -> Level {
    let mut level = Level::with_floor();
    for i in 0..60_i16 {
        let place = Vec3::new(
            f32::from(i * 7 % 23) * 2.3 - 25.0,
            f32::from(i % 5) * 0.2,
            f32::from(i * 11 % 19) * 2.8 - 25.0,
        );
        let turn = Quat::from_rotation_y(f32::from(i)) * Quat::from_rotation_z(f32::from(i % 9) * 0.2);
        let transform = Transform::from_translation(place).with_rotation(turn);
        level = level.collider(Collider::cuboid(0.8, 0.25, 1.1), transform);
    }
    for (x, z) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
        let middle = Vec3::new(x * 30.5, 6.0, z * 30.5);
        let half = Vec3::new(0.5 + 30.0 * f32::abs(z), 6.0, 0.5 + 30.0 * f32::abs(x));
        level = level.block(middle - half, middle + half);
    }
    level
}

/// Random driving that changes twice per second.
fn random_driving(seed: u64, ticks: usize) -> Vec<KartInput> {
    let mut rng = rng(seed);
    let mut input = FULL;
    (0..ticks)
        .map(|i| {
            if i % 32 == 0 {
                let throttle = if rng.random_bool(0.5) { rng.random() } else { input.throttle };
                input = KartInput { throttle, steering: rng.random() };
            }
            input
        })
        .collect()
}

#[test]
fn kart_replay_gives_identical_bits() {
    for seed in [1, 7, 40] {
        let inputs = random_driving(seed, 1_500);
        let (mut first, mut second) =
            (build_with_karts(cluttered_yard()), build_with_karts(cluttered_yard()));
        let start = KartState::at(Vec3::new(3.0, 4.0, -6.0), 12_345);
        let (a, _) = run(&mut first, start, inputs.len(), |i, _| inputs[i]);
        // Unrelated steps in between must leave no trace.
        run(&mut second, KartState::at(Vec3::new(-6.0, 2.0, 8.0), 0), 200, |_, _| FULL);
        let (b, _) = run(&mut second, start, inputs.len(), |i, _| inputs[i]);
        assert_eq!(first_difference(&a, &b), None, "seed {seed}");
        for from in [100, 777, 1_300] {
            let (again, _) = run(&mut first, a[from], 60, |i, _| inputs[from + i]);
            assert_eq!(first_difference(&a[from..=from + 60], &again), None, "seed {seed} from {from}");
        }
    }
}

#[test]
fn random_driving_stays_in_the_yard_and_never_gets_stuck() {
    let mut moved = 0.0;
    for seed in 0..12 {
        let mut app = build_with_karts(cluttered_yard());
        let inputs = random_driving(seed, 2_000);
        let (states, events) =
            run(&mut app, KartState::at(Vec3::new(0.0, 5.0, 2.0), 0), 2_000, |i, _| inputs[i]);
        for (i, s) in states.iter().enumerate() {
            let inside = s.position.xz().abs().max_element() < 29.31 && (0.0..12.0).contains(&s.position.y);
            assert!(inside && s.velocity.length() < 60.0, "seed {seed}, tick {i}: {s:?}");
        }
        moved += states.windows(2).map(|pair| pair[0].position.distance(pair[1].position)).sum::<f32>();
        assert!(!events.iter().any(|event| matches!(event, KartEvent::Stuck { .. })), "seed {seed}");
    }
    assert!(moved > 800.0, "the karts drove only {moved} m");
}

#[test]
fn kart_steps_partial_ticks_and_survives_invalid_steps_and_configs() {
    let mut app = build_with_karts(flat_level());
    let start = rolling_kart(&mut app, Vec3::ZERO, EAST, 10.0);
    let mut step =
        |state: KartState, dt: f32| last_state(&drive::<KartModel>(&mut app, state, 1, 0, dt, |_, _| FULL).0);
    let half = step(start, DT * 0.5);
    assert!((half.position.x - start.position.x - 10.0 * DT * 0.5).abs() < 1e-2, "{half:?}");
    for dt in [0.0, -1.0, f32::NAN] {
        assert_eq!(step(start, dt), start);
    }
    let long = step(start, 1e9);
    assert!((long.position.x - start.position.x) < 4.0, "the step length must be capped: {long:?}");
    let lost = KartState { velocity: Vec3::NAN, ..start };
    assert_eq!(bits(&step(lost, DT).position), bits(&start.position));
    for tuning in [
        KartConfig { mass: 0.0, ..default() },
        KartConfig { radius: f32::NAN, ..default() },
        KartConfig { drag: f32::INFINITY, ..default() },
        KartConfig { min_turning_radius: 0.0, ..default() },
        KartConfig { max_speed: f32::NAN, ..default() },
        KartConfig { clearance: -5.0, gravity: -9.0, ..default() },
    ] {
        tune(&mut app, |config| *config = tuning.clone());
        let (states, _) = run(&mut app, start, 64, |i, _| KartInput { steering: (i * 4) as i8, ..FULL });
        assert!(states.iter().all(|s| s.position.is_finite() && s.velocity.is_finite()), "{tuning:?}");
    }
}
