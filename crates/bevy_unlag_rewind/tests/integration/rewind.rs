//! Rewind through the public API: a runner is hit where the shooter saw it, not where it is now.

mod filters;

use core::time::Duration;

use bevy::{ecs::system::RunSystemOnce, prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{
    BasePoses, CurrentTick, NetId, PathKnotConfig, PoseSampler, ProxySmoothing, SetupDiagnostics, SetupIssue,
    Tick, ViewTime,
};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, MovementPlugin};
use bevy_unlag_rewind::{
    FrameHistory, HitBoxes, HitGroup, MatchStart, Miss, QueryView, RewindFilter, RewindLimits, RewindMode,
    RewindPlugin, RewindQuery, RewindRefusal, RewindTable, RewindTime, RewoundTime, StampOverride, TargetHit,
    humanoid_hit_boxes, humanoid_rig,
};
use bevy_unlag_smoothing::PublishedPath;
use bevy_unlag_smoothing::RecordTransform;

const TICK: Duration = Duration::from_nanos(15_625_000);
/// Distance that the runner covers per tick, in metres.
const STRIDE: f32 = 0.1;

struct Range {
    app: App,
    runner: Entity,
    shooter: Entity,
}

impl Range {
    /// A runner along X, ten metres in front of a shooter, with a snapshot every three ticks.
    fn new(with_plugin: bool) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
        if with_plugin {
            app.add_plugins(RewindPlugin::<CapsuleModel>::default());
        } else {
            app.init_resource::<RewindLimits>()
                .init_resource::<PoseSampler>()
                .init_resource::<RewindTable>()
                .init_resource::<BasePoses>();
        }
        app.finish();
        app.cleanup();
        let body = || (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
        let runner = app.world_mut().spawn((NetId(1), CapsuleState::at(Vec3::NEG_Z * 10.0), body())).id();
        let shooter = app.world_mut().spawn((NetId(2), CapsuleState::at(Vec3::ZERO), body())).id();
        Self { app, runner, shooter }
    }

    fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            let world = self.app.world_mut();
            let mut state = world.get_mut::<CapsuleState>(self.runner).expect("the runner must exist");
            state.position.x += STRIDE;
            state.velocity = Vec3::X * STRIDE * 64.0;
            self.app.update();
            let tick = self.now();
            let world = self.app.world_mut();
            if tick.0.is_multiple_of(3) {
                for mut history in world.query::<&mut PublishedPath>().iter_mut(world) {
                    history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None);
                }
            }
        }
    }

    fn now(&self) -> Tick {
        self.app.world().resource::<CurrentTick>().0
    }

    /// Casts a ray along -Z from `from`. Returns the result and the time at which it was tested.
    fn cast_at_view(
        &mut self,
        from: Vec3,
        time: Option<ViewTime>,
        named: &[StampOverride],
    ) -> Result<(Result<TargetHit, Miss>, RewoundTime), RewindRefusal> {
        let (shooter, named) = (self.shooter, named.to_vec());
        let look = move |query: RewindQuery| {
            let view = time.map(|time| QueryView { overrides: &named, ..QueryView::from(time) });
            let then = query.at(view.map_or(RewindTime::Now, RewindTime::View))?;
            let then = then.with_filter(RewindFilter::exclude(shooter));
            Ok((then.cast_ray(from, Vec3::NEG_Z, 50.0), then.time()))
        };
        self.app.world_mut().run_system_once(look).expect("the query must run")
    }

    /// Returns the hit of such a shot.
    fn shoot(
        &mut self,
        from: Vec3,
        time: Option<ViewTime>,
        named: &[StampOverride],
    ) -> Result<Option<TargetHit>, RewindRefusal> {
        self.cast_at_view(from, time, named).map(|(hit, _)| hit.ok())
    }

    /// Returns where the runner's chest was at `time`.
    fn chest(&self, time: ViewTime) -> Vec3 {
        let age = -time.ticks_since(self.now());
        let now = self.app.world().get::<CapsuleState>(self.runner).expect("the runner must exist").position;
        Vec3::new(now.x - age * STRIDE, 1.3, 0.0)
    }
}

fn ago(range: &Range, ticks: f64) -> ViewTime {
    ViewTime::after(range.now(), -ticks)
}

#[test]
fn runner_is_hit_where_the_screen_showed_it() {
    let mut range = Range::new(true);
    range.run(60);
    let time = ago(&range, 12.5);
    let then = range.chest(time);
    let hit = range
        .shoot(then, Some(time), &[])
        .expect("the view must be recent enough")
        .expect("the runner was there");
    assert_eq!((hit.target, hit.group), (NetId(1), HitGroup::Body));
    assert!((hit.distance - 9.87).abs() < 0.01, "{hit:?}");
    assert_eq!(range.shoot(then, None, &[]), Ok(None), "the runner is no longer there");

    range.app.world_mut().resource_mut::<RewindLimits>().mode = RewindMode::Off;
    assert_eq!(range.shoot(then, Some(time), &[]), Ok(None), "no rewind must happen in mode `Off`");
}

