//! Window of the editor.

use std::process::{ExitCode, Termination};

use bevy::prelude::*;
use unlag_examples::screen;

use crate::{
    camera,
    cli::Cli,
    document::Document,
    keys, panel, pawn, picking,
    stance::{self, Stance},
    view,
};

/// Opens the window and runs until it is closed.
pub fn run(cli: &Cli, document: Document) -> ExitCode {
    let mut app = App::new();
    let title = format!("bevy_unlag: {}", document.path.display());
    screen::add_window(&mut app, title, &cli.window, cli.seconds as f32, "hitboxes=info");
    app.insert_resource(document)
        .init_resource::<Stance>()
        .add_plugins((pawn::plugin, view::plugin, panel::plugin))
        .add_systems(Startup, camera::spawn)
        .add_systems(Update, (stance::walk, camera::turn, picking::pick, keys::edit, keys::pose));
    if cli.window.autoplay {
        app.insert_resource(Stance { speed: 3.0, walking: true, ..default() });
    }
    app.run().report()
}
