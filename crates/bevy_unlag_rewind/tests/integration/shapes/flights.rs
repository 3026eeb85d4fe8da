//! Projectiles that were fired in the past and catch up with the present.

use bevy::prelude::*;
use bevy_rapier3d::{
    parry::{
        query::{ShapeCastOptions, cast_shapes},
        shape::Ball,
    },
    prelude::Collider,
    rapier::math::Pose,
};
use bevy_unlag_core::{LimbRig, NetId, ViewTime};
use bevy_unlag_rewind::{
    Ballistic, BodyBounds, Flight, HitBox, HitBoxes, HitGroup, RewindTime, humanoid_hit_boxes,
};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use crate::shapes::range::{CircularMotion, PosedCrowd, Range, direction};

const SECONDS: f32 = 1.0 / 64.0;
/// Sub-steps per tick of the oracle.
const PARTS: i64 = 16;

/// Returns the first target of a flight and the time of the hit, from small steps through stationary
/// targets.
fn first_hit_by_small_steps(
    crowds: &[PosedCrowd],
    radius: f32,
    path: impl Fn(f32) -> Vec3,
) -> Option<(NetId, f32)> {
    let step = SECONDS / PARTS as f32;
    for (index, crowd) in crowds.iter().enumerate() {
        let (from, to) = (path(index as f32 * step), path((index + 1) as f32 * step));
        let Some(way) = (to - from).try_normalize() else { continue };
        let length = from.distance(to);
        let touch = |placed: &crate::shapes::range::PosedBox| {
            if radius == 0.0 {
                return placed.ray(from, way, length);
            }
            let options = ShapeCastOptions { max_time_of_impact: length, ..default() };
            let (own, start) = (&*placed.shape.raw, Pose::from_translation(from));
            let hit = cast_shapes(&placed.pose, Vec3::ZERO, own, &start, way, &Ball::new(radius), options);
            hit.expect("supported").map(|hit| hit.time_of_impact)
        };
        if let Some((target, _, at)) = crowd.first(touch) {
            return Some((target, (index as f32 + at / length) * step));
        }
    }
    None
}

#[test]
fn projectile_flight_agrees_with_many_small_steps() {
    let mut range = Range::new(40, true);
    range.run(100);
    let (now, start) = (ViewTime::at(range.now()), ViewTime::after(range.now(), -14.4));
    let [hits, misses, differ] = range.query(|query, targets| {
        let sub = 256 / PARTS;
        // In the middle of every sub-step.
        let crowds: Vec<PosedCrowd> = (0..)
            .map(|part| start.later(part * sub + sub / 2))
            .take_while(|time| time.since(now) < 0)
            .map(|time| PosedCrowd::at(&query.at(RewindTime::At(time)).expect("valid"), targets, Vec::new()))
            .collect();
        let then = query.at(RewindTime::At(start)).expect("a valid time");
        let mut rng = SmallRng::seed_from_u64(3);
        let [mut hits, mut misses, mut differ] = [0; 3];
        for _ in 0..400 {
            let speed = [15.0, 40.0, 300.0, 1_000.0][rng.random_range(0..4)];
            let radius = [0.0, 0.05, 0.3][rng.random_range(0..3)];
            let gravity = Vec3::NEG_Y * [0.0, 9.81][rng.random_range(0..2)];
            let goal = crowds[rng.random_range(0..crowds.len())].near_random_box(&mut rng, 0.5);
            let away = direction(&mut rng).with_y(0.1) * rng.random_range(1.0..6.0);
            let shell = Ballistic { position: goal + away, velocity: -away.normalize() * speed, gravity };
            let path = |seconds: f32| shell.after(seconds).position;
            let truth = first_hit_by_small_steps(&crowds, radius, path);
            match (then.catch_up(radius, 9.0, path).expect("the flight must be valid"), truth) {
                (Flight::Hit { hit, seconds, time }, Some((target, at))) => {
                    hits += 1;
                    // The oracle's targets stand still for a sub-step; of two overlapping targets a
                    // millimetre may decide which is hit.
                    assert!(
                        (seconds - at).abs() < 2.5 * SECONDS / PARTS as f32,
                        "{hit:?} after {seconds} s instead of {target:?} after {at} s"
                    );
                    differ += u32::from(hit.target != target);
                    assert!((time.since(start) as f32 / 256.0 * SECONDS - seconds).abs() < 1e-3);
                    assert!(hit.point.distance(path(seconds)) < 0.02);
                }
                (Flight::Flying { seconds }, None) => {
                    misses += 1;
                    assert!((seconds - 14.4 * SECONDS).abs() < 1e-3, "{seconds}");
                }
                (Flight::Hit { hit, seconds, .. }, None) => {
                    // Small steps may miss a grazing contact: the hit must be within millimetres of the
                    // surface.
                    let crowd = &crowds[((seconds / SECONDS * PARTS as f32) as usize).min(crowds.len() - 1)];
                    let own = crowd.boxes.iter().filter(|placed| placed.target == hit.target);
                    let gap = own.map(|placed| placed.distance(hit.point)).fold(f32::MAX, f32::min);
                    let depth = 2e-3 + speed * SECONDS / PARTS as f32 * 0.1;
                    assert!((gap - radius).abs() < depth, "{hit:?} {gap} {radius}");
                    differ += 1;
                }
                (Flight::Flying { .. }, Some((target, _))) => {
                    let step = SECONDS / PARTS as f32;
                    let gaps = crowds.iter().enumerate().flat_map(|(part, crowd)| {
                        let own = crowd.boxes.iter().filter(|placed| placed.target == target);
                        let points = move |n: u8| path((part as f32 + (f32::from(n) + 0.5) / 64.0) * step);
                        own.flat_map(move |placed| {
                            (0..64).map(move |n| placed.signed_distance(points(n)) - radius)
                        })
                    });
                    let deepest = gaps.fold(f32::MAX, f32::min);
                    // The oracle's targets stand still for a sub-step.
                    assert!(deepest > -5e-3, "missed {target:?} by {deepest} m: {radius} m, {speed} m/s");
                    differ += 1;
                }
                (flight, truth) => panic!("{flight:?} {truth:?}"),
            }
        }
        [hits, misses, differ]
    });
    assert!(hits > 150 && misses > 20, "{hits} hits, {misses} misses");
    assert!(differ <= 4, "{differ} flights differ; only grazing contacts and overlapping targets may");
}

