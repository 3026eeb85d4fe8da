//! Shared window code of the examples.
//!
//! * [`display`]: check for a screen.
//! * [`WindowArgs`]: command-line options of a window; [`add_window`] opens it.
//! * [`ui`]: text, lines and buttons; [`slider`]: sliders.
//! * [`link_controls`]: sliders and buttons for the conditions of the simulated link.

mod checker;
mod display;
pub mod link_controls;
pub mod slider;
mod timed_exit;
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

pub use checker::checkerboard;
pub use display::display;
pub use timed_exit::TimedPlugin;

use crate::args::size;

/// Options of a window.
#[derive(Args, Clone, Debug)]
pub struct WindowArgs {
    /// Let a script play in the window.
    #[arg(long)]
    pub autoplay: bool,
    /// Window size in pixels.
    #[arg(long, default_value = "1280x720", value_parser = size)]
    pub size: (u32, u32),
    /// Disable shadows and anti-aliasing, for machines without a graphics card.
    #[arg(long)]
    pub plain: bool,
    /// Save a screenshot to this file after --seconds, then exit.
    #[arg(long)]
    pub screenshot: Option<PathBuf>,
}

/// Log filter of all examples; `RUST_LOG` overrides it.
const LOG_FILTER: &str = "wgpu=error,naga=warn,lightyear=warn,bevy_replicon=warn,bevy_unlag=info,\
                          unlag_examples=info,bevy_render::view::window::screenshot=info";

/// Adds Bevy's plugins with a window, and takes a screenshot after `seconds` if one is requested. Call it
/// before adding the game's plugins, which need Bevy's. `log` extends the log filter.
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
        // Limits the log lines that a peer's packets can cause.
        custom_layer: limit_logs,
        ..default()
    };
    let window = WindowPlugin { primary_window: Some(window), ..default() };
    app.add_plugins(DefaultPlugins.set(window).set(log))
        // A client in the background must still respond to the server.
        .insert_resource(WinitSettings::continuous())
        .add_plugins(TimedPlugin {
            screenshot: args.screenshot.clone().map(|path| (seconds, path)),
            exit_after: args.screenshot.is_some().then_some(seconds + 2.0),
        });
}

/// Returns the exit code of the process.
#[must_use]
pub fn exit_code(exit: AppExit) -> ExitCode {
    match exit {
        AppExit::Success => ExitCode::SUCCESS,
        AppExit::Error(code) => ExitCode::from(code.get()),
    }
}
