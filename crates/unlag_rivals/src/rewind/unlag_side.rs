//! `bevy_unlag` side of the rewind benchmark: a server with rapier's physics that records the targets'
//! transforms.

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{CurrentTick, LimbRig, MoveSystems, NetId, PathKnotConfig, PoseSampler, ViewTime};
use bevy_unlag_movement::{CapsuleModel, MovementPlugin};
use bevy_unlag_rewind::{
    BodyBounds, HitBox, HitBoxes, HitGroup, QueryView, RewindFilter, RewindPlugin, RewindQuery,
    RewindSystems, RewindTime,
};

use super::{
    Shots, Side,
    targets::{AGO, FIRED, HALF, PERIOD, RANGE, Target, TargetScene},
};
use crate::scene::{TICK, finish_single_threaded};
use bevy_unlag_smoothing::{PublishedPath, RecordTransform};

/// Ticks between two updates.
const INTERVAL: u32 = 3;

/// Server whose targets follow their paths.
pub struct UnlagSide {
    app: App,
}

/// Path of a target.
#[derive(Component)]
struct TargetPath(Target);

impl UnlagSide {
    /// Creates a server with these targets. Without `remembers` they have no history and cannot be hit.
    pub fn new(crowd: &TargetScene, remembers: bool) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .add_plugins(RewindPlugin::<CapsuleModel>::default())
            .add_systems(FixedUpdate, move_targets.in_set(MoveSystems::Step))
            .add_systems(
                FixedPostUpdate,
                (
                    send.after(RewindSystems::Record).before(RewindSystems::UpdateTable),
                    fire.after(RewindSystems::UpdateTable),
                ),
            );
        finish_single_threaded(&mut app);
        let bounds = BodyBounds { radius: HALF.x.hypot(HALF.z), low: -HALF.y, high: HALF.y };
        let shape = Collider::cuboid(HALF.x, HALF.y, HALF.z);
        let boxes = HitBoxes::new([HitBox::new(0, HitGroup::Body, shape)], bounds);
        let rig = LimbRig::rigid();
        let spawn = |(id, target): (u16, &Target)| {
            let (place, turned) = target.at(0);
            let place = Transform::from_translation(place).with_rotation(turned);
            let mut entity = app.world_mut().spawn((TargetPath(*target), place));
            if remembers {
                entity.insert((NetId(id), RecordTransform::default(), boxes.clone(), rig));
            }
            entity.id()
        };
        let targets = (1..).zip(&crowd.targets).map(spawn).collect();
        app.insert_resource(Shots { rays: crowd.rays.clone(), targets, ..default() });
        Self { app }
    }
}

impl Side for UnlagSide {
    fn app(&mut self) -> &mut App {
        &mut self.app
    }
}

fn move_targets(tick: Res<CurrentTick>, mut targets: Query<(&TargetPath, &mut Transform)>) {
    for (target, mut transform) in &mut targets {
        let (place, turned) = target.0.at(tick.0.0);
        transform.translation = place;
        transform.rotation = turned;
    }
}

fn send(
    tick: Res<CurrentTick>,
    config: Res<PathKnotConfig>,
    sampler: Res<PoseSampler>,
    mut targets: Query<&mut PublishedPath>,
) {
    if tick.0.0.is_multiple_of(INTERVAL) {
        for mut history in &mut targets {
            core::hint::black_box(history.next_update(&config, &sampler, None));
        }
    }
}

fn fire(tick: Res<CurrentTick>, query: RewindQuery, mut shots: ResMut<Shots>) {
    if tick.0.0 % PERIOD != FIRED || !shots.due {
        return;
    }
    let time = ViewTime::after(tick.0, -AGO.as_secs_f64() / TICK.as_secs_f64());
    shots.fire(|ray| {
        // One query per shot, as for shots of different players.
        let then = query.at(RewindTime::View(QueryView::from(time))).ok()?;
        let hit = then.with_filter(RewindFilter::exclude(Entity::PLACEHOLDER)).cast_ray(
            ray.origin,
            *ray.direction,
            RANGE,
        );
        hit.ok().map(|hit| (hit.entity, hit.distance))
    });
}