#[test]
fn ballistic_projectile_moves_by_its_velocity_and_its_gravity() {
    let shell = Ballistic {
        position: Vec3::new(1.0, 2.0, 3.0),
        velocity: Vec3::new(10.0, 4.0, 0.0),
        gravity: Vec3::NEG_Y * 8.0,
    };
    let later = shell.after(0.5);
    assert_eq!(later.position, Vec3::new(6.0, 3.0, 3.0));
    assert_eq!(later.velocity, Vec3::new(10.0, 0.0, 0.0));
    assert_eq!(later.gravity, shell.gravity);
}

#[test]
fn no_projectile_at_1000_metres_per_second_tunnels_through_a_20_cm_target() {
    let mut range = Range::new(0, true);
    let bounds = BodyBounds { radius: 0.2, low: -0.1, high: 0.1 };
    let small = HitBoxes::new([HitBox::new(0, HitGroup::Body, Collider::cuboid(0.1, 0.1, 0.1))], bounds);
    // Ten metres per second on its circle.
    let circle =
        CircularMotion { middle: Vec3::new(0.0, 1.0, -90.0), radius: 8.0, speed: 0.0195, start: 0.0 };
    let dummy = range.add(1, circle, small);
    let still = LimbRig::rigid();
    range.app.world_mut().entity_mut(dummy).insert(still);
    range.run(100);
    let start = ViewTime::after(range.now(), -13.7);
    let (hits, naive) = range.query(|query, _| {
        let then = query.at(RewindTime::At(start)).expect("a valid time");
        let (mut hits, mut naive) = (0, 0);
        for shot in 0..1_000 {
            let from = Vec3::new(0.02 * shot as f32 - 10.0, 1.0, 0.013 * shot as f32);
            // Where the target will be when the projectile arrives.
            let mut goal = circle.middle;
            for _ in 0..8 {
                let ticks = from.distance(goal) / 1_000.0 / SECONDS;
                let time = start.later((ticks * 256.0) as i64);
                let there = query.at(RewindTime::At(time)).expect("a valid time");
                goal = there.pose(dummy).expect("the target must be present").position;
            }
            let round =
                Ballistic { position: from, velocity: (goal - from).normalize() * 1_000.0, ..default() };
            let flight = then
                .catch_up(0.0, 1.0, |seconds| round.after(seconds).position)
                .expect("the flight must be valid");
            hits += u32::from(matches!(flight, Flight::Hit { .. }));
            naive += u32::from(then.cast_ray(from, round.velocity, 200.0).is_ok());
        }
        (hits, naive)
    });
    assert_eq!(hits, 1_000);
    assert!(naive < 500, "a ray at the start time must miss the moving target: {naive} hits");
}

