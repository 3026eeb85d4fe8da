//! Window of the replay.

use bevy::prelude::*;
use bevy_unlag::record::Playback;
use unlag_examples::{
    arena::{self, ArenaMap},
    playback_view::{self, hud::OwnHelp},
    screen,
    weapon_set::WeaponSet,
};

use crate::{cli::Cli, shot_view};

/// Creates the app.
pub fn app(cli: &Cli, mut playback: Playback) -> App {
    let mut app = App::new();
    app.set_error_handler(bevy::ecs::error::warn);
    let title = format!("bevy_unlag replay of {}", cli.file.display());
    screen::add_window(&mut app, title, &cli.window, cli.seconds as f32, "replay=info");
    if cli.window.autoplay {
        playback.play();
    }
    let map = ArenaMap::find(&playback.setup().level).unwrap_or_default();
    app.insert_resource(map)
        .insert_resource(WeaponSet::All.arsenal())
        .insert_resource(OwnHelp(vec![shot_view::HELP]))
        .insert_resource(shot_view::ShotView::new(cli.explain))
        .insert_resource(playback)
        .add_plugins((playback_view::plugin, shot_view::plugin))
        .add_systems(Startup, arena::spawn);
    app
}
