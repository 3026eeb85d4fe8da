//! View of a playback, shared by the replay and by spectators: bodies, keys, texts, and a bar of the whole match.

pub mod controls;
mod dressing;
pub mod hud;
mod scrubber;

use bevy::prelude::*;
use bevy_unlag::{
    prelude::*,
    record::{PlaybackCamera, PlaybackLookPlugin, PlaybackPlugin},
};

use crate::{
    hero::Hero,
    screen::{
        WindowArgs,
        scene::{camera, sun},
    },
    visuals,
};

/// Shows the [`Playback`](bevy_unlag::record::Playback) of the app, once it has one. The app spawns the level.
pub fn plugin(app: &mut App) {
    if !app.is_plugin_added::<PlaybackPlugin>() {
        app.add_plugins(PlaybackPlugin);
    }
    app.add_plugins((PlaybackLookPlugin::<Soldier>::default(), PlaybackLookPlugin::<Hero>::default()))
        .add_plugins((visuals::plugin, dressing::plugin, controls::plugin, hud::plugin, scrubber::plugin))
        .add_systems(Startup, spawn_scene);
}

fn spawn_scene(window: Res<WindowArgs>, mut commands: Commands) {
    commands.spawn(sun(!window.plain, 60.0));
    let above = Transform::from_xyz(0.0, 15.0, 25.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((PlaybackCamera::default(), camera(window.plain, 75.0, above)));
}