#[test]
fn slow_projectile_hits_a_runner_where_the_shooter_saw_it_arrive() {
    let mut range = Range::new(0, true);
    let circle = CircularMotion { middle: Vec3::NEG_Z * 40.0, radius: 30.0, speed: 0.0036, start: 1.5 };
    range.add(1, circle, humanoid_hit_boxes());
    range.run(120);
    for ago in [4, 8, 12, 16, 24] {
        let start = ViewTime::at(range.now().offset(-ago));
        // Half-way to the present.
        let tick = start.tick.0 as f32 + ago as f32 * 0.5;
        let goal = circle.place(tick).translation + Vec3::Y * 1.3;
        let from = goal + Vec3::new(0.0, 0.0, 40.0 * SECONDS * ago as f32 * 0.5);
        let shell = Ballistic { position: from, velocity: Vec3::NEG_Z * 40.0, ..default() };
        let flight = range.query(|query, _| {
            let then = query.at(RewindTime::At(start)).expect("a valid time");
            then.catch_up(0.02, 1.0, |seconds| shell.after(seconds).position)
        });
        let Ok(Flight::Hit { hit, seconds, .. }) = flight else { panic!("{ago}: {flight:?}") };
        assert_eq!(hit.target, NetId(1));
        assert!((seconds / SECONDS - ago as f32 * 0.5).abs() < 0.8, "{ago}: {seconds}");
    }
}

#[test]
fn hit_in_a_last_step_that_ends_within_a_tick_is_timed_like_any_other() {
    let mut range = Range::new(0, true);
    let still = CircularMotion { middle: Vec3::NEG_Z * 5.0, radius: 0.0, speed: 0.0, start: 0.0 };
    range.add(1, still, humanoid_hit_boxes());
    range.run(60);
    let start = ViewTime::at(range.now().offset(-12));
    let shell = Ballistic { position: Vec3::Y * 1.3, velocity: Vec3::NEG_Z * 130.0, ..default() };
    let mut fly = |ticks: f32| {
        range.query(|query, _| {
            let then = query.at(RewindTime::At(start)).expect("a valid time");
            then.catch_up(0.0, ticks * SECONDS, |seconds| shell.after(seconds).position)
        })
    };
    // It arrives after about 2.3 ticks.
    for ticks in [12.0, 2.5] {
        let Ok(Flight::Hit { seconds, time, .. }) = fly(ticks) else { panic!("no hit within {ticks} ticks") };
        let at = time.since(start) as f32 / 256.0;
        assert!((at - seconds / SECONDS).abs() < 0.02, "{at} ticks, {seconds} s");
    }
    assert!(matches!(fly(2.0), Ok(Flight::Flying { .. })));
}

#[test]
fn walls_stop_a_projectile_and_doors_only_while_they_were_shut() {
    let mut range = Range::new(0, false);
    range.run(36);
    let shell = |from: Vec3, speed: f32| Ballistic { position: from, velocity: Vec3::X * speed, ..default() };
    let fly = |range: &mut Range, radius: f32, shell: Ballistic, ago: i32| {
        let start = ViewTime::at(range.now().offset(-ago));
        range.query(|query, _| {
            let then = query.at(RewindTime::At(start)).expect("a valid time");
            then.catch_up(radius, 1.0, |seconds| shell.after(seconds).position)
                .expect("the flight must be valid")
        })
    };
    // The door is at X = 1 m and opens at tick 40.
    for radius in [0.0, 0.1] {
        let shut = fly(&mut range, radius, shell(Vec3::new(-1.0, 1.0, 0.0), 200.0), 6);
        let Flight::Wall { wall, point, seconds } = shut else { panic!("{shut:?}") };
        assert!(wall.by.is_some() && (point.x - (0.9 - radius)).abs() < 0.01, "{shut:?}");
        assert!((seconds * 200.0 - wall.distance).abs() < 0.01);
        // The wall at X = 5 m, Z = -4 m extends by two metres to either side.
        let at = fly(&mut range, radius, shell(Vec3::new(-1.0, 1.0, -4.0), 200.0), 6);
        let Flight::Wall { wall, point, .. } = at else { panic!("{at:?}") };
        assert!(wall.by.is_none() && (point.x - (3.0 - radius)).abs() < 0.01, "{at:?}");
    }
    range.run(20);
    let open = fly(&mut range, 0.0, shell(Vec3::new(-1.0, 1.0, 0.0), 20.0), 10);
    assert!(matches!(open, Flight::Flying { .. }), "{open:?}");
    // A projectile without enough time to arrive is still flying.
    let late = fly(&mut range, 0.0, shell(Vec3::new(-1.0, 1.0, -4.0), 5.0), 10);
    assert!(
        matches!(late, Flight::Flying { seconds } if (seconds - 10.0 * SECONDS).abs() < 1e-3),
        "{late:?}"
    );
}
