//! Shooters that were not sent all targets: the poses that count for them, and the cost of the queries.

use std::time::Instant;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, PoseSampler, Tick, ViewTime};
use bevy_unlag_rewind::{
    Miss, PosedTargets, QueryView, RewindTime, ShotEvidence, TargetHit, humanoid_hit_boxes,
};
use bevy_unlag_smoothing::SentSnapshots;

use crate::shapes::range::{CircularMotion, Range, random_point};
use bevy_unlag_smoothing::PublishedPath;

const MAX: f32 = 60.0;

/// Builds a log of the snapshots that were sent to a client, as selected by `sent`.
fn log(range: &mut Range, sent: impl Fn(NetId, usize) -> bool) -> SentSnapshots {
    let world = range.app.world_mut();
    let mut log = SentSnapshots::default();
    for (id, history) in world.query::<(&NetId, &PublishedPath)>().iter(world) {
        let ticks = history.sent.iter().enumerate().filter(|(index, _)| sent(*id, *index));
        ticks.for_each(|(_, snapshot)| log.mark(*id, snapshot.tick));
    }
    log
}

fn hidden(mut log: SentSnapshots, now: Tick) -> SentSnapshots {
    log.mark_hidden(now);
    log
}

fn crowded_range(targets: u16) -> Range {
    let mut range = Range::within(10.0 * (f32::from(targets) / 64.0).sqrt(), 0, true);
    for id in 1..=targets {
        let circle = CircularMotion {
            middle: range.random_point(10.0 * (f32::from(targets) / 64.0).sqrt()).with_y(0.0),
            radius: 1.5,
            speed: 0.1,
            start: f32::from(id),
        };
        range.add(id, circle, humanoid_hit_boxes());
    }
    range.run(90);
    range
}

/// Random rays at the targets.
fn rays(range: &mut Range, count: usize) -> Vec<(Vec3, Vec3)> {
    range.with_rewound(10.3, |_, crowd, rng| {
        (0..count)
            .map(|_| {
                let origin = crowd.near_random_box(rng, 0.1) + random_point(rng, 12.0).with_y(0.3);
                (origin, (crowd.near_random_box(rng, 0.3) - origin).normalize_or(Vec3::X))
            })
            .collect()
    })
}

#[test]
fn complete_log_marked_as_hidden_gives_the_same_hits() {
    let mut range = crowded_range(64);
    let rays = rays(&mut range, 2_000);
    let complete = log(&mut range, |_, _| true);
    let other = hidden(complete.clone(), range.now());
    let time = ViewTime::after(range.now(), -10.3);
    range.query(|query, _| {
        let at = |log| {
            query.at(RewindTime::View(QueryView { sent: Some(log), ..QueryView::from(time) })).expect("valid")
        };
        let (one, other) = (at(&complete), at(&other));
        let mut hits = 0;
        for (origin, way) in &rays {
            let answers = [one, other].map(|then| then.cast_ray(*origin, *way, MAX));
            assert_eq!(answers[0].ok(), answers[1].ok(), "{origin} {way}");
            hits += u32::from(answers[0].is_ok());
        }
        assert!(hits > 800, "{hits}");
    });
}

/// Returns the first hit, from a ray at each target alone.
fn first_hit_one_by_one(posed: &[(NetId, PosedTargets)], (origin, way): (Vec3, Vec3)) -> Option<TargetHit> {
    let all = posed.iter().filter_map(|(_, posed)| posed.cast_ray(origin, way, MAX).ok());
    all.min_by(|a, b| a.distance.total_cmp(&b.distance).then(a.target.cmp(&b.target)))
}

#[test]
fn partially_sent_targets_are_hit_where_the_shooters_screen_had_them() {
    let mut range = crowded_range(64);
    let rays = rays(&mut range, 2_000);
    // A third is never sent, and a third in every tenth update, in which it completes half of its circle.
    let log = log(&mut range, |id, index| match id.0 % 3 {
        0 => false,
        1 => index % 10 == 0,
        _ => true,
    });
    let log = hidden(log, range.now());
    let time = ViewTime::after(range.now(), -10.3);
    let (mut hits, mut elsewhere) = (0, 0);
    range.query(|query, targets| {
        let view = |sent| RewindTime::View(QueryView { sent, ..QueryView::from(time) });
        let (then, all) =
            (query.at(view(Some(&log))).expect("a valid view"), query.at(view(None)).expect("a valid view"));
        let mut posed = Vec::new();
        for (entity, id, ..) in targets {
            let Ok(pose) = then.pose(entity) else {
                assert_eq!(id.0 % 3, 0, "{id:?}");
                continue;
            };
            let there = all.pose(entity).expect("the target must be present").position;
            elsewhere += u32::from(there.distance(pose.position) > 0.1);
            let only = move |other: Entity| other == entity;
            let filter = bevy_unlag_rewind::RewindFilter { predicate: Some(&only), ..default() };
            let mut one = PosedTargets::default();
            then.with_filter(filter)
                .pose_around(Vec3::ZERO, Vec3::splat(200.0), &mut one)
                .expect("the volume must be valid");
            assert_eq!(one.len(), 1);
            posed.push((*id, one));
        }
        for ray in &rays {
            let answer = then.cast_ray(ray.0, ray.1, MAX);
            let truth = first_hit_one_by_one(&posed, *ray);
            assert_eq!(
                answer.ok().map(|hit| (hit.target, hit.hit_box)),
                truth.map(|hit| (hit.target, hit.hit_box))
            );
            hits += u32::from(answer.is_ok());
            if let Err(Miss::NotPresent(id)) = answer {
                panic!("{id:?} was never sent, so it cannot be gone");
            }
        }
    });
    assert!(hits > 500 && elsewhere > 10, "{hits} {elsewhere}");
}

