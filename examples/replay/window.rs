//! Window of the replay.

use bevy::prelude::*;
use bevy_unlag::{
    prelude::*,
    record::{Playback, PlaybackCamera, PlaybackLookPlugin, PlaybackPlugin},
};
use unlag_examples::{
    arena::{self, ArenaMap},
    hero::Hero,
    screen::{
        self, WindowArgs,
        scene::{camera, sun},
    },
    visuals,
    weapon_set::WeaponSet,
};

use crate::{cli::Cli, controls, dressing, hud, scrubber, shot_view};

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
        .insert_resource(shot_view::ShotView::new(cli.explain))
        .insert_resource(playback)
        .add_plugins((PlaybackPlugin, PlaybackLookPlugin::<Soldier>::default()))
        .add_plugins((PlaybackLookPlugin::<Hero>::default(), visuals::plugin))
        .add_plugins((dressing::plugin, controls::plugin, hud::plugin, scrubber::plugin, shot_view::plugin))
        .add_systems(Startup, (arena::spawn, spawn_scene));
    app
}

fn spawn_scene(window: Res<WindowArgs>, mut commands: Commands) {
    commands.spawn(sun(!window.plain, 60.0));
    let above = Transform::from_xyz(0.0, 15.0, 25.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((PlaybackCamera::default(), camera(window.plain, 75.0, above)));
}
