//! Overlap, closest point and containment queries.

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_rapier3d::{
    parry::{
        query::intersection_test,
        shape::{Ball, Cuboid, Shape},
    },
    rapier::math::Pose,
};
use bevy_unlag_core::NetId;
use bevy_unlag_rewind::TargetHit;
use rand::Rng;

use crate::shapes::range::{PosedCrowd, Range, direction};

/// Returns the targets that overlap a shape, with the distance of their nearest box.
fn overlapping(crowd: &PosedCrowd, shape: &dyn Shape, pose: Pose) -> BTreeMap<NetId, f32> {
    let mut found = BTreeMap::new();
    for placed in &crowd.boxes {
        if intersection_test(&pose, shape, &placed.pose, &*placed.shape.raw).expect("supported") {
            let distance = placed.distance(pose.translation);
            let nearest = found.entry(placed.target).or_insert(distance);
            *nearest = distance.min(*nearest);
        }
    }
    found
}

fn agree(found: &[TargetHit], truth: &BTreeMap<NetId, f32>) -> bool {
    found.len() == truth.len()
        && found.iter().all(|hit| truth.get(&hit.target).is_some_and(|at| (at - hit.distance).abs() < 1e-3))
}

#[test]
fn ball_and_box_overlaps_agree_with_parry() {
    let mut range = Range::new(40, true);
    range.run(80);
    let (mut any, mut differ) = (0, 0);
    range.with_rewound(50.3, |then, crowd, rng| {
        for _ in 0..1_500 {
            let centre = crowd.near_random_box(rng, 1.0);
            let radius = rng.random_range(0.0..2.0);
            let mut found = Vec::new();
            let answer = then.overlap_ball(centre, radius, |hit| found.push(hit));
            assert_eq!(answer.is_ok(), !found.is_empty());
            let truth = overlapping(crowd, &Ball::new(radius), Pose::from_translation(centre));
            differ += u32::from(!agree(&found, &truth));
            any += u32::from(!found.is_empty());
            for hit in &found {
                assert!((hit.point.distance(centre) - hit.distance).abs() < 1e-3);
            }

            let half =
                Vec3::new(rng.random_range(0.01..1.0), rng.random_range(0.01..1.0), radius * 0.5 + 0.01);
            let turned = Quat::from_axis_angle(direction(rng), rng.random_range(0.0..3.0));
            found.clear();
            let place = Isometry3d::new(centre, turned);
            assert_eq!(then.overlap_box(place, half, |hit| found.push(hit)).is_ok(), !found.is_empty());
            let truth = overlapping(crowd, &Cuboid::new(half), Pose::from_parts(centre, turned));
            differ += u32::from(!agree(&found, &truth));
        }
    });
    assert!(any > 800, "{any}");
    assert_eq!(differ, 0);
}

#[test]
fn closest_point_agrees_with_the_nearest_of_all_boxes() {
    let mut range = Range::new(40, true);
    range.run(80);
    let mut any = 0;
    range.with_rewound(50.3, |then, crowd, rng| {
        for _ in 0..2_000 {
            let point = crowd.near_random_box(rng, 3.0);
            let max = rng.random_range(0.0..4.0);
            let truth = crowd
                .boxes
                .iter()
                .map(|placed| (placed.distance(point), placed.target))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .expect("there must be a box");
            match then.closest_point(point, max) {
                Ok(hit) => {
                    any += 1;
                    assert!((hit.distance - truth.0).abs() < 1e-4, "{hit:?} {truth:?}");
                    assert!(hit.distance <= max && hit.point.distance(point) < hit.distance + 1e-3);
                    let placed =
                        crowd.boxes.iter().find(|placed| placed.is(&hit)).expect("the hit box must exist");
                    assert!(placed.distance(hit.point) < 1e-3);
                }
                Err(_) => assert!(truth.0 > max - 1e-4),
            }
        }
    });
    assert!(any > 800, "{any}");
}

#[test]
fn contains_point_agrees_with_parry() {
    let mut range = Range::new(60, true);
    range.run(80);
    let (mut any, mut differ) = (0, 0);
    range.with_rewound(50.3, |then, crowd, rng| {
        for _ in 0..4_000 {
            let point = crowd.near_random_box(rng, 0.25);
            let within = |placed: &&crate::shapes::range::PosedBox| {
                placed.shape.raw.contains_point(&placed.pose, point)
            };
            let truth: Vec<_> = crowd.boxes.iter().filter(within).collect();
            match then.contains_point(point) {
                Ok(hit) => {
                    any += 1;
                    differ += u32::from(!truth.iter().any(|placed| placed.is(&hit)));
                    differ += u32::from(truth.iter().any(|placed| placed.target < hit.target));
                    let own = truth.iter().filter(|placed| placed.target == hit.target);
                    let head = own
                        .clone()
                        .any(|placed| placed.head_first && placed.group == bevy_unlag_rewind::HitGroup::Head);
                    let first = own.map(|placed| placed.index).min();
                    let head_hit = hit.group == bevy_unlag_rewind::HitGroup::Head;
                    differ += u32::from(if head { !head_hit } else { first != Some(hit.hit_box) });
                }
                Err(_) => differ += u32::from(!truth.is_empty()),
            }
        }
    });
    assert!(any > 800, "{any}");
    assert_eq!(differ, 0);
}
