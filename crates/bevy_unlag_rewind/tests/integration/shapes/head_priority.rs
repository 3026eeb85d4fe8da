//! Head priority: a head takes precedence over boxes in front of it, but not through a wall.

use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{DrawnPose, NetId, PoseSampler, ViewTime};
use bevy_unlag_rewind::{
    Ballistic, BeamCache, BodyBounds, DrawnQuery, Flight, HitBox, HitBoxes, HitGroup, Miss, MovedPoses,
    Occluder, Pellets, PosedTargets, RewindBackend, RewindFilter, RewindTime, TargetHit, WallPenetration,
    humanoid_hit_boxes,
};
use bevy_unlag_smoothing::RecordTransform;
use rand::Rng;

use crate::shapes::range::{CircularMotion, PosedCrowd, Range, direction, random_point};

const MAX: f32 = 40.0;
/// Distance, in metres, below which rounding decides the order.
const ROUNDING: f32 = 1e-3;

/// Hit boxes with a hand a metre in front of the head.
fn hand_before_head() -> HitBoxes {
    let boxes = [
        HitBox::new(2, HitGroup::Limb, Collider::cuboid(0.3, 0.4, 0.1)),
        HitBox::new(2, HitGroup::Head, Collider::cuboid(0.3, 0.3, 0.3))
            .at(Isometry3d::from_xyz(0.0, 0.0, -1.0)),
    ];
    HitBoxes::new(boxes, BodyBounds { radius: 1.5, low: 0.0, high: 2.0 })
}

fn spawn_scene() -> (Range, Entity) {
    let mut range = Range::new(0, true);
    let still = CircularMotion { middle: Vec3::NEG_Z * 5.0, radius: 0.0, speed: 0.0, start: 0.0 };
    let target = range.add(1, still, hand_before_head());
    range.app.world_mut().entity_mut(target).insert(DrawnPose::default());
    range.run(60);
    (range, target)
}

type Answer = Result<HitGroup, ()>;

fn expect_group(answer: Result<TargetHit, Miss>) -> Answer {
    answer.map(|hit| hit.group).map_err(|miss| match miss {
        Miss::Blocked { hit, .. } => assert_eq!(hit.group, HitGroup::Head, "must block the head"),
        miss => panic!("{miss:?}"),
    })
}

/// Shoots with every kind of query at the hand and the head behind it.
fn expect_answers_of_all_queries(range: &mut Range) -> Vec<(&'static str, Answer)> {
    let (origin, way) = (Vec3::Y * 1.33, Vec3::NEG_Z);
    let moved = |range: &mut Range, backend| {
        range.app.insert_resource(backend);
        // Long enough to have records of that time.
        range.run(14);
        range.with_rewound(10.3, |then, _, _| then.cast_ray(origin, way, MAX))
    };
    let by_colliders = moved(range, RewindBackend::MoveColliders(MovedPoses::Drawn));
    let by_records = moved(range, RewindBackend::MoveColliders(MovedPoses::Frames));
    range.app.insert_resource(RewindBackend::Table);
    let mut all = range.with_rewound(10.3, |then, _, _| {
        let (mut posed, mut pellets) = (PosedTargets::default(), Pellets::default());
        then.cast_pellets(origin, &[way], MAX, &mut posed, &mut pellets);
        let evidence = then.evidence(origin, way, MAX);
        let replayed = evidence.replay(&PoseSampler::default());
        assert_eq!(replayed, evidence.answer);
        let mut blades = Vec::new();
        let blade = then.melee_box(Isometry3d::from_translation(origin), Vec3::splat(0.05), MAX, &mut blades);
        let flight_at = |radius: f32, speed: u16| {
            let shell = Ballistic { position: origin, velocity: way * f32::from(speed), gravity: Vec3::ZERO };
            match then.catch_up(radius, 1.0, |seconds| shell.after(seconds).position) {
                Ok(Flight::Hit { hit, .. }) => Ok(hit.group),
                Ok(Flight::Wall { .. }) => Err(()),
                flight => panic!("{flight:?}"),
            }
        };
        let flight = |radius: f32| {
            let fast = flight_at(radius, 1_000);
            // Some of their steps end between the hand and the wall or the head.
            for speed in (60..400).step_by(10) {
                assert_eq!(flight_at(radius, speed), fast, "a projectile at {speed} m/s");
            }
            fast
        };
        vec![
            ("a ray", expect_group(then.cast_ray(origin, way, MAX))),
            ("a pellet", expect_group(pellets.results()[0])),
            ("a beam", expect_group(then.cast_beam(origin, way, MAX, &mut BeamCache::default()))),
            ("a ray at posed targets", expect_group(then.cast_ray_among(&posed, origin, way, MAX))),
            ("a ball", expect_group(then.cast_ball(origin, way, MAX, 0.05))),
            (
                "a capsule",
                expect_group(then.cast_capsule(
                    (origin - Vec3::Y * 0.1, origin + Vec3::Y * 0.1),
                    0.05,
                    way,
                    MAX,
                )),
            ),
            ("a blade", expect_group(blade.map(|()| blades[0].hit))),
            ("a point projectile", flight(0.0)),
            ("a ball projectile", flight(0.05)),
            ("a replay", expect_group(replayed)),
        ]
    });
    let drawn = move |query: DrawnQuery| query.cast_ray(origin, way, MAX, &RewindFilter::default());
    let drawn = range.app.world_mut().run_system_once(drawn).expect("the query must run");
    all.extend([
        ("colliders", expect_group(by_colliders)),
        ("recorded colliders", expect_group(by_records)),
        ("the screen", drawn.map(|hit| hit.group).ok_or(())),
    ]);
    all
}

