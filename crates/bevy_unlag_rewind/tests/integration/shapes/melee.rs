//! Melee queries: arcs against convex hulls, walls, hits from behind, and swings over several ticks.

use core::f32::consts::{FRAC_PI_2, PI};

use bevy::prelude::*;
use bevy_rapier3d::{parry::query::intersection_test, prelude::Collider, rapier::math::Pose};
use bevy_unlag_core::NetId;
use bevy_unlag_rewind::{MeleeArc, MeleeHit, Miss, RewindTime, humanoid_hit_boxes};
use rand::Rng;

use crate::shapes::range::{CircularMotion, PosedCrowd, Range, direction};

/// Convex hulls that approximate an arc from the inside, or from the outside.
fn hulls(arc: &MeleeArc, outside: bool) -> Vec<Collider> {
    let (parts, steps) = (4, 8);
    let step = 2.0 * arc.half_angle / (parts * steps) as f32;
    let reach = if outside { arc.reach / (step * 0.5).cos() } else { arc.reach };
    let rim = |index: f32, height: f32| {
        let angle = index * step - arc.half_angle;
        Vec3::new(-angle.sin() * reach, height, -angle.cos() * reach)
    };
    let grown = |outside: bool| if outside { 1e-3 } else { -1e-3 };
    let height = arc.half_height + grown(outside);
    let part = |part: usize| {
        let mut points = vec![Vec3::Y * height, Vec3::NEG_Y * height];
        for index in part * steps..=(part + 1) * steps {
            points.extend([rim(index as f32, height), rim(index as f32, -height)]);
        }
        Collider::convex_hull(&points).expect("the points must form a hull")
    };
    (0..parts).map(part).collect()
}

