//! Window that is a client of a server in a thread, with a scripted driver on the same track.

use std::process::{ExitCode, Termination};

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use unlag_examples::{
    connection,
    kart::{
        app,
        background_race::BackgroundRace,
        driver, error_meter,
        ground_truth::GroundTruth,
        race_settings::{OwnerMode, RaceSettings},
    },
    screen,
};

use crate::{
    camera,
    cli::Cli,
    controls, kart_visuals, panel, scene,
    view_settings::{View, ViewSettings},
};

/// Opens the window and runs until it is closed.
///
/// # Errors
/// Returns one line when no screen is available, or no port for the server.
pub fn run(cli: &Cli) -> Result<ExitCode, String> {
    screen::display("use --headless to race without a window")?;
    let (switches, truth) = (RaceSettings::default(), GroundTruth::default());
    switches.set_rate(cli.rates.first().copied().unwrap_or(10.0));
    if cli.overwrite {
        switches.set_owner(OwnerMode::Overwrite);
    }
    let others = BackgroundRace::start(&switches, &truth)?;
    let mut app = App::new();
    app.set_error_handler(bevy::ecs::error::warn);
    screen::add_window(&mut app, "bevy_unlag: kart".to_owned(), &cli.window, cli.seconds as f32, "kart=info");
    app::add_client(&mut app, switches);
    app.insert_resource(truth)
        .insert_resource(ViewSettings {
            view: if cli.watch { View::Other } else { View::Own },
            ..ViewSettings::default()
        })
        .add_plugins((error_meter::plugin, scene::plugin, camera::plugin, kart_visuals::plugin))
        .add_systems(Startup, panel::spawn)
        .add_systems(Update, controls::look);
    if cli.window.autoplay {
        app.add_plugins(driver::plugin);
    } else {
        let steer = controls::steer.in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop);
        app.add_systems(RunFixedMainLoop, steer);
    }
    let mut sim = NetSim::new(cli.seed);
    match cli.preset {
        Some(preset) => sim.apply(preset),
        None => sim.set(cli.conditions()),
    }
    connection::connect(&mut app, others.server, connection::random_client_id(), sim)?;
    Ok(app.run().report())
}