fn assert_all_queries_answer(range: &mut Range, expected: Answer, when: &str) {
    for (what, answer) in expect_answers_of_all_queries(range) {
        assert_eq!(answer, expected, "{what}, {when}");
    }
}

#[test]
fn head_is_not_hit_through_a_wall_or_a_door_by_any_query() {
    let (mut range, _) = spawn_scene();
    assert_all_queries_answer(&mut range, Ok(HitGroup::Head), "in the open");
    for (z, expected, when) in [
        (-5.4, Ok(HitGroup::Limb), "a wall between hand and head"),
        (-6.35, Ok(HitGroup::Head), "a wall behind the head"),
        (-4.0, Err(()), "a wall in front of both"),
    ] {
        let wall = range.wall(Vec3::new(3.0, 3.0, 0.02), Vec3::new(0.0, 1.0, z));
        range.run(2);
        assert_all_queries_answer(&mut range, expected, when);
        range.app.world_mut().despawn(wall);
        range.run(2);
    }
    for (z, expected, when) in [
        (-5.4, HitGroup::Limb, "a door between hand and head"),
        (-6.35, HitGroup::Head, "a door behind the head"),
    ] {
        let shape = Collider::cuboid(3.0, 3.0, 0.02);
        let at = Transform::from_xyz(0.0, 1.0, z);
        let occluder = Occluder { shape, base: 0 };
        let door = (NetId(77), occluder, RecordTransform::default(), at, DrawnPose::default());
        let door = range.app.world_mut().spawn(door).id();
        range.run(60);
        assert_all_queries_answer(&mut range, Ok(expected), when);
        range.app.world_mut().despawn(door);
        range.run(60);
    }
}

#[test]
fn head_beyond_a_step_on_the_screen_is_not_hit_through_a_wall() {
    let (mut range, _) = spawn_scene();
    let mut expect = |z: Option<f32>, expected: HitGroup| {
        let wall = z.map(|z| range.wall(Vec3::new(3.0, 3.0, 0.02), Vec3::new(0.0, 1.0, z)));
        range.run(2);
        // It ends between the hand and whatever is behind it.
        let ends = (Vec3::Y * 1.33, Vec3::new(0.0, 1.33, -5.2));
        let step = move |query: DrawnQuery| {
            let own = (&RewindFilter::default(), |_| None, 1.0);
            query.cast_step(ends, (0.0, 1.0), 0.0, own)
        };
        let met = range.app.world_mut().run_system_once(step).expect("the query must run");
        let group = met.map(|met| met.what.map(|hit| hit.group));
        assert_eq!(group, Some(Ok(expected)), "a wall at {z:?}");
        if let Some(wall) = wall {
            range.app.world_mut().despawn(wall);
        }
    };
    expect(None, HitGroup::Head);
    expect(Some(-6.35), HitGroup::Head);
    expect(Some(-5.4), HitGroup::Limb);
}

#[test]
fn wall_penetrating_ray_hits_hand_and_head() {
    let (mut range, _) = spawn_scene();
    range.wall(Vec3::new(3.0, 3.0, 0.02), Vec3::new(0.0, 1.0, -5.4));
    range.run(2);
    range.with_rewound(10.3, |then, _, _| {
        let mut hits = Vec::new();
        then.cast_ray_all(Vec3::Y * 1.33, Vec3::NEG_Z, MAX, WallPenetration::Pass, &mut hits)
            .expect("the ray must hit");
        assert_eq!(hits.iter().map(|hit| hit.group).collect::<Vec<_>>(), [HitGroup::Limb, HitGroup::Head]);
    });
}

