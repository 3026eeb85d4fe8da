//! Plugin that sets up the scene and rapier for moves.

use bevy::{prelude::*, transform::systems::mark_dirty_trees};
use bevy_rapier3d::plugin::{
    NoUserData, PhysicsSet, RapierPhysicsPlugin, RapierTransformPropagateSet, TimestepMode,
};
use bevy_unlag_core::{
    BasePoses, SetupDiagnostics, SetupIssue, SimulationRate, SimulationRatePlugin, TickPlugin, TickSystems,
    WorldGravity,
};

use crate::{base, config::CapsuleConfig, reflection, scene};

/// Adds [`CapsuleConfig`], [`MoverScene`](crate::MoverScene) and, in the fixed schedule, rapier, unless
/// they are already there, and drives every [`MovementBase`](crate::MovementBase). Add it after Bevy's
/// plugin groups, and after rapier if you add rapier yourself.
#[derive(Clone, Copy, Debug, Default)]
pub struct MovementPlugin;

fn warn_about_invalid_config(config: Res<CapsuleConfig>) {
    if let Err(error) = config.check() {
        warn!("{error}");
    }
}

impl Plugin for MovementPlugin {
    fn build(&self, app: &mut App) {
        if !app.world().contains_resource::<SimulationRate>() {
            app.add_plugins(SimulationRatePlugin::default());
        }
        let rate = *app.world().resource::<SimulationRate>();
        bevy_unlag_core::require_plugin(app, TransformPlugin);
        bevy_unlag_core::require_plugin(app, TickPlugin);
        reflection::register_types(app);
        app.init_resource::<CapsuleConfig>()
            .init_resource::<scene::MoverScene>()
            .init_resource::<BasePoses>()
            .init_resource::<WorldGravity>()
            .init_resource::<SetupDiagnostics>();
        app.add_systems(
            PreUpdate,
            warn_about_invalid_config.run_if(resource_exists_and_changed::<CapsuleConfig>),
        );
        scene::add_systems(app);
        base::add_systems(app);
        if app.is_plugin_added::<RapierPhysicsPlugin<NoUserData>>() {
            app.add_systems(Startup, check_physics);
            return;
        }
        app.insert_resource(TimestepMode::Fixed { dt: rate.tick_seconds(), substeps: 1 })
            .add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
            .configure_sets(
                FixedUpdate,
                (PhysicsSet::SyncBackend, PhysicsSet::StepSimulation, PhysicsSet::Writeback)
                    .in_set(TickSystems),
            )
            // Works around a missing mark in bevy_rapier: without it, Bevy's parallel propagation skips
            // entities with children or a parent, and rapier would see them at their old place.
            .add_systems(
                FixedUpdate,
                mark_dirty_trees.in_set(PhysicsSet::SyncBackend).before(RapierTransformPropagateSet),
            );
    }
}

/// Checks that rapier, if the game added it itself, steps once per tick.
fn check_physics(
    mode: Option<Res<TimestepMode>>,
    fixed: Res<Time<Fixed>>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    let tick = fixed.timestep().as_secs_f32();
    let steps =
        matches!(mode.as_deref(), Some(TimestepMode::Fixed { dt, .. }) if (dt - tick).abs() < tick * 1e-4);
    if !steps {
        diagnostics.report(SetupIssue::Physics, || {
            format!(
                "rapier does not step once per tick of {tick} s: let MovementPlugin add rapier, or add it \
                 in_fixed_schedule() and insert TimestepMode::Fixed {{ dt: {tick}, substeps: 1 }}"
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rapier_plugin_that_does_not_step_once_per_tick_is_reported() {
        let found = |own: bool, mode: Option<TimestepMode>| {
            let mut app = App::new();
            app.add_plugins((MinimalPlugins, TransformPlugin));
            if own {
                app.add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule());
            }
            if let Some(mode) = mode {
                app.insert_resource(mode);
            }
            app.add_plugins(MovementPlugin);
            app.finish();
            app.cleanup();
            app.update();
            app.world().resource::<SetupDiagnostics>().has(SetupIssue::Physics)
        };
        assert!(!found(false, None));
        assert!(found(true, None), "default timestep mode");
        assert!(found(true, Some(TimestepMode::Fixed { dt: 1.0 / 60.0, substeps: 1 })));
        assert!(!found(true, Some(TimestepMode::Fixed { dt: 1.0 / 64.0, substeps: 1 })));
    }
}
