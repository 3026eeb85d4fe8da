//! The backend with moved colliders: its answers, and colliders that exist only while it is selected.

use core::time::Duration;

use bevy::{ecs::system::RunSystemOnce, prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{CurrentTick, NetId, PathKnotConfig, PoseSampler, ProxySmoothing, ViewTime};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, MovementPlugin};
use bevy_unlag_rewind::{
    FrameHistory, HUMANOID_LIMBS, HitGroup, Miss, MovedColliders, MovedPoses, RewindBackend, RewindFilter,
    RewindPlugin, RewindQuery, RewindTime, TargetHit, humanoid_hit_boxes, humanoid_rig,
};
use bevy_unlag_smoothing::PublishedPath;

const TICK: Duration = Duration::from_nanos(15_625_000);
/// Distance that a runner covers per tick, in metres.
const STRIDE: f32 = 0.1;

struct RunnerField {
    app: App,
    runners: Vec<Entity>,
}

impl RunnerField {
    /// Runners along X, one behind the other, drawn as last sent (`Raw`), with an update every eight ticks.
    fn new(count: u16, backend: RewindBackend) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin, RewindPlugin::<CapsuleModel>::default()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .insert_resource(backend);
        app.finish();
        app.cleanup();
        let body = || (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig(), ProxySmoothing::Raw);
        let runners = (0..count)
            .map(|n| {
                let place = CapsuleState::at(Vec3::NEG_Z * (10.0 + f32::from(n) * 3.0));
                app.world_mut().spawn((NetId(n + 1), place, body())).id()
            })
            .collect();
        Self { app, runners }
    }

    fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            let now = self.app.world().resource::<CurrentTick>().0;
            for runner in self.runners.clone() {
                let mut runner = self.app.world_mut().entity_mut(runner);
                let mut state = runner.get_mut::<CapsuleState>().expect("the runner must exist");
                state.position.x += STRIDE;
                state.velocity = Vec3::X * STRIDE * 64.0;
                if now.0.is_multiple_of(8) {
                    let mut history =
                        runner.get_mut::<PublishedPath>().expect("the runner must have a history");
                    let raw = Some(&ProxySmoothing::Raw);
                    history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), raw);
                }
            }
            self.app.update();
        }
    }

    fn select(&mut self, backend: RewindBackend) {
        self.app.insert_resource(backend);
    }

    fn ago(&self, ticks: f64) -> ViewTime {
        ViewTime::after(self.app.world().resource::<CurrentTick>().0, -ticks)
    }

    /// Casts a horizontal ray at chest height, at `ahead` metres from where the first runner was at `time`.
    fn shoot(&mut self, time: ViewTime, ahead: f32) -> Result<TargetHit, Miss> {
        let age = -time.ticks_since(self.app.world().resource::<CurrentTick>().0);
        let now =
            self.app.world().get::<CapsuleState>(self.runners[0]).expect("the runner must exist").position.x;
        let from = Vec3::new(now - age * STRIDE + ahead, 1.3, 0.0);
        let look = move |query: RewindQuery| {
            query.at(RewindTime::At(time)).expect("`RewindTime::At` must have no limits").cast_ray(
                from,
                Vec3::NEG_Z,
                50.0,
            )
        };
        self.app.world_mut().run_system_once(look).expect("the query must run")
    }
}

#[test]
fn colliders_and_records_exist_only_while_their_backend_is_selected() {
    let mut field = RunnerField::new(5, RewindBackend::Table);
    let count = |field: &RunnerField| {
        let moved = field.app.world().resource::<MovedColliders>();
        (moved.len(), moved.frames())
    };
    field.run(40);
    assert_eq!(count(&field), (0, 0));
    field.select(RewindBackend::MoveColliders(MovedPoses::Drawn));
    field.run(40);
    let colliders = 5 * HUMANOID_LIMBS.len();
    assert_eq!(count(&field), (colliders, 0));
    field.select(RewindBackend::MoveColliders(MovedPoses::Frames));
    field.run(10);
    assert_eq!(count(&field), (colliders, 50));
    field.run(100);
    // The records of 400 ms, and one older record.
    assert_eq!(count(&field), (colliders, 5 * 27));
    field.select(RewindBackend::Table);
    field.run(1);
    assert_eq!(count(&field), (0, 0));
}

#[test]
fn recorded_poses_match_the_simulation_and_drawn_poses_the_screen() {
    let mut field = RunnerField::new(1, RewindBackend::MoveColliders(MovedPoses::Frames));
    field.run(80);
    for age in [0.0, 5.0, 7.25, 12.5, 25.0] {
        let time = field.ago(age);
        let hit = field.shoot(time, 0.0).expect("the runner was there");
        assert_eq!((hit.group, hit.hit_box), (HitGroup::Body, 2), "{age} ticks ago");
        assert!((hit.distance - 9.875).abs() < 1e-3, "{age} ticks ago: {hit:?}");
    }
    let (old, new) = (field.ago(30.0), field.ago(-4.0));
    assert_eq!(field.shoot(old, 0.0), Err(Miss::NotPresent(NetId(1))), "a time before all records must miss");
    assert!(field.shoot(new, -4.0 * STRIDE).is_ok(), "a time after all records must use the newest");

    // On screens the runners stood still between two updates.
    let drawn = [RewindBackend::Table, RewindBackend::MoveColliders(MovedPoses::Drawn)];
    for backend in drawn {
        field.select(backend);
        field.run(1);
        let ages = 5..22;
        let missed = ages.filter(|age| {
            let time = field.ago(f64::from(*age) + 0.5);
            field.shoot(time, 0.0).is_err()
        });
        assert!((5..=13).contains(&missed.count()), "{backend:?}");
    }
}

#[test]
fn nearest_target_is_hit_and_all_colliders_return_to_the_present() {
    let mut field = RunnerField::new(4, RewindBackend::MoveColliders(MovedPoses::Frames));
    field.run(60);
    let time = field.ago(9.5);
    for _ in 0..3 {
        let first = field.shoot(time, 0.0).expect("a runner was there");
        assert_eq!(first.target, NetId(1));
        // If the last shot had left the colliders in the past, they would be missing here.
        let now = field.ago(0.0);
        assert_eq!(field.shoot(now, 0.0).expect("a runner is here").target, NetId(1));
        assert_eq!(field.shoot(now, -9.5 * STRIDE).map(|hit| hit.target), Err(Miss::NoTarget));
    }
    let third = field.runners[2];
    let from = Vec3::new(50.0 * STRIDE, 1.3, 0.0);
    let claimed = move |query: RewindQuery| {
        let only = |entity: Entity| entity == third;
        let filter = RewindFilter { predicate: Some(&only), ..default() };
        query
            .at(RewindTime::At(time))
            .expect("`RewindTime::At` must have no limits")
            .with_filter(filter)
            .cast_ray(from, Vec3::NEG_Z, 50.0)
    };
    let hit = field.app.world_mut().run_system_once(claimed).expect("the query must run");
    assert_eq!(hit.map(|hit| hit.target), Ok(NetId(3)));
}