#[test]
fn never_sent_target_is_a_miss_reason_only_near_the_ray() {
    let mut range = Range::new(0, true);
    for (id, at) in [(1, Vec3::NEG_Z * 5.0), (2, Vec3::new(30.0, 0.0, 30.0)), (3, Vec3::new(10.0, 0.0, 0.0))]
    {
        let still = CircularMotion { middle: at, radius: 0.0, speed: 0.0, start: 0.0 };
        range.add(id, still, humanoid_hit_boxes());
    }
    range.run(90);
    let log = log(&mut range, |id, _| id != NetId(2));
    let log = hidden(log, range.now());
    let time = ViewTime::after(range.now(), -10.3);
    range.query(|query, _| {
        let then = query
            .at(RewindTime::View(QueryView { sent: Some(&log), ..QueryView::from(time) }))
            .expect("a valid view");
        let shoot = |way: Vec3| then.cast_ray(Vec3::Y * 1.3, way, MAX).map(|hit| hit.target);
        assert_eq!(shoot(Vec3::NEG_Z), Ok(NetId(1)));
        assert_eq!(shoot(Vec3::X), Ok(NetId(3)));
        assert_eq!(shoot(Vec3::new(0.1, 0.0, -1.0)), Err(Miss::NearMiss(NetId(1))));
        assert_eq!(
            shoot(Vec3::new(1.0, 0.0, 1.0)),
            Err(Miss::NotSent(NetId(2))),
            "the ray points at a target that was never sent"
        );
        assert_eq!(shoot(Vec3::NEG_X), Err(Miss::NoTarget));
    });
}

#[test]
fn evidence_with_a_partial_log_replays_and_is_less_than_half_larger() {
    let mut range = crowded_range(250);
    let rays = rays(&mut range, 400);
    let complete = log(&mut range, |_, _| true);
    let some = log(&mut range, |id, index| id.0 % 3 != 0 && (id.0 % 3 == 1 || index % 5 == 0));
    let (some, now) = (hidden(some, range.now()), range.now());
    let time = ViewTime::after(now, -10.3);
    let mut sizes = [0, 0];
    range.query(|query, _| {
        for (log, size) in [&complete, &some].into_iter().zip(&mut sizes) {
            let view = QueryView { sent: Some(log), ..QueryView::from(time) };
            let then = query.at(RewindTime::View(view)).expect("a valid view");
            for (origin, way) in &rays {
                let evidence = then.evidence(*origin, *way, MAX);
                let bytes = evidence.to_bytes();
                let read = ShotEvidence::from_bytes(&bytes).expect("the record must be readable");
                assert_eq!(read.replay(&PoseSampler::default()), then.cast_ray(*origin, *way, MAX));
                *size += bytes.len() / rays.len();
            }
        }
    });
    println!("{sizes:?} bytes per record");
    assert!(sizes[1] < sizes[0] * 3 / 2, "{sizes:?}");
}

#[test]
#[ignore = "a measurement"]
#[expect(clippy::disallowed_methods, reason = "a measurement")]
fn print_query_times_with_a_log() {
    for targets in [64, 1_000] {
        let mut range = crowded_range(targets);
        let rays = rays(&mut range, 1_000);
        let complete = log(&mut range, |_, _| true);
        let all = hidden(complete.clone(), range.now());
        let near = hidden(log(&mut range, |id, _| id.0 < 64 && id.0 % 2 == 0), range.now());
        let time = ViewTime::after(range.now(), -10.3);
        range.query(|query, _| {
            for (what, log) in [("complete", &complete), ("said to be hidden", &all), ("32 sent", &near)] {
                let mut best = f64::INFINITY;
                let mut hits = 0;
                for _ in 0..20 {
                    let started = Instant::now();
                    hits = 0;
                    for (origin, way) in &rays {
                        let view = QueryView { sent: Some(log), ..QueryView::from(time) };
                        let then = query.at(RewindTime::View(view)).expect("a valid view");
                        hits += u32::from(then.cast_ray(*origin, *way, MAX).is_ok());
                    }
                    best = best.min(started.elapsed().as_secs_f64() * 1e6 / rays.len() as f64);
                }
                println!("{targets} targets, {what}: {best:.2} µs, {hits} hits");
            }
        });
    }
}
