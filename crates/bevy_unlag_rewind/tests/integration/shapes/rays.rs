//! Penetrating rays, pellets, beams and swept shapes.

use bevy::{math::Vec3A, prelude::*};
use bevy_rapier3d::{
    parry::{
        query::{ShapeCastOptions, cast_shapes, distance},
        shape::{Ball, Capsule, Shape},
    },
    prelude::Collider,
    rapier::math::Pose,
};
use bevy_unlag_core::{NetId, ViewTime};
use bevy_unlag_rewind::{
    BeamCache, BodyBounds, HitBox, HitBoxes, HitGroup, Miss, Pellets, PosedTargets, RewindTime, TargetHit,
    WallPenetration,
};
use rand::Rng;

use crate::shapes::range::{PosedBox, PosedCrowd, Range, Tally, direction, random_point};

const MAX: f32 = 40.0;

#[test]
fn penetrating_ray_returns_all_hits_in_order() {
    let mut range = Range::new(40, false);
    range.run(80);
    let mut tally = Tally::default();
    range.with_rewound(50.3, |then, crowd, rng| {
        let (mut hits, mut through) = (Vec::new(), Vec::new());
        for _ in 0..4_000 {
            let origin = random_point(rng, 14.0).with_y(rng.random_range(0.1..2.0));
            let Some(way) = (crowd.near_random_box(rng, 0.3) - origin).try_normalize() else { continue };
            let mut met: Vec<(f32, &PosedBox)> = crowd
                .boxes
                .iter()
                .filter_map(|placed| Some((placed.ray(origin, way, MAX)?, placed)))
                .collect();
            met.sort_by(|a, b| a.0.total_cmp(&b.0));
            let wall = crowd.wall(origin, way, MAX);
            let passed = then.cast_ray_all(origin, way, MAX, WallPenetration::Pass, &mut through);
            let stopped = then.cast_ray_all(origin, way, MAX, WallPenetration::Stop, &mut hits);
            let same = |found: &[TargetHit], met: &[(f32, &PosedBox)]| {
                found.len() == met.len()
                    && found.windows(2).all(|pair| pair[0].distance <= pair[1].distance)
                    && met.iter().all(|(at, placed)| {
                        found.iter().any(|hit| placed.is(hit) && (hit.distance - at).abs() < 1e-3)
                    })
            };
            let before = met.iter().filter(|(at, _)| wall.is_none_or(|wall| *at < wall)).count();
            if !same(&through, &met) || !same(&hits, &met[..before]) {
                // Rounding decides about boxes that a ray grazes by at most 0.1 mm.
                let (grazed, met): (Vec<_>, Vec<_>) =
                    met.into_iter().partition(|(at, placed)| placed.grazes(origin, way, *at));
                let before = met.iter().filter(|(at, _)| wall.is_none_or(|wall| *at < wall)).count();
                let kept = |found: &[TargetHit]| -> Vec<TargetHit> {
                    let not = |hit: &&TargetHit| !grazed.iter().any(|(_, placed)| placed.is(hit));
                    found.iter().filter(not).copied().collect()
                };
                assert!(same(&kept(&through), &met) && same(&kept(&hits), &met[..before]), "{origin} {way}");
                tally.differ += 1;
            }
            match stopped {
                Ok(world) => {
                    tally.hits += 1;
                    assert_eq!(world.is_some(), wall.is_some());
                    assert_eq!(passed, stopped);
                }
                Err(Miss::Blocked { distance, .. }) => {
                    tally.blocked += 1;
                    assert!((distance - wall.expect("a wall must be on the ray")).abs() < 1e-3);
                }
                Err(_) => tally.misses += 1,
            }
        }
    });
    assert!(tally.hits > 1_500 && tally.misses > 50 && tally.blocked > 100, "{tally:?}");
    assert!(tally.differ < 8, "{tally:?}");
}

