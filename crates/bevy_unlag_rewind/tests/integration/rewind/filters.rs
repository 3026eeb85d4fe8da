//! Filters and limits of queries, each with a control without it, and the frames that are kept.

use bevy_unlag_rewind::{HitLayers, Team};

use super::*;

/// Hit of a ray at the runner's chest, ten ticks ago.
fn shoot_with(range: &mut Range, filter: RewindFilter<'static>, limits: RewindLimits) -> Option<NetId> {
    let time = ago(range, 10.0);
    let from = range.chest(time);
    let look = move |query: RewindQuery| {
        let view = QueryView { limits: Some(&limits), ..QueryView::from(time) };
        let then = query.at(RewindTime::View(view)).expect("the view must be recent enough");
        then.with_filter(filter).cast_ray(from, Vec3::NEG_Z, 50.0).ok().map(|hit| hit.target)
    };
    range.app.world_mut().run_system_once(look).expect("the query must run")
}

fn start() -> Range {
    let mut range = Range::new(true);
    range.run(60);
    range
}

/// Fails if the team filter is ignored.
#[test]
fn excluded_team_is_not_hit_and_others_are() {
    let mut range = start();
    let runner = range.runner;
    for (team, excluded, hit) in [
        (None, None, true),
        (None, Some(Team(1)), true),
        (Some(Team(1)), None, true),
        (Some(Team(1)), Some(Team(1)), false),
        (Some(Team(2)), Some(Team(1)), true),
    ] {
        let mut pawn = range.app.world_mut().entity_mut(runner);
        match team {
            Some(team) => pawn.insert(team),
            None => pawn.remove::<Team>(),
        };
        let filter = RewindFilter { exclude_team: excluded, ..RewindFilter::exclude(range.shooter) };
        let found = shoot_with(&mut range, filter, RewindLimits::default());
        assert_eq!(found, hit.then_some(NetId(1)), "a pawn of {team:?} and a filter for {excluded:?}");
    }
}

#[test]
fn ray_passes_through_an_excluded_team_to_the_enemy_behind() {
    let mut range = Range::new(true);
    let runner = range.runner;
    range.app.world_mut().entity_mut(runner).insert(Team(1));
    // Four metres behind the place that the runner passes ten ticks before the shot.
    let place = Vec3::new(50.0 * STRIDE, 0.0, -14.0);
    let body = (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
    range.app.world_mut().spawn((NetId(3), CapsuleState::at(place), Team(2), body));
    range.run(60);
    let hits = [None, Some(Team(1)), Some(Team(2))].map(|exclude_team| {
        let filter = RewindFilter { exclude_team, ..RewindFilter::exclude(range.shooter) };
        shoot_with(&mut range, filter, RewindLimits::default())
    });
    assert_eq!(hits, [Some(NetId(1)), Some(NetId(3)), Some(NetId(1))]);
}

#[test]
fn excluded_entity_or_layer_is_not_hit() {
    let mut range = start();
    let (runner, shooter) = (range.runner, range.shooter);
    range.app.world_mut().entity_mut(runner).insert(HitLayers(0b10));
    for (filter, hit) in [
        (RewindFilter::exclude(shooter), true),
        (RewindFilter::exclude(runner), false),
        (RewindFilter { layers: HitLayers(0b110), ..RewindFilter::default() }, true),
        (RewindFilter { layers: HitLayers(0b101), ..RewindFilter::default() }, false),
    ] {
        let found = shoot_with(&mut range, filter, RewindLimits::default());
        assert_eq!(found, hit.then_some(NetId(1)), "{filter:?}");
    }
}

/// Fails if `max_distance` is ignored.
#[test]
fn target_that_has_moved_beyond_the_maximum_distance_is_not_hit() {
    let mut range = start();
    let filter = RewindFilter::exclude(range.shooter);
    // It has moved by a metre in ten ticks.
    for (max_distance, hit) in [(f32::INFINITY, true), (1.2, true), (0.8, false)] {
        let limits = RewindLimits { max_distance, ..RewindLimits::default() };
        assert_eq!(shoot_with(&mut range, filter, limits), hit.then_some(NetId(1)), "{max_distance} m");
    }
}

/// Fails if `hit_despawned` is ignored.
#[test]
fn despawned_target_is_hit_where_it_was_unless_that_is_off() {
    for hit_despawned in [true, false] {
        let mut range = start();
        range.app.world_mut().resource_mut::<RewindLimits>().hit_despawned = hit_despawned;
        let time = ago(&range, 10.0);
        let from = range.chest(time);
        range.app.world_mut().despawn(range.runner);
        range.app.update();
        let hit = range.shoot(from, Some(time), &[]).expect("the view must be recent enough");
        assert_eq!(hit.map(|hit| hit.target), hit_despawned.then_some(NetId(1)));
    }
}

/// Fails if no frame beyond the maximum age is kept, or a second one.
#[test]
fn frames_reach_back_to_the_maximum_age_and_one_further() {
    for (max_age, ticks) in [(400_u64, 26), (200, 13), (250, 16)] {
        let mut range = Range::new(true);
        range.app.world_mut().resource_mut::<RewindLimits>().max_age = Duration::from_millis(max_age);
        range.run(60);
        let now = range.now();
        let history = range.app.world().get::<FrameHistory>(range.runner).expect("a history");
        let ages: Vec<i32> = history.frames().map(|frame| now.since(frame.tick)).collect();
        let expected: Vec<i32> = (0..=ticks).rev().collect();
        assert_eq!(ages, expected, "{max_age} ms");
        for frame in history.frames() {
            let expected = range.chest(ViewTime::at(frame.tick)).x;
            assert!((frame.position.x - expected).abs() < 1e-3, "{frame:?}, not at {expected} m");
        }
    }
}