#[test]
fn without_the_plugin_no_past_pose_is_hit() {
    let mut range = Range::new(false);
    range.run(60);
    let time = ago(&range, 12.5);
    let then = range.chest(time);
    assert_eq!(range.shoot(then, Some(time), &[]), Ok(None));
}

#[test]
fn head_takes_precedence_over_the_body_and_the_nearest_pawn_is_hit() {
    let mut range = Range::new(true);
    range.run(60);
    let time = ago(&range, 8.0);
    let head = range.chest(time).with_y(1.66);
    let hit = range
        .shoot(head, Some(time), &[])
        .expect("the view must be recent enough")
        .expect("the shot must hit");
    assert_eq!(hit.group, HitGroup::Head);

    // Another pawn steps in front.
    let place = range.chest(time).with_y(0.0) + Vec3::NEG_Z * 5.0;
    let body = (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
    range.app.world_mut().spawn((NetId(3), CapsuleState::at(place), body));
    range.run(12);
    let time = ago(&range, 2.0);
    let from = place.with_z(0.0).with_y(1.3);
    let hit = range
        .shoot(from, Some(time), &[])
        .expect("the view must be recent enough")
        .expect("the shot must hit");
    assert_eq!(hit.target, NetId(3));
}

#[test]
fn wall_blocks_a_shot_and_reports_the_target_behind_it() {
    let mut range = Range::new(true);
    range.run(60);
    let time = ago(&range, 10.0);
    let then = range.chest(time);
    range.app.world_mut().spawn((Collider::cuboid(50.0, 5.0, 0.1), Transform::from_xyz(0.0, 0.0, -4.0)));
    range.run(2);
    let (blocked, _) = range.cast_at_view(then, Some(time), &[]).expect("the view must be recent enough");
    assert!(
        matches!(blocked, Err(Miss::Blocked { hit, by: None, .. }) if hit.target == NetId(1)),
        "{blocked:?}"
    );
}

#[test]
fn stamp_override_poses_the_named_pair_only_if_it_was_sent() {
    let mut range = Range::new(true);
    range.run(60);
    // The newest snapshot that is at least 9 ticks old, and the one two intervals later.
    let from = Tick(range.now().0 / 3 * 3 - 9);
    let named = StampOverride { target: NetId(1), from, to: Some(from.offset(6)), shift: 0 };
    let time = ViewTime { tick: from.offset(4), fraction: 0 };
    let then = range.chest(time);
    assert!(range.shoot(then, Some(time), &[named]).expect("the view must be recent enough").is_some());
    let never_sent = StampOverride { from: from.offset(1), ..named };
    assert_eq!(
        range.shoot(then, Some(time), &[never_sent]),
        Ok(None),
        "an unsent snapshot must not be posed"
    );
}

#[test]
fn stamp_override_cannot_bypass_the_age_limit() {
    let mut range = Range::new(true);
    range.run(150);
    let newest = Tick(range.now().0 / 3 * 3);
    let long_ago = newest.offset(-120);
    let then = range.chest(ViewTime::at(long_ago));
    let time = ViewTime::at(newest.offset(-6));
    for to in [Some(long_ago.offset(3)), Some(newest), None] {
        let claim = StampOverride { target: NetId(1), from: long_ago, to, shift: 0 };
        assert_eq!(range.shoot(then, Some(time), &[claim]), Ok(None), "{claim:?}");
    }
}

#[test]
fn old_and_future_views_are_refused_and_nan_rays_are_invalid() {
    let mut range = Range::new(true);
    range.run(120);
    let (old, future) = (ago(&range, 70.0), ago(&range, -2.0));
    assert_eq!(range.shoot(Vec3::ZERO, Some(old), &[]), Err(RewindRefusal::TooOld));
    assert_eq!(range.shoot(Vec3::ZERO, Some(future), &[]), Err(RewindRefusal::FromTheFuture));
    let now = ago(&range, 5.0);
    let (nonsense, _) =
        range.cast_at_view(Vec3::NAN, Some(now), &[]).expect("the view must be recent enough");
    assert_eq!(nonsense, Err(Miss::InvalidQuery));
}

#[test]
fn views_before_the_match_start_are_refused() {
    let mut range = Range::new(true);
    range.run(120);
    let (before, after) = (ago(&range, 12.0), ago(&range, 8.0));
    range.app.insert_resource(MatchStart(Some(after.tick)));
    assert_eq!(range.shoot(Vec3::ZERO, Some(before), &[]), Err(RewindRefusal::TooOld));
    assert!(range.shoot(Vec3::ZERO, Some(after), &[]).is_ok());
}

#[test]
fn view_beyond_the_cap_is_tested_at_the_cap_and_reported_as_clamped() {
    let mut range = Range::new(true);
    range.run(120);
    let (requested, cap) = (ago(&range, 40.0), ago(&range, 25.6));
    let (there, here) = (range.chest(requested), range.chest(cap));
    let (miss, time) = range.cast_at_view(there, Some(requested), &[]).expect("the view must not be too old");
    assert!(miss.is_err() && time.clamped() && time.requested == Some(requested), "{miss:?} {time:?}");
    let (hit, time) = range.cast_at_view(here, Some(requested), &[]).expect("the view must not be too old");
    assert!(hit.is_ok() && time.used.is_some_and(|used| used.since(cap).abs() <= 1), "{hit:?} {time:?}");
}

#[test]
fn recorded_transform_is_hit_where_it_was_seen() {
    let mut range = Range::new(true);
    let belt = range
        .app
        .world_mut()
        .spawn((NetId(9), RecordTransform::default(), humanoid_hit_boxes(), humanoid_rig()))
        .id();
    range.app.world_mut().despawn(range.runner);
    for tick in 0..60u32 {
        let mut place =
            range.app.world_mut().get_mut::<Transform>(belt).expect("the crate must have a transform");
        place.translation = Vec3::new(tick as f32 * STRIDE, 0.0, -10.0);
        range.app.update();
        if range.now().0.is_multiple_of(3) {
            let mut history = range.app.world_mut().get_mut::<PublishedPath>(belt).expect("a history");
            let update = history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None);
            // The very first frame runs no tick.
            assert!(update.is_some() || tick == 0);
            if let Some(sent) = update.map(|update| update.snapshot).filter(|_| tick > 3) {
                assert!((sent.velocity() - Vec3::X * STRIDE * 64.0).length() < 0.05, "{}", sent.velocity());
            }
        }
    }
    let ago = ViewTime::at(range.now().offset(-10));
    let then = Vec3::new(49.0 * STRIDE, 1.3, 0.0);
    assert_eq!(range.shoot(then, Some(ago), &[]).map(|hit| hit.map(|hit| hit.target)), Ok(Some(NetId(9))));
    assert_eq!(range.shoot(then, None, &[]), Ok(None), "the crate is elsewhere now");
}