#[test]
fn pellets_agree_with_rays_and_are_counted_per_target() {
    let mut range = Range::new(64, false);
    range.run(80);
    let mut tally = Tally::default();
    let (mut posed, mut pellets) = (PosedTargets::default(), Pellets::default());
    for ago in [50.3, 5.0] {
        range.with_rewound(ago, |then, crowd, rng| {
            for _ in 0..600 {
                let origin = random_point(rng, 14.0).with_y(rng.random_range(0.1..2.0));
                let Some(way) = (crowd.near_random_box(rng, 0.3) - origin).try_normalize() else { continue };
                let spread = rng.random_range(0.0..0.3);
                let count = rng.random_range(1..20);
                let directions: Vec<Vec3> = (0..count)
                    .map(|_| (way + direction(rng) * spread) * rng.random_range(0.5..2.0))
                    .collect();
                then.cast_pellets(origin, &directions, MAX, &mut posed, &mut pellets);
                assert_eq!(pellets.results().len(), directions.len());
                for (direction, result) in directions.iter().zip(pellets.results()) {
                    match (then.cast_ray(origin, *direction, MAX), result) {
                        (Ok(ray), Ok(pellet)) => {
                            let same = (ray.target, ray.hit_box) == (pellet.target, pellet.hit_box);
                            tally.differ += u32::from(!same || (ray.distance - pellet.distance).abs() > 1e-4);
                            tally.hits += 1;
                        }
                        (Err(Miss::Blocked { by: ray, .. }), Err(Miss::Blocked { by: pellet, .. })) => {
                            tally.differ += u32::from(ray != *pellet);
                            tally.blocked += 1;
                        }
                        (Err(_), Err(_)) => tally.misses += 1,
                        _ => tally.differ += 1,
                    }
                }
                let hits: Vec<_> = pellets.results().iter().flatten().collect();
                let counted: u32 =
                    pellets.counts().iter().map(|count| count.head + count.body + count.limb).sum();
                assert_eq!(counted as usize, hits.len());
                for count in pellets.counts() {
                    let heads = hits
                        .iter()
                        .filter(|hit| hit.target == count.target && hit.group == HitGroup::Head)
                        .count();
                    assert_eq!(heads, count.head as usize);
                }
            }
        });
    }
    assert!(tally.hits > 3_000 && tally.misses > 1_000 && tally.blocked > 300, "{tally:?}");
    assert_eq!(tally.differ, 0, "{tally:?}");
}

/// A chest with a head a metre behind it.
fn head_behind_chest() -> HitBoxes {
    let boxes = [
        HitBox::new(2, HitGroup::Body, Collider::cuboid(0.3, 0.4, 0.1)),
        HitBox::new(2, HitGroup::Head, Collider::ball(0.3)).at(Isometry3d::from_xyz(0.0, 0.0, -1.0)),
    ];
    HitBoxes::new(boxes, BodyBounds { radius: 1.5, low: 0.0, high: 2.0 })
}

#[test]
fn head_behind_another_target_is_hit_whatever_the_target_order() {
    let mut range = Range::new(0, true);
    let still = |z: f32| crate::shapes::range::CircularMotion {
        middle: Vec3::NEG_Z * z,
        radius: 0.0,
        speed: 0.0,
        start: 0.0,
    };
    // The second target is between the chest and the head of the first one, and precedes it in every list.
    let post = HitBox::new(2, HitGroup::Body, Collider::cuboid(0.3, 0.4, 0.1));
    range.add(2, still(5.5), HitBoxes::new([post], BodyBounds { radius: 2.0, low: 0.0, high: 2.0 }));
    range.add(1, still(5.0), head_behind_chest());
    range.run(60);
    range.with_rewound(20.3, |then, crowd, _| {
        let origin = crowd.bodies[0].1.translation.with_z(0.0) + Vec3A::Y * 1.33;
        let (mut posed, mut pellets) = (PosedTargets::default(), Pellets::default());
        let (origin, ways) = (Vec3::from(origin), [Vec3::NEG_Z, Vec3::new(0.01, 0.01, -1.0)]);
        then.cast_pellets(origin, &ways, MAX, &mut posed, &mut pellets);
        for (way, pellet) in ways.into_iter().zip(pellets.results()) {
            let ray = then.cast_ray(origin, way, MAX).expect("the ray must hit");
            assert_eq!((ray.target, ray.group), (NetId(1), HitGroup::Head));
            assert_eq!(*pellet, Ok(ray));
        }
        then.pose_around(Vec3::ZERO, Vec3::splat(40.0), &mut posed).expect("the volume must be valid");
        assert_eq!(posed.cast_ray(origin, Vec3::NEG_Z, MAX), then.cast_ray(origin, Vec3::NEG_Z, MAX));
        let thick = then.cast_ball(origin, Vec3::NEG_Z, MAX, 0.05).expect("the ray must hit");
        assert_eq!((thick.target, thick.group), (NetId(1), HitGroup::Head));
    });
}

