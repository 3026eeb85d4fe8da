//! The colliders of the other backend: what they answer, and that they are there only when they are wanted.

use core::time::Duration;

use bevy::{ecs::system::RunSystemOnce, prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{CurrentTick, KnotConfig, NetId, ProxySmoothing, Sampler, ViewTime};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, MovementPlugin};
use bevy_unlag_rewind::{
    FrameHistory, HUMANOID_LIMBS, HitGroup, Miss, MovedColliders, MovedPoses, RewindBackend, RewindFilter,
    RewindPlugin, RewindQuery, RewindTime, TargetHit, humanoid_hit_boxes, humanoid_rig,
};
use bevy_unlag_smoothing::PublishedPath;

const TICK: Duration = Duration::from_nanos(15_625_000);
/// Metres in a tick.
const STRIDE: f32 = 0.1;

struct Field {
    app: App,
    runners: Vec<Entity>,
}

impl Field {
    /// Runners along X, one behind the other, who are shown as they were last sent: every eight ticks.
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
                let mut state = runner.get_mut::<CapsuleState>().expect("a runner");
                state.position.x += STRIDE;
                state.velocity = Vec3::X * STRIDE * 64.0;
                if now.0.is_multiple_of(8) {
                    let mut history = runner.get_mut::<PublishedPath>().expect("a history");
                    let raw = Some(&ProxySmoothing::Raw);
                    history.send_present(&KnotConfig::default(), &Sampler::default(), raw);
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

    /// A level shot at the height of a chest, at what is `ahead` of where the first one was at `time`.
    fn shoot(&mut self, time: ViewTime, ahead: f32) -> Result<TargetHit, Miss> {
        let age = -time.ticks_since(self.app.world().resource::<CurrentTick>().0);
        let now = self.app.world().get::<CapsuleState>(self.runners[0]).expect("a runner").position.x;
        let from = Vec3::new(now - age * STRIDE + ahead, 1.3, 0.0);
        let look = move |query: RewindQuery| {
            query.at(RewindTime::At(time)).expect("no limits").cast_ray(from, Vec3::NEG_Z, 50.0)
        };
        self.app.world_mut().run_system_once(look).expect("the query runs")
    }
}

#[test]
fn there_are_colliders_and_records_only_while_they_are_wanted() {
    let mut field = Field::new(5, RewindBackend::Table);
    let count = |field: &Field| {
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
    // 400 ms, and one before.
    assert_eq!(count(&field), (colliders, 5 * 27));
    field.select(RewindBackend::Table);
    field.run(1);
    assert_eq!(count(&field), (0, 0));
}

#[test]
fn records_say_where_somebody_was_and_not_where_it_was_drawn() {
    let mut field = Field::new(1, RewindBackend::MoveColliders(MovedPoses::Frames));
    field.run(80);
    for age in [0.0, 5.0, 7.25, 12.5, 25.0] {
        let time = field.ago(age);
        let hit = field.shoot(time, 0.0).expect("it was there");
        assert_eq!((hit.group, hit.hit_box), (HitGroup::Body, 2), "{age} ticks ago");
        assert!((hit.distance - 9.875).abs() < 1e-3, "{age} ticks ago: {hit:?}");
    }
    let (old, new) = (field.ago(30.0), field.ago(-4.0));
    assert_eq!(field.shoot(old, 0.0), Err(Miss::Gone(NetId(1))), "older than all records");
    assert!(field.shoot(new, -4.0 * STRIDE).is_ok(), "newer than all is the newest");

    // On screens it stood still between two updates.
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
fn who_stands_before_the_others_is_hit_and_all_are_put_back() {
    let mut field = Field::new(4, RewindBackend::MoveColliders(MovedPoses::Frames));
    field.run(60);
    let time = field.ago(9.5);
    for _ in 0..3 {
        let first = field.shoot(time, 0.0).expect("somebody was there");
        assert_eq!(first.target, NetId(1));
        // Had the last shot left them there, they would be here no more.
        let now = field.ago(0.0);
        assert_eq!(field.shoot(now, 0.0).expect("somebody is here").target, NetId(1));
        assert_eq!(field.shoot(now, -9.5 * STRIDE).map(|hit| hit.target), Err(Miss::Nobody));
    }
    let third = field.runners[2];
    let from = Vec3::new(50.0 * STRIDE, 1.3, 0.0);
    let claimed = move |query: RewindQuery| {
        let only = |entity: Entity| entity == third;
        let filter = RewindFilter { only: Some(&only), ..default() };
        query.at(RewindTime::At(time)).expect("no limits").of(filter).cast_ray(from, Vec3::NEG_Z, 50.0)
    };
    let hit = field.app.world_mut().run_system_once(claimed).expect("the query runs");
    assert_eq!(hit.map(|hit| hit.target), Ok(NetId(3)));
}
