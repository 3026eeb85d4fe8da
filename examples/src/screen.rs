//! What the windows of the examples have in common.
//!
//! * [`display`] says whether there is a screen at all.
//! * [`WindowArgs`] are the options of a window, [`add_window`] opens it.
//! * [`ui`] is text, lines and buttons, [`slider`] is sliders.
//! * [`link`] is the simulated link's conditions as sliders and buttons.

mod checker;
mod display;
pub mod link;
pub mod slider;
mod timed;
pub mod ui;

use std::{path::PathBuf, process::ExitCode};

use bevy::{
    log::{Level, LogPlugin},
    prelude::*,
    window::{PresentMode, WindowResolution},
    winit::WinitSettings,
};
use bevy_unlag::guard::limit_logs;
use clap::Args;

pub use checker::checker;
pub use display::display;
pub use timed::TimedPlugin;

use crate::args::size;

/// What a window is like.
#[derive(Args, Clone, Debug)]
pub struct WindowArgs {
    /// Let a script play in the window.
    #[arg(long)]
    pub autoplay: bool,
    /// The window's size in pixels.
    #[arg(long, default_value = "1280x720", value_parser = size)]
    pub size: (u32, u32),
    /// No shadows and no anti-aliasing, for a machine that draws without a graphics card.
    #[arg(long)]
    pub plain: bool,
    /// Save a picture of the window to this file after --seconds, then leave.
    #[arg(long)]
    pub screenshot: Option<PathBuf>,
}

/// What the log shows of all examples when `RUST_LOG` says nothing.
const LOG_FILTER: &str = "wgpu=error,naga=warn,lightyear=warn,bevy_replicon=warn,bevy_unlag=info,\
                          unlag_examples=info,bevy_render::view::window::screenshot=info";

/// Adds Bevy's plugins with a window, and takes a picture after `seconds` if one is wanted. Call it
/// before the game's plugins, which need Bevy's. `log` is added to what the log shows.
pub fn add_window(app: &mut App, title: String, args: &WindowArgs, seconds: f32, log: &str) {
    let window = Window {
        title,
        resolution: WindowResolution::new(args.size.0, args.size.1),
        present_mode: PresentMode::AutoVsync,
        ..default()
    };
    let log = LogPlugin {
        level: Level::WARN,
        filter: format!("{LOG_FILTER},{log}"),
        // Nothing that a peer sends fills it.
        custom_layer: limit_logs,
        ..default()
    };
    let window = WindowPlugin { primary_window: Some(window), ..default() };
    app.add_plugins(DefaultPlugins.set(window).set(log))
        // A player in the background still has to answer the server.
        .insert_resource(WinitSettings::continuous())
        .add_plugins(TimedPlugin {
            screenshot: args.screenshot.clone().map(|path| (seconds, path)),
            exit_after: args.screenshot.is_some().then_some(seconds + 2.0),
        });
}

/// What the process ends with.
#[must_use]
pub fn exit_code(exit: AppExit) -> ExitCode {
    match exit {
        AppExit::Success => ExitCode::SUCCESS,
        AppExit::Error(code) => ExitCode::from(code.get()),
    }
}