#[test]
fn pellets_and_posed_targets_agree_with_rays_in_an_overlapping_crowd() {
    let mut range = Range::within(2.0, 48, true);
    for id in 100..130 {
        let circle = crate::shapes::range::CircularMotion {
            middle: range.random_point(2.0).with_y(0.0),
            radius: 0.5,
            speed: 0.03,
            start: f32::from(id),
        };
        range.add(id, circle, head_behind_chest());
    }
    range.run(60);
    let (mut heads, mut hits) = (0, 0);
    range.with_rewound(20.3, |then, crowd, rng| {
        let (mut posed, mut pellets, mut all) =
            (PosedTargets::default(), Pellets::default(), PosedTargets::default());
        then.pose_around(Vec3::ZERO, Vec3::splat(40.0), &mut all).expect("the volume must be valid");
        for _ in 0..1_000 {
            let origin = random_point(rng, 12.0).with_y(rng.random_range(0.1..2.0));
            let Some(way) = (crowd.near_random_box(rng, 0.3) - origin).try_normalize() else { continue };
            let ways: Vec<Vec3> = (0..12).map(|_| way + direction(rng) * 0.05).collect();
            then.cast_pellets(origin, &ways, MAX, &mut posed, &mut pellets);
            for (way, pellet) in ways.iter().zip(pellets.results()) {
                let ray = then.cast_ray(origin, *way, MAX);
                let posed = all.cast_ray(origin, *way, MAX);
                match (ray, pellet, posed) {
                    (Ok(ray), Ok(pellet), Ok(posed)) => {
                        for other in [*pellet, posed] {
                            let (a, b) = (
                                (ray.target, ray.hit_box, ray.group),
                                (other.target, other.hit_box, other.group),
                            );
                            assert_eq!(a, b, "{origin} {way}");
                            assert!((ray.distance - other.distance).abs() < 1e-4);
                        }
                        hits += 1;
                        heads += u32::from(ray.group == HitGroup::Head);
                    }
                    (Err(_), Err(_), Err(_)) => {}
                    differ => panic!("{differ:?}"),
                }
            }
        }
    });
    assert!(hits > 5_000 && heads > 1_000, "{hits} hits, {heads} heads");
}

#[test]
fn posed_targets_agree_with_rays_in_any_direction() {
    let mut range = Range::new(40, true);
    range.run(80);
    let mut hits = 0;
    range.with_rewound(30.7, |then, crowd, rng| {
        let mut posed = PosedTargets::default();
        then.pose_around(Vec3::ZERO, Vec3::splat(40.0), &mut posed).expect("the volume must be valid");
        assert_eq!(posed.len(), crowd.bodies.len());
        for _ in 0..2_000 {
            let origin = random_point(rng, 14.0).with_y(rng.random_range(0.1..2.0));
            let way = crowd.near_random_box(rng, 0.3) - origin;
            let (one, other) = (then.cast_ray(origin, way, MAX), posed.cast_ray(origin, way, MAX));
            assert_eq!(one.map(|hit| hit.target).ok(), other.map(|hit| hit.target).ok());
            hits += u32::from(one.is_ok());
        }
        then.pose_along(Vec3::ZERO, Vec3::X, 3.0, 0.1, &mut posed).expect("the volume must be valid");
        assert!(posed.len() < crowd.bodies.len());
    });
    assert!(hits > 1_000);
}