#[test]
fn raw_pawn_cannot_be_claimed_from_an_older_snapshot() {
    let mut range = Range::new(true);
    range.run(120);
    let world = range.app.world_mut();
    world.entity_mut(range.runner).insert(ProxySmoothing::Raw);
    let sent: Vec<Tick> = {
        let history = world.get::<PublishedPath>(range.runner).expect("a history");
        history.sent.iter().map(|snapshot| snapshot.tick).collect()
    };
    let now = range.now();
    let newest_before = |age: i32| *sent.iter().rev().find(|tick| now.since(**tick) >= age).expect("sent");
    let from = newest_before(6);
    let claim = |from: Tick| StampOverride { target: NetId(1), from, to: None, shift: 0 };
    let there = |range: &Range, tick: Tick| range.chest(ViewTime::at(tick));
    let place = there(&range, from);
    let hit = range.shoot(place, Some(ViewTime::at(from)), &[claim(from)]);
    assert_eq!(
        hit.map(|hit| hit.map(|hit| hit.target)),
        Ok(Some(NetId(1))),
        "the pawn must be hit where it was shown"
    );
    // The view time is accepted, but the claimed snapshot is half a second older.
    let old = newest_before(30);
    let place = there(&range, old);
    assert_eq!(range.shoot(place, Some(ViewTime::at(from)), &[claim(old)]), Ok(None));
}

#[test]
fn teleported_transform_is_recorded_without_velocity() {
    let mut range = Range::new(true);
    let drone = range.app.world_mut().spawn((NetId(9), RecordTransform::default())).id();
    for tick in 0..12u32 {
        let mut entity = range.app.world_mut().entity_mut(drone);
        entity.get_mut::<Transform>().expect("the crate must have a transform").translation.x =
            if tick < 8 { 0.0 } else { 50.0 };
        if tick == 8 {
            entity.get_mut::<RecordTransform>().expect("the drone must be recorded").teleports += 1;
        }
        range.app.update();
        let mut history = range.app.world_mut().get_mut::<PublishedPath>(drone).expect("a history");
        if let Some(update) = history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None) {
            assert_eq!(update.snapshot.velocity(), Vec3::ZERO, "tick {tick}");
        }
    }
}

#[test]
fn missing_hit_boxes_are_reported_after_a_grace_period() {
    let found = |range: &Range| range.app.world().resource::<SetupDiagnostics>().has(SetupIssue::NoHitBoxes);
    let mut range = Range::new(true);
    range.run(64 * 6);
    assert!(!found(&range));
    let pawns = [range.runner, range.shooter];
    for pawn in pawns {
        range.app.world_mut().entity_mut(pawn).remove::<HitBoxes>();
    }
    range.run(64 * 4);
    assert!(!found(&range), "hit boxes may still be loading");
    range.run(64 * 2);
    assert!(found(&range));
}
