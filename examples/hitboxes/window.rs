//! Window of the editor.

use std::process::ExitCode;

use bevy::prelude::*;
use unlag_examples::screen::{self, exit_code};

use crate::{
    camera::CameraPlugin,
    cli::Cli,
    document::Document,
    keys::KeysPlugin,
    panel::PanelPlugin,
    pawn::PawnPlugin,
    picking::PickPlugin,
    stance::{Stance, StancePlugin},
    view::ViewPlugin,
};

/// Opens the window and runs until it is closed.
pub fn run(cli: &Cli, document: Document) -> ExitCode {
    let mut app = App::new();
    let title = format!("bevy_unlag: {}", document.path.display());
    screen::add_window(&mut app, title, &cli.window, cli.seconds as f32, "hitboxes=info");
    app.insert_resource(document).add_plugins((
        StancePlugin,
        PawnPlugin,
        ViewPlugin,
        CameraPlugin { plain: cli.window.plain },
        PickPlugin,
        KeysPlugin,
        PanelPlugin,
    ));
    if cli.window.autoplay {
        app.insert_resource(Stance { speed: 3.0, walking: true, ..default() });
    }
    exit_code(app.run())
}
