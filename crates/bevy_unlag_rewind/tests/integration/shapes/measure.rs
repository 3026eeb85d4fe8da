//! Measurements of the queries in microseconds: `cargo test --release --test integration shapes::measure --
//! --ignored --nocapture`.

use std::time::Instant;

use bevy::prelude::*;
use bevy_unlag_rewind::{Ballistic, BeamCache, Pellets, PosedTargets};
use rand::Rng;

use crate::shapes::range::{Range, direction};

const SHOTS: usize = 4_000;
/// Shots per batch: short enough that other processes interrupt only few of them.
const BATCH: usize = 100;

/// Returns the mean of all shots in microseconds, with each batch at its best of 15 rounds.
#[expect(clippy::disallowed_methods, reason = "a measurement")]
fn best_mean_microseconds(mut one: impl FnMut(usize)) -> f64 {
    let mut turns = vec![f64::INFINITY; SHOTS / BATCH];
    for _ in 0..15 {
        for (turn, least) in turns.iter_mut().enumerate() {
            let start = Instant::now();
            (turn * BATCH..(turn + 1) * BATCH).for_each(&mut one);
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    turns.iter().sum::<f64>() * 1e6 / SHOTS as f64
}

#[test]
#[ignore = "a measurement"]
fn print_query_times() {
    for (yard, no_door) in [(12.0, true), (30.0, true), (30.0, false)] {
        println!("64 targets on {} m{}", yard * 2.0, if no_door { "" } else { " and a door" });
        measure(yard, no_door);
    }
}

fn measure(yard: f32, no_door: bool) {
    let mut range = Range::within(yard, 0, no_door);
    range.crowd(yard, 64, false);
    range.wall(Vec3::new(60.0, 0.5, 60.0), Vec3::NEG_Y * 0.5);
    for index in 0..4 {
        range.wall(
            Vec3::new(2.0, 1.0, 0.15),
            Vec3::new(index as f32 * 7.0 - 12.0, 1.0, index as f32 * 4.0 - 8.0),
        );
    }
    range.run(100);
    range.with_rewound(12.5, |then, crowd, rng| {
        let rays: Vec<(Vec3, Vec3)> = (0..SHOTS)
            .map(|_| {
                let goal = crowd.near_random_box(rng, 0.1);
                let away = direction(rng).with_y(0.05).normalize() * rng.random_range(8.0..30.0);
                (goal + away, -away.normalize())
            })
            .collect();
        let spread: Vec<[Vec3; 12]> = rays
            .iter()
            .map(|(_, way)| core::array::from_fn(|_| (*way + direction(rng) * 0.04).normalize()))
            .collect();
        let (mut posed, mut pellets, mut all) = (PosedTargets::default(), Pellets::default(), Vec::new());
        let mut hits = 0;
        let ray = best_mean_microseconds(|shot| {
            hits += usize::from(then.cast_ray(rays[shot].0, rays[shot].1, 60.0).is_ok());
        });
        println!("ray {ray:.3} us, {:.0} % hit", hits as f64 / 15.0 / SHOTS as f64 * 100.0);
        let through = best_mean_microseconds(|shot| {
            let _ = then.cast_ray_all(rays[shot].0, rays[shot].1, 60.0, default(), &mut all);
        });
        println!("ray all {through:.3} us");
        let shotgun = best_mean_microseconds(|shot| {
            then.cast_pellets(rays[shot].0, &spread[shot], 60.0, &mut posed, &mut pellets);
        });
        println!("12 pellets {shotgun:.3} us, {:.2} of a ray", shotgun / ray);
        let singly = best_mean_microseconds(|shot| {
            for way in &spread[shot] {
                let _ = then.cast_ray(rays[shot].0, *way, 60.0);
            }
        });
        println!("12 rays {singly:.3} us");
        let ball = best_mean_microseconds(|shot| {
            let _ = then.cast_ball(rays[shot].0, rays[shot].1, 60.0, 0.1);
        });
        println!("ball {ball:.3} us");
        let capsule = best_mean_microseconds(|shot| {
            let a = rays[shot].0;
            let _ = then.cast_capsule((a, a + Vec3::Y * 0.2), 0.1, rays[shot].1, 60.0);
        });
        println!("capsule {capsule:.3} us");
        let mut beams = vec![BeamCache::default(); 40];
        // Slowly turning beams of 100 steps each.
        let way = |shot: usize| {
            let (from, way) = rays[shot % 40];
            (from, Quat::from_rotation_y((shot / 40) as f32 * 2e-4) * way)
        };
        let alone = best_mean_microseconds(|shot| {
            let (from, way) = way(shot);
            let _ = then.cast_ray(from, way, 60.0);
        });
        let beam = best_mean_microseconds(|shot| {
            let (from, way) = way(shot);
            let _ = then.cast_beam(from, way, 60.0, &mut beams[shot % 40]);
        });
        println!("beam {beam:.3} us, {:.2} of rays ({alone:.3} us)", beam / alone);
        let mut blown = Vec::new();
        let blast = best_mean_microseconds(|shot| {
            let _ = then.blast(rays[shot].0 + rays[shot].1 * 8.0, 5.0, &mut blown);
        });
        println!("blast {blast:.3} us");
    });

    range.with_rewound(12.6, |then, crowd, rng| {
        for speed in [40.0, 200.0, 1_000.0] {
            let shells: Vec<Ballistic> = (0..SHOTS)
                .map(|_| {
                    let goal = crowd.near_random_box(rng, 0.1);
                    let away = direction(rng).with_y(0.05).normalize() * speed * 0.15;
                    let velocity = -away.normalize() * speed;
                    Ballistic { position: goal + away, velocity, gravity: Vec3::NEG_Y * 9.81 }
                })
                .collect();
            for radius in [0.0, 0.1] {
                let flight = best_mean_microseconds(|shot| {
                    let _ = then.catch_up(radius, 5.0, |seconds| shells[shot].after(seconds).position);
                });
                println!("13 steps at {speed} m/s, radius {radius}: {flight:.3} us");
            }
        }
    });
}
