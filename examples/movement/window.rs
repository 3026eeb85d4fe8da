//! Window of the obstacle course.

use std::process::ExitCode;

use bevy::prelude::*;
use bevy_unlag_movement::MoverGizmosPlugin;
use unlag_examples::screen::{self, exit_code};

use crate::{
    camera::{CameraPlugin, View},
    cli::Cli,
    controls::ControlsPlugin,
    event_log::EventsPlugin,
    hud::HudPlugin,
    key_bindings::SwitchesPlugin,
    labels::LabelsPlugin,
    pawn::Pawn,
    pawn_visuals::BodyPlugin,
    scene::ViewPlugin,
    sim::SimPlugin,
    spawning::CurrentStation,
    timing::TimingPlugin,
    tour::Tour,
    tuning::Tuning,
};

/// Opens the window at a station, and runs until it is closed.
pub fn run(cli: &Cli, tuning: Tuning, first: usize) -> ExitCode {
    let mut app = App::new();
    let seconds = cli.seconds.unwrap_or(10.0) as f32;
    screen::add_window(&mut app, "bevy_unlag: movement".to_owned(), &cli.window, seconds, "movement=info");
    app.add_plugins(SimPlugin { tuning })
        .add_plugins((
            ViewPlugin,
            CameraPlugin { plain: cli.window.plain },
            BodyPlugin,
            LabelsPlugin,
            HudPlugin,
            EventsPlugin,
            TimingPlugin,
            ControlsPlugin,
            SwitchesPlugin,
            MoverGizmosPlugin::<Pawn>::default(),
        ))
        .insert_resource(CurrentStation(first));
    if cli.window.autoplay {
        app.world_mut().resource_mut::<Tour>().start(first);
    }
    if cli.window.autoplay || first > 0 {
        app.insert_resource(View::Third);
    }
    exit_code(app.run())
}
