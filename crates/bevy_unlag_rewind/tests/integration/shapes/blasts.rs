//! Queries for blasts: targets in range, their distances and how much walls hide of them.

use bevy::prelude::*;
use bevy_unlag_rewind::{Miss, humanoid_hit_boxes};
use rand::Rng;

use crate::shapes::range::{CircularMotion, Range};

#[test]
fn blast_hits_all_targets_in_range_with_distance_and_falloff() {
    let mut range = Range::new(40, true);
    range.run(80);
    let mut any = 0;
    range.with_rewound(50.3, |then, crowd, rng| {
        let mut hits = Vec::new();
        for _ in 0..600 {
            let centre = crowd.near_random_box(rng, 2.0);
            let radius = rng.random_range(0.1..5.0);
            let answer = then.blast(centre, radius, &mut hits);
            assert_eq!(answer.is_ok(), !hits.is_empty());
            for (target, _) in &crowd.bodies {
                let own = crowd.boxes.iter().filter(|placed| placed.target == *target);
                let truth = own.map(|placed| placed.distance(centre)).fold(f32::INFINITY, f32::min);
                match hits.iter().find(|hit| hit.hit.target == *target) {
                    Some(hit) => {
                        any += 1;
                        assert!((hit.hit.distance - truth).abs() < 1e-3 && truth <= radius + 1e-3);
                        assert_eq!(hit.visible, 1.0, "no wall must hide the target");
                        let falloff = (1.0 - truth / radius).clamp(0.0, 1.0);
                        assert!((hit.falloff(radius) - falloff).abs() < 0.02);
                    }
                    None => assert!(truth > radius - 1e-3, "{target:?} {truth} {radius}"),
                }
            }
        }
    });
    assert!(any > 1_000, "{any}");
}

#[test]
fn wall_reduces_the_visible_fraction_by_what_it_covers() {
    let mut range = Range::new(0, true);
    let still = CircularMotion { middle: Vec3::NEG_Z * 3.0, radius: 0.0, speed: 0.0, start: 0.0 };
    range.add(1, still, humanoid_hit_boxes());
    range.run(60);
    let visible = |range: &mut Range| {
        range.with_rewound(10.0, |then, _, _| {
            let mut hits = Vec::new();
            then.blast(Vec3::Y * 0.9, 6.0, &mut hits).expect("the target must be in range");
            hits[0].visible
        })
    };
    assert_eq!(visible(&mut range), 1.0);
    // First up to the knees, then the whole body.
    range.wall(Vec3::new(3.0, 0.3, 0.05), Vec3::new(0.0, 0.3, -2.0));
    range.run(2);
    let part = visible(&mut range);
    assert!(part > 0.0 && part < 1.0, "{part}");
    range.wall(Vec3::new(3.0, 3.0, 0.05), Vec3::new(0.0, 1.0, -1.5));
    range.run(2);
    assert_eq!(visible(&mut range), 0.0);
}

#[test]
fn door_hides_targets_from_a_blast_only_while_it_was_shut() {
    let mut range = Range::new(0, false);
    let still = CircularMotion { middle: Vec3::new(2.2, 0.0, 0.0), radius: 0.0, speed: 0.0, start: 0.0 };
    range.add(1, still, humanoid_hit_boxes());
    range.run(80);
    let mut seen = Vec::new();
    for ago in [50.0, 10.0] {
        range.with_rewound(ago, |then, _, _| {
            let mut hits = Vec::new();
            then.blast(Vec3::new(-0.5, 0.9, 0.0), 6.0, &mut hits).expect("the target must be in range");
            seen.push(hits[0].visible);
        });
    }
    assert_eq!(seen, [0.0, 1.0]);
    range.with_rewound(10.0, |then, _, _| {
        assert!(matches!(then.blast(Vec3::Y * 40.0, 1.0, &mut Vec::new()), Err(Miss::NoTarget)));
    });
}
