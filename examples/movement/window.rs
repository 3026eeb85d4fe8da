//! Window of the obstacle course.

use std::process::{ExitCode, Termination};

use bevy::prelude::*;
use bevy_unlag_movement::MoverGizmosPlugin;
use unlag_examples::screen;

use crate::{
    camera::{self, View},
    cli::Cli,
    controls, event_log, hud, key_bindings, labels,
    pawn::Pawn,
    pawn_visuals, scene, sim,
    spawning::CurrentStation,
    timing,
    tour::Tour,
    tuning::Tuning,
};

/// Opens the window at a station, and runs until it is closed.
pub fn run(cli: &Cli, tuning: Tuning, first: usize) -> ExitCode {
    let mut app = App::new();
    let seconds = cli.seconds.unwrap_or(10.0) as f32;
    screen::add_window(&mut app, "bevy_unlag: movement".to_owned(), &cli.window, seconds, "movement=info");
    sim::add(&mut app, tuning);
    app.add_plugins((scene::plugin, camera::plugin, pawn_visuals::plugin, timing::plugin))
        .add_plugins((labels::plugin, event_log::plugin, controls::plugin, key_bindings::plugin))
        .add_plugins(MoverGizmosPlugin::<Pawn>::default())
        .add_systems(Startup, hud::spawn)
        .insert_resource(CurrentStation(first));
    if cli.window.autoplay {
        app.world_mut().resource_mut::<Tour>().start(first);
    }
    if cli.window.autoplay || first > 0 {
        app.insert_resource(View::Third);
    }
    app.run().report()
}
