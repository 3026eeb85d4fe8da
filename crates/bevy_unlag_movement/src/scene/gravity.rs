//! Publication of the gravity of volumes and configuration, for projectiles and for extrapolated pawns.

use bevy::prelude::*;
use bevy_unlag_core::{LocalGravity, PoseSampler, WorldGravity};

use super::{MoverScene, volumes::Volumes};
use crate::{config::CapsuleConfig, step::up_at, step_state::gravity_strength};

/// Updates [`WorldGravity`] when a volume or the configuration has changed.
pub(super) fn update_world_gravity(
    scene: Res<MoverScene>,
    config: Res<CapsuleConfig>,
    mut gravity: ResMut<WorldGravity>,
    mut published_revision: Local<Option<u64>>,
) {
    let revision = Some(scene.volumes.revision());
    if *published_revision == revision && !config.is_changed() {
        return;
    }
    *published_revision = revision;
    let config = CapsuleConfig::clone(&config);
    // Without gravity of their own, volumes need not be searched.
    let volumes = if scene.volumes.have_gravity() { scene.volumes.clone() } else { Volumes::default() };
    *gravity = WorldGravity::new(move |point| gravity_at(&config, &volumes, point));
}

/// Sets the gravity of extrapolated pawns to that of class 0. Pawns of other classes and in volumes with a gravity of
/// their own bring theirs along: see [`PoseSampler::gravity`]. Checked in every tick: both sides must use the same,
/// also when a game replaces the sampler.
pub(super) fn set_sampler_gravity(config: Res<CapsuleConfig>, sampler: Option<ResMut<PoseSampler>>) {
    if let Some(mut sampler) = sampler.filter(|sampler| sampler.gravity != config.gravity) {
        sampler.gravity = config.gravity;
    }
}