#[test]
fn cached_beam_agrees_with_a_ray_in_every_step() {
    let mut range = Range::new(64, false);
    range.run(60);
    let mut cache = BeamCache::default();
    let (mut hits, mut blocked, mut differ) = (0, 0, 0);
    let mut aim = 0.0_f32;
    for round in 0..500 {
        range.run(1);
        aim += 0.01;
        // Sometimes the beam jumps to another direction.
        if round % 50 == 0 {
            aim += 1.0;
        }
        let time = ViewTime::after(range.now(), -9.4);
        let origin = Vec3::new(0.0, 1.3 + 0.3 * (aim * 3.0).sin(), 0.0);
        let (ray, beam) = range.query(|query, _| {
            let then = query.at(RewindTime::At(time)).expect("a valid time");
            let way = Vec3::new(aim.cos(), 0.0, aim.sin());
            let (ray, beam) = (then.cast_ray(origin, way, MAX), then.cast_beam(origin, way, MAX, &mut cache));
            (ray, beam)
        });
        hits += u32::from(ray.is_ok());
        blocked += u32::from(matches!(ray, Err(Miss::Blocked { .. })));
        let same = match (ray, beam) {
            (Err(Miss::NearMiss(_)), Err(Miss::NearMiss(_))) => true,
            (ray, beam) => ray == beam,
        };
        differ += u32::from(!same);
    }
    assert!(hits > 150 && blocked > 20, "{hits} hits, {blocked} blocked");
    assert_eq!(differ, 0);
}

#[test]
fn cached_beam_is_blocked_by_a_new_wall_and_passes_a_despawned_one() {
    let mut range = Range::new(0, true);
    let still = crate::shapes::range::CircularMotion {
        middle: Vec3::NEG_Z * 10.0,
        radius: 0.0,
        speed: 0.0,
        start: 0.0,
    };
    range.add(1, still, bevy_unlag_rewind::humanoid_hit_boxes());
    range.run(60);
    let mut cache = BeamCache::default();
    let mut cast = |range: &mut Range| {
        let time = ViewTime::after(range.now(), -9.4);
        range.query(|query, _| {
            let then = query.at(RewindTime::At(time)).expect("a valid time");
            then.cast_beam(Vec3::Y * 1.3, Vec3::NEG_Z, MAX, &mut cache)
        })
    };
    assert!(cast(&mut range).is_ok());
    let wall = range.wall(Vec3::new(3.0, 3.0, 0.1), Vec3::NEG_Z * 5.0);
    range.run(9);
    assert!(matches!(cast(&mut range), Err(Miss::Blocked { by: None, .. })));
    range.app.world_mut().despawn(wall);
    range.run(2);
    assert!(cast(&mut range).is_ok(), "a despawned wall must not block, although the cache contains it");
}

/// Returns when a moving shape touches a box, by parry's shape cast.
fn cast_by_parry(placed: &PosedBox, shape: &dyn Shape, from: Vec3, way: Vec3) -> Option<f32> {
    let options = ShapeCastOptions { max_time_of_impact: MAX, ..default() };
    let start = Pose::from_translation(from);
    let own = &*placed.shape.raw;
    let hit = cast_shapes(&placed.pose, Vec3::ZERO, own, &start, way, shape, options).expect("supported");
    hit.map(|hit| hit.time_of_impact)
}

/// The same by steps of the distance between the shapes: slow, and never too far.
fn cast_by_distance_steps(
    own: &Pose,
    raw: &dyn Shape,
    shape: &dyn Shape,
    from: Vec3,
    way: Vec3,
) -> Option<f32> {
    let mut at = 0.0;
    for _ in 0..3_000 {
        let gap = distance(own, raw, &Pose::from_translation(from + way * at), shape).expect("supported");
        if gap < 1e-5 {
            return Some(at);
        }
        at += gap;
        if at > MAX {
            return None;
        }
    }
    Some(at)
}

/// Whether the shape touches the hit target there, which holds also where parry's shape cast fails.
fn is_touching(crowd: &PosedCrowd, hit: &TargetHit, shape: &dyn Shape, from: Vec3, way: Vec3) -> bool {
    let there = Pose::from_translation(from + way * hit.distance);
    crowd
        .boxes
        .iter()
        .filter(|placed| placed.target == hit.target)
        .any(|placed| distance(&placed.pose, &*placed.shape.raw, &there, shape).expect("supported") < 8e-3)
}