fn targets_touched_by(crowd: &PosedCrowd, eye: Isometry3d, hulls: &[Collider]) -> Vec<NetId> {
    let at = Pose::from_parts(eye.translation.into(), eye.rotation);
    let touched = |placed: &crate::shapes::range::PosedBox| {
        hulls.iter().any(|hull| {
            intersection_test(&at, &*hull.raw, &placed.pose, &*placed.shape.raw).expect("supported")
        })
    };
    let mut found: Vec<_> =
        crowd.boxes.iter().filter(|placed| touched(placed)).map(|placed| placed.target).collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn melee_arc_hits_exactly_the_targets_inside_it() {
    let mut range = Range::new(60, true);
    range.run(80);
    let (mut any, mut none, mut differ) = (0, 0, 0);
    range.with_rewound(50.3, |then, crowd, rng| {
        for _ in 0..600 {
            let arc = MeleeArc {
                reach: rng.random_range(0.5..3.0),
                half_angle: rng.random_range(0.3..PI),
                half_height: rng.random_range(0.05..0.5),
            };
            let turned = Quat::from_axis_angle(direction(rng), rng.random_range(0.0..3.0));
            let eye = Isometry3d::new(crowd.near_random_box(rng, 2.0), turned);
            let mut hits = Vec::new();
            let answer = then.melee_arc(eye, &arc, &mut hits);
            assert_eq!(answer.is_ok(), !hits.is_empty());
            assert!(hits.windows(2).all(|pair| pair[0].hit.distance <= pair[1].hit.distance));
            let mut found: Vec<_> = hits.iter().map(|hit| hit.hit.target).collect();
            found.sort();
            let (least, most) = (
                targets_touched_by(crowd, eye, &hulls(&arc, false)),
                targets_touched_by(crowd, eye, &hulls(&arc, true)),
            );
            let right = least.iter().all(|target| found.contains(target))
                && found.iter().all(|target| most.contains(target));
            differ += u32::from(!right);
            any += u32::from(!found.is_empty());
            none += u32::from(found.is_empty());
        }
    });
    assert!(any > 200 && none > 20, "{any} {none}");
    assert_eq!(differ, 0);
}

/// Adds a target that walks on a circle, so it faces along the tangent or against it.
fn add_walker(range: &mut Range, speed: f32) -> CircularMotion {
    let circle = CircularMotion { middle: Vec3::ZERO, radius: 5.0, speed, start: 0.0 };
    range.add(1, circle, humanoid_hit_boxes());
    range.run(80);
    circle
}

#[test]
fn from_behind_uses_the_targets_orientation_at_the_view_time() {
    let mut range = Range::new(0, true);
    let circle = add_walker(&mut range, 0.05);
    let then_tick = range.now().0 as f32 - 40.0;
    let place = circle.place(then_tick);
    let looks = place.rotation * Vec3::NEG_Z;
    let now_looks = circle.place(range.now().0 as f32).rotation * Vec3::NEG_Z;
    assert!(looks.dot(now_looks) < 0.0, "the target must have turned since");
    range.with_rewound(40.0, |then, _, _| {
        let arc = MeleeArc { reach: 2.0, half_angle: 0.8, half_height: 0.2 };
        for (angle, behind) in [(0.0, true), (0.6, true), (PI, false), (2.4, false), (-1.2, true)] {
            let chest = place.translation + Vec3::Y * 1.33;
            let eye = chest - Quat::from_rotation_y(angle) * looks * 1.0;
            let eye = Transform::from_translation(eye).looking_at(chest, Vec3::Y).to_isometry();
            let mut hits = Vec::new();
            then.melee_arc(eye, &arc, &mut hits).expect("the target must be in reach");
            assert_eq!(hits[0].from_behind(FRAC_PI_2), behind, "{angle} {hits:?}");
            assert!((hits[0].behind - angle.abs()).abs() < 0.1, "{angle} {hits:?}");
            let mut hull = Vec::new();
            then.melee_box(eye, Vec3::splat(0.1), 2.0, &mut hull).expect("the target must be in reach");
            assert_eq!(hull[0].from_behind(FRAC_PI_2), behind);
        }
    });
}

#[test]
fn swing_over_several_ticks_hits_a_target_once_at_first_contact() {
    let mut range = Range::new(0, true);
    let circle = add_walker(&mut range, 0.05);
    let mut hits: Vec<MeleeHit> = Vec::new();
    let mut met = Vec::new();
    // The target passes a stationary blade.
    let waits = circle.place(range.now().0 as f32 - 20.0).translation + Vec3::Y * 1.33;
    let eye = Isometry3d::from_translation(waits + Vec3::Z * 0.5);
    for ago in (10..40).rev() {
        range.with_rewound(f64::from(ago), |then, _, _| {
            let arc = MeleeArc { reach: 1.0, half_angle: 0.6, half_height: 0.2 };
            let before = hits.len();
            let answer = then.melee_arc(eye, &arc, &mut hits);
            assert_eq!(answer.is_ok(), hits.len() > before);
            if hits.len() > before {
                met.push(ago);
            }
        });
    }
    assert_eq!((hits.len(), met.len()), (1, 1), "{met:?}");
    assert!(met[0] > 20, "the target must be hit before it is half-way past: {met:?}");
}

#[test]
fn wall_blocks_melee_arcs_and_boxes() {
    let mut range = Range::new(0, true);
    let still = CircularMotion { middle: Vec3::NEG_Z * 1.2, radius: 0.0, speed: 0.0, start: 0.0 };
    range.add(1, still, humanoid_hit_boxes());
    range.run(60);
    let arc = MeleeArc { reach: 2.0, half_angle: 0.5, half_height: 0.2 };
    let eye = Isometry3d::from_xyz(0.0, 1.33, 0.0);
    let swing = |range: &mut Range| {
        range.with_rewound(10.0, |then, _, _| {
            let (mut arcs, mut boxes) = (Vec::new(), Vec::new());
            let arc = then.melee_arc(eye, &arc, &mut arcs);
            (arc, then.melee_box(eye, Vec3::splat(0.1), 2.0, &mut boxes))
        })
    };
    assert_eq!(swing(&mut range), (Ok(()), Ok(())));
    range.wall(Vec3::new(2.0, 2.0, 0.02), Vec3::new(0.0, 1.0, -0.6));
    range.run(2);
    let (arcs, boxes) = swing(&mut range);
    assert!(matches!(arcs, Err(Miss::Blocked { .. })) && matches!(boxes, Err(Miss::Blocked { .. })));
}

/// Several rewound states can be kept at once, for swings that span several ticks.
#[test]
fn several_rewound_states_can_be_queried_side_by_side() {
    let mut range = Range::new(5, true);
    range.run(60);
    let hit = range.query(|query, _| {
        let moments = [RewindTime::Now, RewindTime::Now].map(|time| query.at(time).expect("a valid time"));
        let mut hits = Vec::new();
        for then in &moments {
            let arc = MeleeArc { reach: 40.0, half_angle: PI, half_height: 3.0 };
            let _ = then.melee_arc(Isometry3d::from_xyz(0.0, 1.0, 0.0), &arc, &mut hits);
        }
        hits.len()
    });
    assert_eq!(hit, 5);
}
