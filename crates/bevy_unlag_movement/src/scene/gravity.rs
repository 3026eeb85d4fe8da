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

/// Sets the gravity of extrapolated pawns to that of the configuration. Checked in every tick: both sides must use
/// the same, also when a game replaces the sampler.
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
    use bevy_rapier3d::prelude::Collider;

    use super::*;
    use crate::{
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
}