/// Returns the gravity that a pawn would have at a point.
fn gravity_at(config: &CapsuleConfig, volumes: &Volumes, point: Vec3) -> LocalGravity {
    let volume = volumes.at(point);
    let up = up_at(config, volume.as_ref(), point);
    let scale = match volume.and_then(|volume| volume.gravity) {
        Some(_) => gravity_strength(config, volume.as_ref()) / config.gravity,
        None => 1.0,
    };
    // Where the configuration has no gravity, there is nothing to compare with.
    LocalGravity { up, scale: if scale.is_finite() { scale } else { 1.0 } }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use bevy::{ecs::system::SystemState, time::TimeUpdateStrategy};
    use bevy_rapier3d::prelude::Collider;
    use bevy_unlag_core::{
        BaseView, MoveModel, PathKnotConfig, PathRecorder, Snapshot, StepContext, Tick, ViewTime,
    };

    use super::*;
    use crate::{
        CapsuleInput, CapsuleModel, CapsuleState,
        plugin::MovementPlugin,
        scene::sync::sync,
        volume::{GravityField, MoveVolume, VolumeId},
    };

    /// Returns the gravity at a point as it is published for the next tick.
    fn published(app: &mut App, point: Vec3) -> LocalGravity {
        let world = app.world_mut();
        assert!(world.run_system_cached(sync).is_ok());
        assert!(world.run_system_cached(update_world_gravity).is_ok());
        world.resource::<WorldGravity>().at(point).expect("gravity is known")
    }

    #[test]
    fn published_gravity_is_that_of_the_volume_or_the_configuration() {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin));
        let (centre, ordinary) = (Vec3::X * 100.0, LocalGravity::default());
        let side = centre + Vec3::X * 10.0;
        assert_eq!(published(&mut app, side), ordinary);

        let field = GravityField::Towards { centre, strength: CapsuleConfig::default().gravity * 0.5 };
        let planet = MoveVolume { gravity: Some(field), ..MoveVolume::trigger(VolumeId(1)) };
        let place = Transform::from_translation(centre);
        let planet = app.world_mut().spawn((planet, Collider::ball(30.0), place)).id();
        assert_eq!(published(&mut app, side), LocalGravity { up: Vec3::X, scale: 0.5 });
        assert_eq!(published(&mut app, Vec3::ZERO), ordinary, "outside");

        let lake = MoveVolume { priority: 1, ..MoveVolume::water(VolumeId(2)) };
        app.world_mut().spawn((lake, Collider::ball(2.0), Transform::from_translation(side)));
        assert_eq!(published(&mut app, side), ordinary, "as for a pawn in that volume");

        app.world_mut().resource_mut::<CapsuleConfig>().up = Vec3::NEG_Y;
        assert_eq!(published(&mut app, Vec3::ZERO).up, Vec3::NEG_Y);
        app.world_mut().entity_mut(planet).despawn();
        assert_eq!(published(&mut app, centre - Vec3::X * 10.0).up, Vec3::NEG_Y);
    }
    /// Returns an app that runs a tick in each update.
    fn ticking_app(config: CapsuleConfig) -> App {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin))
            .init_resource::<PoseSampler>()
            .insert_resource(config)
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs(1) / 64));
        app
    }

    /// Fails without `set_sampler_gravity`.
    #[test]
    fn sampler_has_the_gravity_of_class_0_also_after_a_change_of_either() {
        let mut app = ticking_app(CapsuleConfig { gravity: 7.0, ..CapsuleConfig::default() });
        let gravity = |app: &mut App| {
            (0..3).for_each(|_| app.update());
            app.world().resource::<PoseSampler>().gravity
        };
        assert_eq!(gravity(&mut app), 7.0);
        app.insert_resource(PoseSampler::default());
        assert_eq!(gravity(&mut app), 7.0, "the sampler was replaced");
        app.world_mut().resource_mut::<CapsuleConfig>().gravity = 12.0;
        assert_eq!(gravity(&mut app), 12.0);
    }

    /// Returns the error in metres of a falling capsule that is extrapolated for 8 ticks, with the app's sampler.
    fn extrapolation_error(app: &mut App, start: CapsuleState) -> f32 {
        (0..4).for_each(|_| app.update());
        let sampler = *app.world().resource::<PoseSampler>();
        let entity = app.world_mut().spawn_empty().id();
        let mut system =
            SystemState::<(<CapsuleModel as MoveModel>::World, Res<'static, CapsuleConfig>)>::new(
                app.world_mut(),
            );
        let (world, config) = system.get(app.world()).expect("the plugin provides both");
        let (mut track, mut state, mut sent) = (PathRecorder::default(), start, None::<Snapshot>);
        for tick in 1..=18 {
            let ctx = StepContext { tick: Tick(tick), dt: sampler.tick_seconds, entity, replaying: false };
            state =
                CapsuleModel::step(&config, &state, &CapsuleInput::default(), &ctx, &world, &mut Vec::new());
            let snapshot = CapsuleModel::snapshot(&state, Tick(tick));
            track.record_exactly(snapshot, CapsuleModel::velocity(&state), sampler.tick_seconds);
            if tick == 10 {
                let update = track.update_for(&PathKnotConfig::default(), &sampler, false);
                sent = update.map(|update| update.snapshot);
            }
        }
        let sent = sent.expect("ticks were recorded");
        let drawn = sampler.extrapolate(&sent, ViewTime::at(Tick(18)), &BaseView::default());
        drawn.position.distance(CapsuleModel::position(&state))
    }

    /// Fails without `set_sampler_gravity`: the first case. The others fail without `fall_as` in the core crate.
    #[test]
    fn falls_are_extrapolated_in_the_gravity_of_class_and_volume() {
        let high = CapsuleState::at(Vec3::Y * 50.0);
        let mut config = CapsuleConfig::default();
        let light =
            config.add_class(CapsuleConfig { gravity: config.gravity * 0.3, ..CapsuleConfig::default() });
        let light = light.expect("there is room for a class");
        let mut app = ticking_app(config);
        let field = GravityField::Towards { centre: Vec3::ZERO, strength: 20.0 };
        let planet = MoveVolume { gravity: Some(field), ..MoveVolume::trigger(VolumeId(1)) };
        app.world_mut().spawn((planet, Collider::ball(30.0), Transform::default()));
        let side = CapsuleState::at(Vec3::X * 20.0);
        let cases =
            [("class 0", high), ("class 1", CapsuleState { class: light, ..high }), ("a planet", side)];
        for (name, start) in cases {
            let error = extrapolation_error(&mut app, start);
            assert!(error < 0.015, "{name}: {error} m beside the fall");
        }
    }
}