/// The rule, box by box, by parry: a target, one of its boxes, and whether a wall is in front of both.
/// `None` where rounding decides.
fn oracle(crowd: &PosedCrowd, origin: Vec3, way: Vec3) -> Option<Option<(NetId, u8, bool)>> {
    let met: Vec<_> =
        crowd.boxes.iter().filter_map(|placed| Some((placed.ray(origin, way, MAX)?, placed))).collect();
    let Some((first, placed)) = met.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { return Some(None) };
    let others = met.iter().filter(|(_, other)| !core::ptr::eq(*other, *placed));
    if others.clone().any(|(at, _)| (at - first).abs() < ROUNDING) {
        return None;
    }
    let mut heads: Vec<_> = met
        .iter()
        .filter(|(_, other)| {
            other.target == placed.target && other.group == HitGroup::Head && other.head_first
        })
        .collect();
    heads.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wall = crowd.wall(origin, way, MAX).unwrap_or(f32::INFINITY);
    let close = |at: f32| (wall - at).abs() < ROUNDING;
    let (head_at, head) = heads.first().map_or((*first, *placed), |(at, head)| (*at, *head));
    if close(*first) || close(head_at) || heads.get(1).is_some_and(|(at, _)| at - head_at < ROUNDING) {
        return None;
    }
    let counts = if wall > *first && wall < head_at { *placed } else { head };
    Some(Some((placed.target, counts.index, wall < *first)))
}

#[test]
fn head_priority_among_walls_agrees_with_the_oracle() {
    for backend in [RewindBackend::Table, RewindBackend::MoveColliders(MovedPoses::Drawn)] {
        let mut range = Range::within(6.0, 0, true);
        for id in 1..50 {
            let circle = CircularMotion {
                middle: range.random_point(5.0).with_y(0.0),
                radius: 1.0,
                speed: 0.02,
                start: f32::from(id),
            };
            let boxes = if id % 3 == 0 { humanoid_hit_boxes() } else { hand_before_head() };
            range.add(id, circle, boxes);
        }
        for id in 1..50_u8 {
            // A fence that the hand reaches over.
            let (mut pawns, world) = {
                let world = range.app.world_mut();
                (world.query::<(&NetId, &CircularMotion)>(), world)
            };
            let circle = pawns.iter(world).find(|(own, _)| own.0 == u16::from(id)).map(|(_, circle)| *circle);
            let at = circle.expect("the target must exist").place(69.7);
            if id % 2 == 0 {
                let half = if id % 4 == 0 { Vec3::new(0.5, 0.5, 0.01) } else { Vec3::new(0.01, 0.5, 0.5) };
                range.wall(half, at.translation + at.rotation * Vec3::NEG_Z * 0.4 + Vec3::Y * 1.33);
            }
        }
        range.app.insert_resource(backend);
        range.run(80);
        let (mut heads, mut fronts, mut blocked, mut unsure) = (0, 0, 0, 0);
        range.with_rewound(10.3, |then, crowd, rng| {
            let (mut posed, mut pellets) = (PosedTargets::default(), Pellets::default());
            for _ in 0..6_000 {
                let origin = random_point(rng, 8.0).with_y(rng.random_range(0.3..2.0));
                let way = (crowd.near_random_box(rng, 0.3) - origin).try_normalize();
                let way = way.unwrap_or_else(|| direction(rng));
                let Some(expected) = oracle(crowd, origin, way) else {
                    unsure += 1;
                    continue;
                };
                let answer = then.cast_ray(origin, way, MAX);
                let said = match answer {
                    Ok(hit) => Some((hit.target, hit.hit_box, false)),
                    Err(Miss::Blocked { hit, .. }) => Some((hit.target, hit.hit_box, true)),
                    Err(_) => None,
                };
                assert_eq!(said, expected, "{origin} {way}");
                if backend == RewindBackend::Table {
                    then.cast_pellets(origin, &[way], MAX, &mut posed, &mut pellets);
                    let pellet = pellets.results()[0];
                    match (answer, pellet) {
                        (Ok(ray), Ok(pellet)) => assert_eq!(
                            (ray.target, ray.hit_box),
                            (pellet.target, pellet.hit_box),
                            "{origin} {way}"
                        ),
                        (answer, pellet) => assert_eq!(answer.is_ok(), pellet.is_ok(), "{origin} {way}"),
                    }
                    assert_eq!(then.cast_beam(origin, way, MAX, &mut BeamCache::default()).ok(), answer.ok());
                    assert_eq!(
                        then.evidence(origin, way, MAX).replay(&PoseSampler::default()).ok(),
                        answer.ok()
                    );
                }
                blocked += u32::from(matches!(answer, Err(Miss::Blocked { .. })));
                if let Ok(hit) = answer {
                    heads += u32::from(hit.group == HitGroup::Head);
                    let own = crowd.boxes.iter().filter(|placed| placed.target == hit.target);
                    let behind = own.clone().any(|placed| {
                        placed.group == HitGroup::Head && placed.ray(origin, way, MAX).is_some()
                    });
                    fronts += u32::from(hit.group != HitGroup::Head && behind);
                }
            }
        });
        println!("{backend:?}: {heads} heads, {fronts} fronts, {blocked} blocked, {unsure} undecided");
        assert!(
            heads > 500 && fronts > 50 && blocked > 500 && unsure < 200,
            "{heads} {fronts} {blocked} {unsure}"
        );
    }
}

