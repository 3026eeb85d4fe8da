//! lightyear's side: a server with avian's physics, as in lightyear's own example of lag compensation.

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
    crowd::{AGO, Crowd, FIRED, HALF, PERIOD, RANGE, Target},
    finish,
};
use crate::scene::TICK;

/// A server whose targets are moved by hand.
pub struct Theirs {
    app: App,
}

/// Which target this is, and its way.
#[derive(Component)]
struct Walks(Target);

/// How the targets are set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setup {
    /// Without lag compensation: nobody can shoot.
    Forgetful,
    /// Each is spawned where it first is, as in lightyear's example. That place stays between it and its envelope
    /// while avian looks for contacts and sorts its tree.
    AsItComes,
    /// Each is spawned at the world's origin, and its envelope stays with it: for somebody who knows.
    Tuned,
}

impl Theirs {
    /// With these targets.
    pub fn new(crowd: &Crowd, setup: Setup) -> Self {
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
            .add_systems(FixedUpdate, walk)
            .add_systems(FixedPostUpdate, fire.in_set(LagCompensationSystems::Collisions));
        app.world_mut().spawn(Server::default());
        finish(&mut app);
        let spawn = |target: &Target| {
            let (place, turned) =
                if setup == Setup::Tuned { (Vec3::ZERO, Quat::IDENTITY) } else { target.at(0) };
            let entity = app.world_mut().spawn((
                RigidBody::Kinematic,
                Collider::cuboid(HALF.x * 2.0, HALF.y * 2.0, HALF.z * 2.0),
                Position(place),
                Rotation(turned),
                Walks(*target),
                // Envelopes would have contacts with each other, which avian would find in every tick.
                CollisionLayers::new(LayerMask(2), LayerMask::NONE),
                // What is moved by hand falls asleep twice a second. In that tick avian leaves the envelope of who
                // was not spawned at the origin elsewhere, and nearly all shots are lost.
                SleepingDisabled,
            ));
            entity.id()
        };
        let targets: Vec<_> = crowd.targets.iter().map(spawn).collect();
        if setup != Setup::Forgetful {
            for target in &targets {
                app.world_mut().entity_mut(*target).insert(LagCompensationHistory::default());
            }
        }
        app.insert_resource(Shots { rays: crowd.rays.clone(), targets, ..default() });
        Self { app }
    }

    /// Whether a ray that starts in an envelope hits it there, or where the ray leaves it, as in lightyear's
    /// example.
    pub fn solid(mut self, solid: bool) -> Self {
        self.shots().solid = solid;
        self
    }
}

impl Side for Theirs {
    fn app(&mut self) -> &mut App {
        &mut self.app
    }
}

fn walk(timeline: Res<LocalTimeline>, mut targets: Query<(&Walks, &mut Position, &mut Rotation)>) {
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
