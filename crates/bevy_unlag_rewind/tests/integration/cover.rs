//! Cover protection: a target that has been behind a corner for long enough cannot be hit through an old
//! view.

use core::time::Duration;

use bevy::{ecs::system::RunSystemOnce, prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{CurrentTick, LimbPoses, NetId, PathKnotConfig, PoseSample, PoseSampler, ViewTime};
use bevy_unlag_movement::{CapsuleModel, MovementPlugin};
use bevy_unlag_rewind::{
    CoverProtection, Miss, Occluder, QueryView, RewindFilter, RewindLimits, RewindPlugin, RewindQuery,
    RewindTime, TargetHit, humanoid_hit_boxes, humanoid_rig,
};
use bevy_unlag_smoothing::PublishedPath;
use bevy_unlag_smoothing::RecordTransform;

const TICK: Duration = Duration::from_nanos(15_625_000);
/// Distance that the runner covers per tick, in metres.
const STRIDE: f32 = 0.1;
/// X coordinate of the wall's left edge, in metres. The wall hides everything to the right of it.
const EDGE: f32 = 2.0;
const WALL_Z: f32 = -5.0;
const EYE: Vec3 = Vec3::new(0.0, 1.6, 0.0);
const RULE: CoverProtection =
    CoverProtection { grace: Duration::from_millis(40), max_exempt_age: Duration::from_millis(100) };

struct Corner {
    app: App,
    runner: Entity,
    shooter: Entity,
    /// First tick in which no limb of the runner was visible.
    hidden_since: Option<u32>,
}

impl Corner {
    fn new() -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .add_plugins(RewindPlugin::<CapsuleModel>::default());
        app.finish();
        app.cleanup();
        let world = app.world_mut();
        world.spawn((Collider::cuboid(20.0, 5.0, 0.001), Transform::from_xyz(EDGE + 20.0, 0.0, WALL_Z)));
        let body = || (RecordTransform::default(), humanoid_hit_boxes(), humanoid_rig());
        let runner = world.spawn((NetId(1), body(), Transform::from_xyz(-3.0, 0.0, -10.0))).id();
        let shooter = world.spawn((NetId(2), body())).id();
        Self { app, runner, shooter, hidden_since: None }
    }

    fn now(&self) -> u32 {
        self.app.world().resource::<CurrentTick>().0.0
    }

    fn tick(&mut self) {
        let mut runner =
            self.app.world_mut().get_mut::<Transform>(self.runner).expect("the runner must exist");
        runner.translation.x += STRIDE;
        self.app.update();
        let tick = self.now();
        let world = self.app.world_mut();
        if tick.is_multiple_of(3) {
            for mut history in world.query::<&mut PublishedPath>().iter_mut(world) {
                history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None);
            }
        }
        if !self.is_in_sight() {
            self.hidden_since.get_or_insert(tick);
        }
    }

    /// Whether a limb is visible, computed from where the lines of sight cross the wall's plane.
    fn is_in_sight(&self) -> bool {
        let history =
            self.app.world().get::<PublishedPath>(self.runner).expect("the runner must have a history");
        let Some(pose) = history.present() else { return true };
        let mut room = LimbPoses::default();
        humanoid_rig().in_world(pose, &mut room).iter().any(|limb| {
            let limb: Vec3 = limb.translation.into();
            let part = (WALL_Z - EYE.z) / (limb.z - EYE.z);
            (EYE + (limb - EYE) * part).x < EDGE
        })
    }

    /// Shoots at where the runner was drawn `age` ticks ago.
    fn shoot(&mut self, age: f64, cover: Option<CoverProtection>, from: Vec3) -> Result<TargetHit, Miss> {
        let time = ViewTime::after(CurrentTick::default().0.offset(self.now().cast_signed()), -age);
        let pose = *self
            .app
            .world()
            .get::<PublishedPath>(self.runner)
            .and_then(PublishedPath::present)
            .expect("the runner must have a present pose");
        let then = PoseSample { position: pose.position - Vec3::X * (age as f32 * STRIDE), ..pose };
        // The last limb to disappear behind the wall.
        let mut room = LimbPoses::default();
        let limbs = humanoid_rig().in_world(&then, &mut room).iter().map(|limb| Vec3::from(limb.translation));
        let limb = limbs.min_by(|a, b| a.x.total_cmp(&b.x)).expect("the rig must have limbs");
        let shooter = self.shooter;
        let shoot = move |query: RewindQuery| {
            let limits = RewindLimits { cover, ..default() };
            let view = QueryView { limits: Some(&limits), ..QueryView::from(time) };
            let then = query.at(RewindTime::View(view)).expect("the view must be recent enough");
            then.with_filter(RewindFilter::exclude(shooter)).cast_ray(from, limb - from, 50.0)
        };
        self.app.world_mut().run_system_once(shoot).expect("the query must run")
    }
}

