//! Padded ray casts at a target that the shooter claims.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, ViewTime};
use bevy_unlag_rewind::{
    ClaimedTarget, CoverProtection, Miss, QueryView, RewindFilter, RewindLimits, RewindTime, TargetHit,
    humanoid_hit_boxes,
};
use rand::Rng;

use crate::shapes::range::{CircularMotion, PosedBox, PosedCrowd, Range, Tally, random_point};

const MAX: f32 = 40.0;
/// Distances, in metres, within which rounding may decide.
const ROUNDING: f32 = 2e-3;

/// Returns the distance between a box and a ray, and the position along the ray, in metres. A box is
/// convex, so a ternary search finds the minimum.
fn gap(placed: &PosedBox, origin: Vec3, way: Vec3, max: f32) -> (f32, f32) {
    let at = |along: f32| placed.distance(origin + way * along);
    let (mut low, mut high) = (0.0, max);
    for _ in 0..80 {
        let third = (high - low) / 3.0;
        if at(low + third) <= at(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    (at(low), low)
}

/// Returns the box of a target that is closest to a ray, with its distance and the position along the ray.
fn nearest(
    crowd: &PosedCrowd,
    target: NetId,
    origin: Vec3,
    way: Vec3,
    max: f32,
) -> Option<(f32, f32, &PosedBox)> {
    let own = crowd.boxes.iter().filter(|placed| placed.target == target);
    let gaps = own.map(|placed| (gap(placed, origin, way, max), placed));
    gaps.map(|((gap, along), placed)| (gap, along, placed)).min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Returns the padded hit's distance from the ray for a ray that does not hit the claimed target: `None`
/// where rounding may decide.
fn oracle(
    crowd: &PosedCrowd,
    exact: Result<TargetHit, Miss>,
    claimed: ClaimedTarget,
    origin: Vec3,
    way: Vec3,
) -> Option<Option<f32>> {
    let free = crowd.wall(origin, way, MAX).unwrap_or(MAX);
    let Some((gap, along, placed)) = nearest(crowd, claimed.target, origin, way, free) else {
        return Some(None);
    };
    if (gap - claimed.padding).abs() < ROUNDING {
        return None;
    }
    let behind = exact.map(|hit| along - hit.distance).unwrap_or(-1.0);
    if behind.abs() < ROUNDING * 50.0 {
        return None;
    }
    let from = origin + way * along;
    let point = placed.shape.raw.project_point(&placed.pose, from, true).point;
    let side = (point - from) / gap;
    let walls = [from, from + Vec3::splat(1e-3), from - Vec3::splat(1e-3)]
        .map(|from| crowd.wall(from - way * 2e-3, side, gap).is_some());
    if walls.iter().any(|wall| *wall != walls[0]) {
        return None;
    }
    Some((gap < claimed.padding && behind < 0.0 && !walls[0]).then_some(gap))
}

#[test]
fn padded_ray_hits_the_claimed_target_within_its_padding() {
    let mut range = Range::new(40, false);
    range.run(80);
    let (mut tally, mut padded, mut before) = (Tally::default(), 0, 0);
    range.with_rewound(50.3, |then, crowd, rng| {
        for _ in 0..6_000 {
            let origin = random_point(rng, 14.0).with_y(rng.random_range(0.1..2.0));
            let placed = &crowd.boxes[rng.random_range(0..crowd.boxes.len())];
            let near = placed.pose.translation + random_point(rng, 0.6);
            let Some(way) = (near - origin).try_normalize() else { continue };
            let exact = then.cast_ray(origin, way, MAX);
            let claimed = ClaimedTarget { target: placed.target, padding: rng.random_range(0.0..0.5) };
            let answer = then.cast_ray_claimed(origin, way, MAX, claimed);
            if exact.is_ok_and(|hit| hit.target == claimed.target) {
                assert_eq!(answer, exact, "a padded ray must not change an exact hit");
                tally.hits += 1;
                continue;
            }
            match oracle(crowd, exact, claimed, origin, way) {
                None => {}
                Some(None) if answer == exact => tally.misses += 1,
                Some(Some(gap)) if answer.is_ok_and(|hit| hit.target == claimed.target) => {
                    let hit = answer.expect("the ray must hit");
                    let off = hit.point.distance(origin + way * hit.distance);
                    assert!(
                        (off - gap).abs() < ROUNDING,
                        "{hit:?} is {off} m off the ray instead of {gap} m"
                    );
                    padded += 1;
                    before += u32::from(exact.is_ok());
                }
                Some(_) => tally.differ += 1,
            }
        }
    });
    assert!(
        tally.hits > 500 && tally.misses > 500 && padded > 500 && before > 20,
        "{tally:?} {padded} {before}"
    );
    assert_eq!(tally.differ, 0, "{tally:?}");
}

/// Spawns a target that stands still at `at`.
fn add_standing_target(range: &mut Range, id: u16, at: Vec3) -> Entity {
    let stands = CircularMotion { middle: at, radius: 0.0, speed: 0.0, start: 0.0 };
    range.add(id, stands, humanoid_hit_boxes())
}

#[test]
fn claimed_target_is_hit_only_within_padding_filter_and_line_of_sight() {
    let mut range = Range::new(0, true);
    let one = add_standing_target(&mut range, 1, Vec3::NEG_Z * 10.0);
    add_standing_target(&mut range, 2, Vec3::new(3.0, 0.0, -10.0));
    range.run(40);
    let shoot = |range: &mut Range, aside: f32, target: u16, padding: f32, filter: RewindFilter| {
        range.query(|query, _| {
            let then = query.at(RewindTime::Now).expect("the present must be available").with_filter(filter);
            let claimed = ClaimedTarget { target: NetId(target), padding };
            let hit = then.cast_ray_claimed(Vec3::new(aside, 1.3, 0.0), Vec3::NEG_Z, 50.0, claimed);
            hit.map(|hit| hit.target.0)
        })
    };
    let all = RewindFilter::default();
    let beside = 0.6;
    assert_eq!(shoot(&mut range, beside, 1, 0.4, all), Ok(1));
    for padding in [0.0, 0.05, -1.0, f32::NAN] {
        assert!(shoot(&mut range, beside, 1, padding, all).is_err(), "{padding}");
    }
    assert!(shoot(&mut range, beside, 2, 0.4, all).is_err(), "another target is claimed");
    assert!(shoot(&mut range, beside, 77, 0.4, all).is_err(), "an unknown target is claimed");
    assert_eq!(shoot(&mut range, 3.0, 1, 0.4, all), Ok(2), "an exact hit on another target counts");
    assert_eq!(shoot(&mut range, beside, 1, f32::INFINITY, all), Ok(1));
    let without = RewindFilter::exclude(one);
    assert!(shoot(&mut range, beside, 1, 0.4, without).is_err(), "the filter excludes the claimed target");

    // A wall between the ray and the target, parallel to the ray.
    let wall = range.wall(Vec3::new(0.02, 3.0, 20.0), Vec3::new(0.5, 0.0, -10.0));
    range.run(2);
    assert!(shoot(&mut range, beside, 1, 0.4, all).is_err(), "a wall is between ray and target");
    range.app.world_mut().despawn(wall);
    // A wall across the ray, right in front of the target.
    range.wall(Vec3::new(5.0, 3.0, 0.05), Vec3::new(0.0, 0.0, -9.5));
    range.run(2);
    assert!(shoot(&mut range, beside, 1, 0.6, all).is_err(), "a wall is in front of the target");
}

#[test]
fn target_in_cover_still_blocks_a_claimed_ray() {
    let mut range = Range::new(0, true);
    // The first target goes behind a wall and into cover; the shooter claims the one behind it.
    let one = add_standing_target(&mut range, 1, Vec3::NEG_Z * 8.0);
    add_standing_target(&mut range, 2, Vec3::new(0.7, 0.0, -12.0));
    range.run(60);
    let seen = ViewTime::after(range.now(), -1.0);
    let walk = CircularMotion { middle: Vec3::new(9.0, 0.0, -8.0), radius: 0.0, speed: 0.0, start: 0.0 };
    let mut entity = range.app.world_mut().entity_mut(one);
    entity.insert(walk);
    entity
        .get_mut::<bevy_unlag_smoothing::RecordTransform>()
        .expect("the target must be recorded")
        .teleports += 1;
    range.wall(Vec3::new(2.0, 4.0, 0.1), Vec3::new(8.0, 0.0, -6.0));
    range.run(18);
    let limits = RewindLimits {
        cover: Some(CoverProtection {
            grace: core::time::Duration::from_millis(50),
            max_exempt_age: core::time::Duration::from_millis(50),
        }),
        ..default()
    };
    let shoot = |range: &mut Range, limits: &RewindLimits, filter: RewindFilter| {
        range.query(|query, _| {
            let view = QueryView { limits: Some(limits), ..QueryView::from(seen) };
            let then = query.at(RewindTime::View(view)).expect("a valid view").with_filter(filter);
            let claimed = ClaimedTarget { target: NetId(2), padding: 0.6 };
            then.cast_ray_claimed(Vec3::Y * 1.3, Vec3::NEG_Z, 50.0, claimed).map(|hit| hit.target)
        })
    };
    let all = RewindFilter::default();
    assert_eq!(
        shoot(&mut range, &RewindLimits::default(), all),
        Ok(NetId(1)),
        "the first target must be hit without cover protection"
    );
    assert_eq!(
        shoot(&mut range, &limits, RewindFilter::exclude(one)),
        Ok(NetId(2)),
        "the claimed target must be hit without the first one"
    );
    assert_eq!(
        shoot(&mut range, &limits, all),
        Err(Miss::InCover(NetId(1))),
        "a target in cover must still block the ray"
    );
}
