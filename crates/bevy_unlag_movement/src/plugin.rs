//! Sets the scene and rapier up so that moves can be made.

use bevy::{prelude::*, transform::systems::mark_dirty_trees};
use bevy_rapier3d::plugin::{
    NoUserData, PhysicsSet, RapierPhysicsPlugin, RapierTransformPropagateSet, TimestepMode,
};
use bevy_unlag_core::{BasePoses, TickPlugin};

use crate::{CapsuleConfig, scene};

/// Adds [`CapsuleConfig`], [`MoverScene`](crate::MoverScene) and, in the fixed schedule, rapier,
/// unless they are there, and moves every [`MovementBase`](crate::MovementBase). Add it after the
/// plugin groups of Bevy, and after rapier if you add rapier yourself.
#[derive(Clone, Copy, Debug)]
pub struct MovementPlugin {
    /// Seconds of one fixed tick; default 1/64. It must be the same on both sides.
    pub tick_seconds: f32,
}

fn warn_of_nonsense(config: Res<CapsuleConfig>) {
    if let Err(error) = config.check() {
        warn!("{error}");
    }
}

impl Default for MovementPlugin {
    fn default() -> Self {
        Self { tick_seconds: 1.0 / 64.0 }
    }
}

impl Plugin for MovementPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<TransformPlugin>() {
            app.add_plugins(TransformPlugin);
        }
        if !app.is_plugin_added::<TickPlugin>() {
            app.add_plugins(TickPlugin);
        }
        app.init_resource::<CapsuleConfig>()
            .init_resource::<scene::MoverScene>()
            .init_resource::<BasePoses>()
            .insert_resource(Time::<Fixed>::from_seconds(f64::from(self.tick_seconds)));
        app.add_systems(PreUpdate, warn_of_nonsense.run_if(resource_exists_and_changed::<CapsuleConfig>));
        scene::add_systems(app);
        if app.is_plugin_added::<RapierPhysicsPlugin<NoUserData>>() {
            return;
        }
        app.insert_resource(TimestepMode::Fixed { dt: self.tick_seconds, substeps: 1 })
            .add_plugins(RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule())
            // Without this mark, which bevy_rapier forgets, Bevy's parallel propagation skips
            // entities with children or a parent: rapier would see them where they were.
            .add_systems(
                FixedUpdate,
                mark_dirty_trees.in_set(PhysicsSet::SyncBackend).before(RapierTransformPropagateSet),
            );
    }
}