#[test]
fn wall_behind_a_target_is_no_cover() {
    let mut corner = Corner::new();
    let behind = (Collider::cuboid(20.0, 5.0, 0.001), Transform::from_xyz(0.0, 0.0, -11.0));
    corner.app.world_mut().spawn(behind);
    for _ in 0..40 {
        corner.tick();
    }
    assert_eq!(corner.hidden_since, None);
    let shot = corner.shoot(20.0, Some(RULE), EYE);
    assert!(shot.is_ok(), "{shot:?}");
}

#[test]
fn cover_denies_a_shot_exactly_when_grace_and_view_age_are_exceeded() {
    let mut corner = Corner::new();
    let (mut denied, mut allowed) = ([0; 3], [0; 3]);
    for _ in 0..130 {
        corner.tick();
        let Some(since) = corner.hidden_since else { continue };
        let hidden = Duration::from_secs_f64(f64::from(corner.now() - since) / 64.0);
        for (index, age) in [0.050, 0.150, 0.300].into_iter().enumerate() {
            let ticks = age * 64.0;
            let plain = corner.shoot(ticks, None, EYE);
            let ruled = corner.shoot(ticks, Some(RULE), EYE);
            if matches!(plain, Err(Miss::Blocked { .. })) {
                // The shooter saw the wall, too.
                assert_eq!(plain, ruled);
                continue;
            }
            assert!(plain.is_ok(), "{plain:?} for a view of {age} s ago");
            let safe = age > RULE.max_exempt_age.as_secs_f64() && hidden > RULE.grace;
            assert_eq!(ruled.is_err(), safe, "hidden for {hidden:?}, view of {age} s ago: {ruled:?}");
            if safe {
                assert_eq!(ruled, Err(Miss::InCover(NetId(1))));
                denied[index] += 1;
            } else {
                allowed[index] += 1;
            }
        }
    }
    // A view of 50 ms is never too old; one of 300 ms shows the runner for a dozen ticks too long.
    println!("denied {denied:?}, allowed {allowed:?}");
    assert_eq!(denied[0], 0);
    assert!(denied[1] >= 3 && denied[2] >= 10, "{denied:?}");
    assert!(allowed.iter().all(|count| *count >= 2), "{allowed:?}");
}

#[test]
fn target_visible_on_the_server_has_no_cover_protection() {
    let mut corner = Corner::new();
    while corner.hidden_since.is_none_or(|since| corner.now() < since + 8) {
        corner.tick();
    }
    assert_eq!(corner.shoot(19.0, Some(RULE), EYE), Err(Miss::InCover(NetId(1))));
    // From here the shooter looks past the edge of the wall.
    let aside = Vec3::X * -20.0 + Vec3::Z * -8.0;
    let mut shooter =
        corner.app.world_mut().get_mut::<Transform>(corner.shooter).expect("the shooter must exist");
    shooter.translation = aside;
    corner.tick();
    let seen = corner.shoot(19.0, Some(RULE), EYE + aside);
    assert!(seen.is_ok(), "{seen:?}");
}

#[test]
fn closed_door_gives_cover_once_the_grace_period_is_over() {
    let mut corner = Corner::new();
    let door = Occluder { shape: Collider::cuboid(8.0, 5.0, 0.01), base: 0 };
    let away = Transform::from_xyz(0.0, 0.0, 80.0);
    let door = corner.app.world_mut().spawn((NetId(3), RecordTransform::default(), door, away)).id();
    while corner.now() < 26 {
        corner.tick();
    }
    let mut entity = corner.app.world_mut().entity_mut(door);
    entity.get_mut::<RecordTransform>().expect("the door must be recorded").teleports += 1;
    entity.get_mut::<Transform>().expect("the door must have a transform").translation = Vec3::Z * WALL_Z;
    for closed in 0..15 {
        corner.tick();
        assert_eq!(corner.now(), 27 + closed);
        let seen = corner.shoot(19.0, None, EYE);
        assert!(seen.is_ok(), "the door was open in that view: {seen:?}");
        let safe = Duration::from_secs_f64(f64::from(closed) / 64.0) > RULE.grace;
        let ruled = corner.shoot(19.0, Some(RULE), EYE);
        assert_eq!(ruled.is_err(), safe, "closed for {closed} ticks: {ruled:?}");
    }
    assert!(corner.hidden_since.is_none(), "no wall must hide the runner");
}
