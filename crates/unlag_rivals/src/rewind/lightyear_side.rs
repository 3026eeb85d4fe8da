//! lightyear side of the rewind benchmark: a server with avian's physics, set up like lightyear's own example
//! of lag compensation.

use avian3d::prelude::{
    Collider, CollisionLayers, Gravity, LayerMask, PhysicsInterpolationPlugin, PhysicsPlugins,
    PhysicsTransformPlugin, Position, RigidBody, Rotation, SleepingDisabled, SpatialQueryFilter,
};
use bevy::{prelude::*, state::app::StatesPlugin, time::TimeUpdateStrategy};
use lightyear::{
    core::time::TickDelta,
    interpolation::plugin::InterpolationDelay,
    prelude::{
        LocalTimeline,
        server::{Server, ServerPlugins},
    },
};
use lightyear_avian3d::prelude::{
    LagCompensationHistory, LagCompensationPlugin, LagCompensationSpatialQuery, LagCompensationSystems,
    LightyearAvianPlugin,
};

use super::{
    Shots, Side,
    targets::{AGO, FIRED, HALF, PERIOD, RANGE, Target, TargetScene},
};
use crate::scene::{TICK, finish_single_threaded};

/// Server whose targets follow their paths.
pub struct LightyearSide {
    app: App,
}

/// Path of a target.
#[derive(Component)]
struct TargetPath(Target);

/// Setup of the targets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setup {
    /// No lag compensation; targets cannot be hit.
    WithoutHistory,
    /// Each target is spawned at its first position, as in lightyear's example. The offset between that
    /// position and the envelope remains while avian detects contacts and sorts its tree.
    AsItComes,
    /// Each target is spawned at the world's origin, so that its envelope stays with it: a setup for experts.
    Tuned,
}

impl LightyearSide {
    /// Creates a server with these targets.
    pub fn new(crowd: &TargetScene, setup: Setup) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, StatesPlugin, ServerPlugins { tick_duration: TICK }))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .add_plugins(LightyearAvianPlugin { register_physics_components: false, ..default() })
            .add_plugins(
                PhysicsPlugins::default()
                    .build()
                    .disable::<PhysicsTransformPlugin>()
                    .disable::<PhysicsInterpolationPlugin>(),
            )
            .insert_resource(Gravity(Vec3::ZERO))
            .add_plugins(LagCompensationPlugin)
            .add_systems(FixedUpdate, move_targets)
            .add_systems(FixedPostUpdate, fire.in_set(LagCompensationSystems::Collisions));
        app.world_mut().spawn(Server::default());
        finish_single_threaded(&mut app);
        let spawn = |target: &Target| {
            let (place, turned) =
                if setup == Setup::Tuned { (Vec3::ZERO, Quat::IDENTITY) } else { target.at(0) };
            let entity = app.world_mut().spawn((
                RigidBody::Kinematic,
                Collider::cuboid(HALF.x * 2.0, HALF.y * 2.0, HALF.z * 2.0),
                Position(place),
                Rotation(turned),
                TargetPath(*target),
                // Contacts between envelopes would cost avian time in every tick.
                CollisionLayers::new(LayerMask(2), LayerMask::NONE),
                // Kinematic targets fall asleep twice a second. In that tick avian leaves the envelopes of
                // targets that were not spawned at the origin elsewhere, and nearly all shots miss.
                SleepingDisabled,
            ));
            entity.id()
        };
        let targets: Vec<_> = crowd.targets.iter().map(spawn).collect();
        if setup != Setup::WithoutHistory {
            for target in &targets {
                app.world_mut().entity_mut(*target).insert(LagCompensationHistory::default());
            }
        }
        app.insert_resource(Shots { rays: crowd.rays.clone(), targets, ..default() });
        Self { app }
    }

    /// Sets whether a ray that starts in an envelope hits it there, or, as in lightyear's example, where it
    /// leaves the envelope.
    pub fn solid(mut self, solid: bool) -> Self {
        self.shots().solid = solid;
        self
    }
}

impl Side for LightyearSide {
    fn app(&mut self) -> &mut App {
        &mut self.app
    }
}

fn move_targets(
    timeline: Res<LocalTimeline>,
    mut targets: Query<(&TargetPath, &mut Position, &mut Rotation)>,
) {
    for (target, mut position, mut rotation) in &mut targets {
        let (place, turned) = target.0.at(timeline.tick().0);
        position.0 = place;
        rotation.set_if_neq(Rotation(turned));
    }
}

fn fire(timeline: Res<LocalTimeline>, query: LagCompensationSpatialQuery, mut shots: ResMut<Shots>) {
    if timeline.tick().0 % PERIOD != FIRED || !shots.due {
        return;
    }
    let delay = InterpolationDelay { delay: TickDelta::from_duration(AGO, TICK).into() };
    let mut filter = SpatialQueryFilter::default();
    let solid = shots.solid;
    shots.fire(|ray| {
        let hit = query.cast_ray(delay, ray.origin, ray.direction, RANGE, solid, &mut filter);
        hit.map(|hit| (hit.entity, hit.distance))
    });
}
