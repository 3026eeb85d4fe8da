//! Apps without a window, prepared for stepping.

use bevy::{
    ecs::{error::FallbackErrorHandler, schedule::SingleThreadedExecutor},
    prelude::*,
    state::app::StatesPlugin,
    transform::StaticTransformOptimizations,
};

/// Creates an app with the Bevy plugins that a headless server or client needs. An error of a system is
/// logged and does not panic, because bytes from a peer can make lightyear's systems fail.
pub fn headless_app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, StatesPlugin));
    app.insert_resource(FallbackErrorHandler(bevy::ecs::error::warn));
    // With a dozen entities the optimization saves less than waking its threads costs.
    app.insert_resource(StaticTransformOptimizations::Disabled);
    app
}

/// Finishes an app that is stepped by hand. Its schedules become single-threaded: the order of systems is
/// fixed, so that equal seeds give equal runs. With several apps on one machine it is also faster.
pub fn finish(app: &mut App) {
    app.finish();
    app.cleanup();
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
}
