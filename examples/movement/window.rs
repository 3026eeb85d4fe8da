//! The window: Bevy's plugins, what it shows, and when to take a picture or leave.

use std::{path::PathBuf, process::ExitCode};

use bevy::{
    log::{Level, LogPlugin},
    prelude::*,
    render::view::screenshot::{Screenshot, save_to_disk},
    window::{PresentMode, WindowResolution},
    winit::WinitSettings,
};
use bevy_unlag_movement::MoverGizmosPlugin;

use crate::{
    body::BodyPlugin,
    camera::{CameraPlugin, View},
    cli::Cli,
    controls::ControlsPlugin,
    events::EventsPlugin,
    hud::HudPlugin,
    labels::LabelsPlugin,
    pawn::Pawn,
    sim::SimPlugin,
    spawn::Here,
    switches::SwitchesPlugin,
    timing::TimingPlugin,
    tour::Tour,
    tuning::Tuning,
    view::ViewPlugin,
};

/// What the log shows when `RUST_LOG` says nothing.
const LOG_FILTER: &str = "wgpu=error,naga=warn,bevy_unlag=info,bevy_render::view::window::screenshot=info";

/// Opens the window, at a station, and runs until it is closed.
pub fn run(cli: &Cli, tuning: Tuning, first: usize) -> ExitCode {
    let mut app = App::new();
    let window = Window {
        title: "bevy_unlag: movement".to_owned(),
        resolution: WindowResolution::new(cli.size.0, cli.size.1),
        present_mode: PresentMode::AutoVsync,
        ..default()
    };
    let seconds = cli.seconds.unwrap_or(10.0) as f32;
    let exit_after = cli.screenshot.is_some().then_some(seconds + 2.0);
    app.add_plugins(
        DefaultPlugins.set(WindowPlugin { primary_window: Some(window), ..default() }).set(LogPlugin {
            level: Level::WARN,
            filter: LOG_FILTER.to_owned(),
            ..default()
        }),
    )
    .insert_resource(WinitSettings::continuous())
    .insert_resource(Timed { screenshot: cli.screenshot.clone().map(|path| (seconds, path)), exit_after })
    .add_plugins(SimPlugin { tuning })
    .add_plugins((
        ViewPlugin,
        CameraPlugin { plain: cli.plain },
        BodyPlugin,
        LabelsPlugin,
        HudPlugin,
        EventsPlugin,
        TimingPlugin,
        ControlsPlugin,
        SwitchesPlugin,
        MoverGizmosPlugin::<Pawn>::default(),
    ))
    .insert_resource(Here(first))
    .add_systems(Update, keep_time);
    if cli.autoplay {
        app.world_mut().resource_mut::<Tour>().start(first);
    }
    if cli.autoplay || first > 0 {
        app.insert_resource(View::Third);
    }
    match app.run() {
        AppExit::Success => ExitCode::SUCCESS,
        AppExit::Error(code) => ExitCode::from(code.get()),
    }
}

/// What happens at a time.
#[derive(Resource)]
struct Timed {
    screenshot: Option<(f32, PathBuf)>,
    exit_after: Option<f32>,
}

fn keep_time(
    time: Res<Time<Real>>,
    mut timed: ResMut<Timed>,
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    let now = time.elapsed_secs();
    if let Some((_, path)) = timed.screenshot.take_if(|(at, _)| now >= *at) {
        commands.spawn(Screenshot::primary_window()).observe(save_to_disk(path));
    }
    if timed.exit_after.is_some_and(|at| now >= at) {
        exit.write(AppExit::Success);
    }
}
