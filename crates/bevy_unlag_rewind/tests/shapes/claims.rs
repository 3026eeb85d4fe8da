//! A ray beside the target that its shooter names.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, ViewTime};
use bevy_unlag_rewind::{
    ClaimedTarget, CoverProtection, Miss, RewindFilter, RewindLimits, RewindTime, TargetHit, View,
    humanoid_hit_boxes,
};
use rand::Rng;

use crate::range::{Circle, Crowd, Placed, Range, Tally, somewhere};

const MAX: f32 = 40.0;
/// Differences in metres in which rounding decides.
const ROUNDING: f32 = 2e-3;

/// Metres between a box and a ray, and along the ray: a box is convex, so the gap has one least value.
fn gap(placed: &Placed, origin: Vec3, way: Vec3, max: f32) -> (f32, f32) {
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

/// The box of a target that a ray comes nearest to, with the gap and the metres along the ray.
fn nearest(crowd: &Crowd, target: NetId, origin: Vec3, way: Vec3, max: f32) -> Option<(f32, f32, &Placed)> {
    let own = crowd.boxes.iter().filter(|placed| placed.target == target);
    let gaps = own.map(|placed| (gap(placed, origin, way, max), placed));
    gaps.map(|((gap, along), placed)| (gap, along, placed)).min_by(|a, b| a.0.total_cmp(&b.0))
}

/// What the rule says of a ray that does not meet the target it names: `None` where rounding may decide.
fn oracle(
    crowd: &Crowd,
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
fn a_ray_that_passes_close_enough_hits_whom_it_names() {
    let mut range = Range::new(40, false);
    range.run(80);
    let (mut tally, mut padded, mut before) = (Tally::default(), 0, 0);
    range.ask(50.3, |then, crowd, rng| {
        for _ in 0..6_000 {
            let origin = somewhere(rng, 14.0).with_y(rng.random_range(0.1..2.0));
            let placed = &crowd.boxes[rng.random_range(0..crowd.boxes.len())];
            let near = placed.pose.translation + somewhere(rng, 0.6);
            let Some(way) = (near - origin).try_normalize() else { continue };
            let exact = then.cast_ray(origin, way, MAX);
            let claimed = ClaimedTarget { target: placed.target, padding: rng.random_range(0.0..0.5) };
            let answer = then.cast_ray_claimed(origin, way, MAX, claimed);
            if exact.is_ok_and(|hit| hit.target == claimed.target) {
                assert_eq!(answer, exact, "what is hit is hit where it is hit");
                tally.hits += 1;
                continue;
            }
            match oracle(crowd, exact, claimed, origin, way) {
                None => {}
                Some(None) if answer == exact => tally.misses += 1,
                Some(Some(gap)) if answer.is_ok_and(|hit| hit.target == claimed.target) => {
                    let hit = answer.expect("a hit");
                    let off = hit.point.distance(origin + way * hit.distance);
                    assert!((off - gap).abs() < ROUNDING, "{hit:?} is {off} m off, and not {gap}");
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

/// A target that stands ten metres ahead.
fn target(range: &mut Range, id: u16, at: Vec3) -> Entity {
    let stands = Circle { middle: at, radius: 0.0, speed: 0.0, start: 0.0 };
    range.add(id, stands, humanoid_hit_boxes())
}

#[test]
fn a_claim_is_no_proof() {
    let mut range = Range::new(0, true);
    let one = target(&mut range, 1, Vec3::NEG_Z * 10.0);
    target(&mut range, 2, Vec3::new(3.0, 0.0, -10.0));
    range.run(40);
    let shoot = |range: &mut Range, aside: f32, target: u16, padding: f32, filter: RewindFilter| {
        range.query(|query, _| {
            let then = query.at(RewindTime::Now).expect("now").of(filter);
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
    assert!(shoot(&mut range, beside, 2, 0.4, all).is_err(), "it names another");
    assert!(shoot(&mut range, beside, 77, 0.4, all).is_err(), "it names nobody");
    assert_eq!(shoot(&mut range, 3.0, 1, 0.4, all), Ok(2), "it hits another than it names");
    assert_eq!(shoot(&mut range, beside, 1, f32::INFINITY, all), Ok(1));
    let without = RewindFilter::without(one);
    assert!(shoot(&mut range, beside, 1, 0.4, without).is_err(), "nobody asked for it");

    // A wall between the way and the target, as long as the way.
    let wall = range.wall(Vec3::new(0.02, 3.0, 20.0), Vec3::new(0.5, 0.0, -10.0));
    range.run(2);
    assert!(shoot(&mut range, beside, 1, 0.4, all).is_err(), "through a wall");
    range.app.world_mut().despawn(wall);
    // One across the way, right in front of the target.
    range.wall(Vec3::new(5.0, 3.0, 0.05), Vec3::new(0.0, 0.0, -9.5));
    range.run(2);
    assert!(shoot(&mut range, beside, 1, 0.6, all).is_err(), "behind a wall");
}

#[test]
fn who_is_in_cover_is_met_all_the_same() {
    let mut range = Range::new(0, true);
    // The one in front goes behind a wall and is safe; the one behind it is named.
    let one = target(&mut range, 1, Vec3::NEG_Z * 8.0);
    target(&mut range, 2, Vec3::new(0.7, 0.0, -12.0));
    range.run(60);
    let seen = ViewTime::after(range.now(), -1.0);
    let walk = Circle { middle: Vec3::new(9.0, 0.0, -8.0), radius: 0.0, speed: 0.0, start: 0.0 };
    let mut entity = range.app.world_mut().entity_mut(one);
    entity.insert(walk);
    entity.get_mut::<bevy_unlag_smoothing::RecordTransform>().expect("recorded").teleports += 1;
    range.wall(Vec3::new(2.0, 4.0, 0.1), Vec3::new(8.0, 0.0, -6.0));
    range.run(18);
    let limits = RewindLimits {
        cover: Some(CoverProtection {
            grace: core::time::Duration::from_millis(50),
            beyond: core::time::Duration::from_millis(50),
        }),
        ..default()
    };
    let shoot = |range: &mut Range, limits: &RewindLimits, filter: RewindFilter| {
        range.query(|query, _| {
            let view = View { limits: Some(limits), ..View::from(seen) };
            let then = query.at(RewindTime::View(view)).expect("a moment").of(filter);
            let claimed = ClaimedTarget { target: NetId(2), padding: 0.6 };
            then.cast_ray_claimed(Vec3::Y * 1.3, Vec3::NEG_Z, 50.0, claimed).map(|hit| hit.target)
        })
    };
    let all = RewindFilter::default();
    assert_eq!(shoot(&mut range, &RewindLimits::default(), all), Ok(NetId(1)), "it is met first");
    assert_eq!(shoot(&mut range, &limits, RewindFilter::without(one)), Ok(NetId(2)), "without it");
    assert_eq!(shoot(&mut range, &limits, all), Err(Miss::InCover(NetId(1))), "also when it is safe");
}