#[test]
fn non_finite_and_huge_origins_are_invalid_queries() {
    let (mut range, _) = spawn_scene();
    let time = ViewTime::after(range.now(), -10.0);
    let far = [Vec3::splat(1e38), Vec3::X * 1e9, Vec3::splat(f32::NAN), Vec3::Y * f32::INFINITY];
    range.wall(Vec3::splat(2.0), Vec3::NEG_Z * 20.0);
    range.run(1);
    range.query(|query, _| {
        let then = query.at(RewindTime::At(time)).expect("a valid time");
        let (mut all, mut posed, mut pellets) = (Vec::new(), PosedTargets::default(), Pellets::default());
        for origin in far {
            let way = Vec3::NEG_Z;
            let nonsense = Err(Miss::InvalidQuery);
            assert_eq!(then.cast_ray(origin, way, MAX), nonsense);
            assert_eq!(
                then.cast_ray_all(origin, way, MAX, WallPenetration::Stop, &mut all),
                Err(Miss::InvalidQuery)
            );
            assert_eq!(then.evidence(origin, way, MAX).answer, nonsense);
            assert_eq!(then.cast_beam(origin, way, MAX, &mut BeamCache::default()), nonsense);
            assert_eq!(then.cast_ball(origin, way, MAX, 0.1), nonsense);
            then.cast_pellets(origin, &[way], MAX, &mut posed, &mut pellets);
            assert_eq!(pellets.results(), [nonsense]);
            assert!(then.pose_along(origin, way, MAX, 0.1, &mut posed).is_err());
            assert_eq!(posed.cast_ray(origin, way, MAX), nonsense);
            assert_eq!(then.first_obstacle(origin, way, MAX), None);
        }
        // Infinite range is valid.
        assert!(then.cast_ray(Vec3::Y * 1.33, Vec3::NEG_Z, f32::INFINITY).is_ok());
        assert!(then.first_obstacle(Vec3::Y * 1.33, Vec3::NEG_Z, f32::INFINITY).is_some());
    });
    let drawn = |query: DrawnQuery| {
        let filter = RewindFilter::default();
        let mut found = [bevy_unlag_rewind::StampOverride {
            target: NetId(0),
            from: bevy_unlag_core::Tick(0),
            to: None,
            shift: 0,
        }; 4];
        for interval in [0, -3, i32::MIN] {
            let _ =
                query.overrides(Vec3::ZERO, (Vec3::NEG_Z, 0.0), ViewTime::default(), interval, &mut found);
        }
        query.cast_ray(Vec3::splat(1e38), Vec3::NEG_Z, MAX, &filter)
    };
    let target = NetId(1);
    let mut pawns = range.app.world_mut().query::<(Entity, &NetId)>();
    let entity = pawns.iter(range.app.world()).find(|(_, id)| **id == target).map(|(entity, _)| entity);
    // The usual interval, as clients know it; overrides are clamped only with it.
    range
        .app
        .world_mut()
        .entity_mut(entity.expect("the target must exist"))
        .insert(bevy_unlag_core::MeasuredUpdateInterval(3));
    assert_eq!(range.app.world_mut().run_system_once(drawn).expect("the query must run"), None);
}