fn assert_sweeps_agree_with_parry(capsule: bool) {
    let mut range = Range::new(40, false);
    range.run(80);
    let mut tally = Tally::default();
    range.with_rewound(50.3, |then, crowd, rng| {
        for _ in 0..1_500 {
            let origin = random_point(rng, 14.0).with_y(rng.random_range(0.1..2.0));
            let Some(way) = (crowd.near_random_box(rng, 0.3) - origin).try_normalize() else { continue };
            let radius = rng.random_range(0.02..0.4);
            let half = if capsule { direction(rng) * rng.random_range(0.05..0.5) } else { Vec3::ZERO };
            let (ball, long) = (Ball::new(radius), Capsule::new(-half, half, radius));
            let shape: &dyn Shape = if capsule { &long } else { &ball };
            let wall = crowd
                .walls
                .iter()
                .filter_map(|wall| {
                    let at = Pose::from_translation(wall.at);
                    let options = ShapeCastOptions { max_time_of_impact: MAX, ..default() };
                    let start = Pose::from_translation(origin);
                    let hit = cast_shapes(&at, Vec3::ZERO, &*wall.shape.raw, &start, way, shape, options);
                    hit.expect("supported").map(|hit| hit.time_of_impact)
                })
                .min_by(f32::total_cmp);
            let first = crowd.first(|placed| cast_by_parry(placed, shape, origin, way));
            let answer = if capsule {
                then.cast_capsule((origin - half, origin + half), radius, way, MAX)
            } else {
                then.cast_ball(origin, way, MAX, radius)
            };
            let agrees = match (first, wall) {
                (None, _) => {
                    tally.misses += 1;
                    answer.is_err()
                }
                (Some((target, _, at)), wall) if wall.is_none_or(|wall| wall > at) => {
                    tally.hits += 1;
                    answer.is_ok_and(|hit| hit.target == target && (hit.distance - at).abs() < 3e-3)
                }
                (Some((target, ..)), Some(_)) => {
                    tally.blocked += 1;
                    matches!(answer, Err(Miss::Blocked { hit, .. }) if hit.target == target)
                }
                _ => false,
            };
            if !agrees {
                // Parry's shape cast is iterative and sometimes off by millimetres.
                let slow = crowd.first(|placed| {
                    cast_by_distance_steps(&placed.pose, &*placed.shape.raw, shape, origin, way)
                });
                // For an origin inside both a wall and a target, the order is undefined.
                let within = wall == Some(0.0) && slow.is_some_and(|(.., at)| at == 0.0);
                let right = |hit: &TargetHit| {
                    slow.is_some_and(|(target, _, at)| {
                        hit.target == target && (hit.distance - at).abs() < 1e-4
                    })
                };
                assert!(within || answer.as_ref().is_ok_and(right), "{answer:?} {first:?} {slow:?} {wall:?}");
                tally.differ += 1;
            }
            // Even where parry's cast fails, the shape must touch the target there within millimetres.
            if let Ok(hit) | Err(Miss::Blocked { hit, .. }) = &answer {
                assert!(is_touching(crowd, hit, shape, origin, way), "{hit:?}");
            }
        }
    });
    assert!(tally.hits > 500 && tally.blocked > 50, "{tally:?}");
    assert!(tally.differ < 15, "{tally:?}");
}

#[test]
fn ball_cast_agrees_with_parry() {
    assert_sweeps_agree_with_parry(false);
}

#[test]
fn capsule_cast_agrees_with_parry() {
    assert_sweeps_agree_with_parry(true);
}

#[test]
fn ball_of_zero_radius_is_a_ray_and_capsule_of_zero_length_is_a_ball() {
    let mut range = Range::new(40, false);
    range.run(80);
    let mut hits = 0;
    range.with_rewound(50.3, |then, crowd, rng| {
        for _ in 0..2_000 {
            let origin = random_point(rng, 14.0).with_y(rng.random_range(0.1..2.0));
            let way = crowd.near_random_box(rng, 0.3) - origin;
            let ray = then.cast_ray(origin, way, MAX);
            assert_eq!(ray, then.cast_ball(origin, way, MAX, 0.0));
            let ball = then.cast_ball(origin, way, MAX, 0.1);
            assert_eq!(ball, then.cast_capsule((origin, origin), 0.1, way, MAX));
            // A tiny ball hits what the ray hits, except for rounding.
            if let (Ok(ray), Ok(tiny)) = (ray, then.cast_ball(origin, way, MAX, 1e-5)) {
                assert!((ray.distance - tiny.distance).abs() < 1e-2 || ray.target != tiny.target);
                hits += u32::from(ray.target == tiny.target && ray.hit_box == tiny.hit_box);
            }
        }
    });
    assert!(hits > 800, "{hits}");
}
