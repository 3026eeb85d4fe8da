//! Shared window code of the examples.
//!
//! * `display`: check for a screen; `adapter`: fewer effects without a graphics card.
//! * [`WindowArgs`]: command-line options of a window; [`add_window`] opens it.
//! * [`ui`]: text, lines, panels, buttons and sliders; [`LiveText`] and [`ShownIf`]: texts and nodes that
//!   systems provide.
//! * [`link_controls`]: sliders and buttons for the conditions of the simulated link.
//! * [`scene`]: camera, light, materials and the kart's visual; [`cursor`]: grab of the mouse.

mod adapter;
mod bindings;
mod checker;
pub mod cursor;
#[cfg(not(target_family = "wasm"))]
mod display;
mod film;
pub mod link_controls;
pub mod scene;
pub mod ui;

use core::time::Duration;
use std::path::PathBuf;

use bevy::{
    prelude::*,
    render::view::screenshot::{Screenshot, save_to_disk},
    time::common_conditions::once_after_real_delay,
    window::{PresentMode, WindowResolution},
    winit::WinitSettings,
};
use clap::Args;

pub use bindings::{LiveText, ShownIf};
pub use checker::checkerboard;
#[cfg(not(target_family = "wasm"))]
pub use display::display;

use crate::{args::size, logs::log_plugin};

/// CSS selector of the canvas that a page has for the window.
pub const CANVAS: &str = "#window";

/// Options of a window; a resource of its app.
#[derive(Args, Resource, Clone, Debug)]
pub struct WindowArgs {
    /// Let a script play in the window.
    #[arg(long)]
    pub autoplay: bool,
    /// Window size in pixels.
    #[arg(long, default_value = "1280x720", value_parser = size)]
    pub size: (u32, u32),
    /// Disable shadows and anti-aliasing. The default on a machine without a graphics card, with a smaller window.
    #[arg(long)]
    pub plain: bool,
    /// Keep shadows, anti-aliasing and the size of the window on a machine without a graphics card.
    #[arg(long, conflicts_with = "plain")]
    pub full: bool,
    /// Save a screenshot to this file after --seconds, then exit.
    #[arg(long)]
    pub screenshot: Option<PathBuf>,
    /// Save 15 pictures for each second of the game into this folder until --seconds, then exit.
    #[arg(long, value_name = "FOLDER", conflicts_with = "screenshot")]
    pub film: Option<PathBuf>,
}

/// Adds Bevy's plugins with a window, and takes a screenshot after `seconds` if one is requested. Call it
/// before adding the game's plugins, which need Bevy's. `log` extends the log filter.
pub fn add_window(app: &mut App, title: String, args: &WindowArgs, seconds: f32, log: &str) {
    let window = Window {
        title,
        resolution: WindowResolution::new(args.size.0, args.size.1),
        present_mode: PresentMode::AutoVsync,
        // In a browser: the page's canvas, as large as the element around it.
        canvas: cfg!(target_family = "wasm").then(|| CANVAS.to_owned()),
        fit_canvas_to_parent: true,
        ..default()
    };
    let log = log_plugin(log);
    let window = WindowPlugin { primary_window: Some(window), ..default() };
    app.add_plugins(DefaultPlugins.set(window).set(log))
        // A client in the background must still respond to the server.
        .insert_resource(WinitSettings::continuous())
        .insert_resource(args.clone())
        .add_systems(PreStartup, adapter::choose)
        .add_plugins((bindings::plugin, link_controls::plugin));
    if let Some(folder) = args.film.clone() {
        film::add(app, folder, seconds);
    }
    if let Some(path) = args.screenshot.clone() {
        let after = |seconds| once_after_real_delay(Duration::from_secs_f32(seconds));
        let save = move |mut commands: Commands| {
            commands.spawn(Screenshot::primary_window()).observe(save_to_disk(path.clone()));
        };
        let exit = |mut exit: MessageWriter<AppExit>| {
            exit.write(AppExit::Success);
        };
        app.add_systems(Update, (save.run_if(after(seconds)), exit.run_if(after(seconds + 2.0))));
    }
}
