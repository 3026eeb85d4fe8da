//! Projectiles that were fired in the past.

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

use crate::range::{Circle, Crowd, Range, direction};

const SECONDS: f32 = 1.0 / 64.0;
/// Parts of a tick that the oracle takes one by one.
const PARTS: i64 = 16;

/// Whom a flight meets first, by many small steps each through bodies that stand still.
fn slowly(crowds: &[Crowd], radius: f32, path: impl Fn(f32) -> Vec3) -> Option<(NetId, f32)> {
    let step = SECONDS / PARTS as f32;
    for (index, crowd) in crowds.iter().enumerate() {
        let (from, to) = (path(index as f32 * step), path((index + 1) as f32 * step));
        let Some(way) = (to - from).try_normalize() else { continue };
        let length = from.distance(to);
        let touch = |placed: &crate::range::Placed| {
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
fn a_flight_meets_whom_many_small_steps_meet() {
    let mut range = Range::new(40, true);
    range.run(100);
    let (now, start) = (ViewTime::at(range.now()), ViewTime::after(range.now(), -14.4));
    let [hits, misses, differ] = range.query(|query, targets| {
        let sub = 256 / PARTS;
        // In the middle of every small step.
        let crowds: Vec<Crowd> = (0..)
            .map(|part| start.later(part * sub + sub / 2))
            .take_while(|time| time.since(now) < 0)
            .map(|time| Crowd::at(&query.at(RewindTime::At(time)).expect("a moment"), targets, Vec::new()))
            .collect();
        let then = query.at(RewindTime::At(start)).expect("a moment");
        let mut rng = SmallRng::seed_from_u64(3);
        let [mut hits, mut misses, mut differ] = [0; 3];
        for _ in 0..400 {
            let speed = [15.0, 40.0, 300.0, 1_000.0][rng.random_range(0..4)];
            let radius = [0.0, 0.05, 0.3][rng.random_range(0..3)];
            let gravity = Vec3::NEG_Y * [0.0, 9.81][rng.random_range(0..2)];
            let goal = crowds[rng.random_range(0..crowds.len())].near_somebody(&mut rng, 0.5);
            let away = direction(&mut rng).with_y(0.1) * rng.random_range(1.0..6.0);
            let shell = Ballistic { position: goal + away, velocity: -away.normalize() * speed, gravity };
            let path = |seconds: f32| shell.after(seconds).position;
            let truth = slowly(&crowds, radius, path);
            match (then.catch_up(radius, 9.0, path).expect("sound"), truth) {
                (Flight::Hit { hit, seconds, time }, Some((target, at))) => {
                    hits += 1;
                    // The oracle goes on by a part of a tick, in which everybody stands still; of two that stand
                    // in each other a millimetre may say which is met.
                    assert!(
                        (seconds - at).abs() < 2.5 * SECONDS / PARTS as f32,
                        "{hit:?} {seconds}, and not {target:?} {at}"
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
                    // Where it grazes somebody small steps may pass: it touches there, but for millimetres.
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
                    // The oracle's bodies stand still for a part of a tick.
                    assert!(deepest > -5e-3, "{target:?} by {deepest} m, {radius} {speed}");
                    differ += 1;
                }
                (flight, truth) => panic!("{flight:?} {truth:?}"),
            }
        }
        [hits, misses, differ]
    });
    assert!(hits > 150 && misses > 20, "{hits} hits, {misses} misses");
    assert!(differ <= 4, "{differ} graze, or are between two");
}

#[test]
fn nothing_slips_through_a_target_of_20_cm_at_1000_metres_a_second() {
    let mut range = Range::new(0, true);
    let bounds = BodyBounds { radius: 0.2, low: -0.1, high: 0.1 };
    let small = HitBoxes::new([HitBox::new(0, HitGroup::Body, Collider::cuboid(0.1, 0.1, 0.1))], bounds);
    // Ten metres a second on its circle.
    let circle = Circle { middle: Vec3::new(0.0, 1.0, -90.0), radius: 8.0, speed: 0.0195, start: 0.0 };
    let dummy = range.add(1, circle, small);
    let still = LimbRig { limbs: 1, pose: |_, limbs| limbs.fill(Isometry3d::IDENTITY) };
    range.app.world_mut().entity_mut(dummy).insert(still);
    range.run(100);
    let start = ViewTime::after(range.now(), -13.7);
    let (hits, naive) = range.query(|query, _| {
        let then = query.at(RewindTime::At(start)).expect("a moment");
        let (mut hits, mut naive) = (0, 0);
        for shot in 0..1_000 {
            let from = Vec3::new(0.02 * shot as f32 - 10.0, 1.0, 0.013 * shot as f32);
            // Where it will be when the round is there.
            let mut goal = circle.middle;
            for _ in 0..8 {
                let ticks = from.distance(goal) / 1_000.0 / SECONDS;
                let time = start.later((ticks * 256.0) as i64);
                let there = query.at(RewindTime::At(time)).expect("a moment");
                goal = there.pose(dummy).expect("it is there").position;
            }
            let round =
                Ballistic { position: from, velocity: (goal - from).normalize() * 1_000.0, ..default() };
            let flight = then.catch_up(0.0, 1.0, |seconds| round.after(seconds).position).expect("sound");
            hits += u32::from(matches!(flight, Flight::Hit { .. }));
            naive += u32::from(then.cast_ray(from, round.velocity, 200.0).is_ok());
        }
        (hits, naive)
    });
    assert_eq!(hits, 1_000);
    assert!(naive < 500, "a target that is not moved on is missed: {naive}");
}

#[test]
fn a_slow_shell_meets_a_runner_where_the_shooter_saw_it_come() {
    let mut range = Range::new(0, true);
    let circle = Circle { middle: Vec3::NEG_Z * 40.0, radius: 30.0, speed: 0.0036, start: 1.5 };
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
            let then = query.at(RewindTime::At(start)).expect("a moment");
            then.catch_up(0.02, 1.0, |seconds| shell.after(seconds).position)
        });
        let Ok(Flight::Hit { hit, seconds, .. }) = flight else { panic!("{ago}: {flight:?}") };
        assert_eq!(hit.target, NetId(1));
        assert!((seconds / SECONDS - ago as f32 * 0.5).abs() < 0.8, "{ago}: {seconds}");
    }
}

#[test]
fn the_world_stops_a_shell_and_a_door_only_while_it_was_shut() {
    let mut range = Range::new(0, false);
    range.run(36);
    let shell = |from: Vec3, speed: f32| Ballistic { position: from, velocity: Vec3::X * speed, ..default() };
    let fly = |range: &mut Range, radius: f32, shell: Ballistic, ago: i32| {
        let start = ViewTime::at(range.now().offset(-ago));
        range.query(|query, _| {
            let then = query.at(RewindTime::At(start)).expect("a moment");
            then.catch_up(radius, 1.0, |seconds| shell.after(seconds).position).expect("sound")
        })
    };
    // The door is at X = 1; it opens at tick 40.
    for radius in [0.0, 0.1] {
        let shut = fly(&mut range, radius, shell(Vec3::new(-1.0, 1.0, 0.0), 200.0), 6);
        let Flight::Wall { wall, point, seconds } = shut else { panic!("{shut:?}") };
        assert!(wall.by.is_some() && (point.x - (0.9 - radius)).abs() < 0.01, "{shut:?}");
        assert!((seconds * 200.0 - wall.distance).abs() < 0.01);
        // The wall at X = 5, Z = -4 is two metres to either side.
        let at = fly(&mut range, radius, shell(Vec3::new(-1.0, 1.0, -4.0), 200.0), 6);
        let Flight::Wall { wall, point, .. } = at else { panic!("{at:?}") };
        assert!(wall.by.is_none() && (point.x - (3.0 - radius)).abs() < 0.01, "{at:?}");
    }
    range.run(20);
    let open = fly(&mut range, 0.0, shell(Vec3::new(-1.0, 1.0, 0.0), 20.0), 10);
    assert!(matches!(open, Flight::Flying { .. }), "{open:?}");
    // What it is too late for is still on its way.
    let late = fly(&mut range, 0.0, shell(Vec3::new(-1.0, 1.0, -4.0), 5.0), 10);
    assert!(
        matches!(late, Flight::Flying { seconds } if (seconds - 10.0 * SECONDS).abs() < 1e-3),
        "{late:?}"
    );
}
