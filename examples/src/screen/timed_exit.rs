//! Timed screenshot and timed exit.

use std::path::PathBuf;

use bevy::{
    prelude::*,
    render::view::screenshot::{Screenshot, save_to_disk},
};

/// Takes a screenshot and exits after given times.
#[derive(Resource, Clone, Debug, Default)]
pub struct TimedPlugin {
    /// Time of the screenshot in seconds, and the file that it is saved to.
    pub screenshot: Option<(f32, PathBuf)>,
    /// Time of the exit, in seconds.
    pub exit_after: Option<f32>,
}

impl Plugin for TimedPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(self.clone()).add_systems(Update, run_timed_actions);
    }
}

fn run_timed_actions(
    time: Res<Time<Real>>,
    mut timed: ResMut<TimedPlugin>,
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    let now = time.elapsed_secs();
    if let Some((_, path)) = timed.screenshot.take_if(|(at, _)| now >= *at) {
        commands.spawn(Screenshot::primary_window()).observe(save_to_disk(path));
    }
    if timed.exit_after.is_some_and(|at| now >= at) {
        exit.write(AppExit::Success);
    }
}
