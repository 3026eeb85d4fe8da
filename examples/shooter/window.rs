//! The window: Bevy's plugins, who has the mouse, and when to take a picture or leave.

use std::path::PathBuf;

use bevy::{
    log::{Level, LogPlugin},
    picking::{PickingSettings, hover::Hovered},
    prelude::*,
    render::view::screenshot::{Screenshot, save_to_disk},
    window::{CursorGrabMode, CursorOptions, PresentMode, PrimaryWindow, WindowFocused, WindowResolution},
    winit::WinitSettings,
};
use bevy_unlag::prelude::*;
use leafwing_input_manager::prelude::ActionState;

use crate::{
    effects::EffectsPlugin,
    hud::{HudPlugin, TEXT, label},
    panel::{PanelPlugin, PanelRoot},
    view::ViewPlugin,
};

/// What the log shows when `RUST_LOG` says nothing.
const LOG_FILTER: &str = "wgpu=error,naga=warn,lightyear=warn,bevy_replicon=warn,bevy_unlag=info,shooter=info,\
                          bevy_render::view::window::screenshot=info";

/// The colour of the sky.
const SKY: Color = Color::srgb(0.53, 0.70, 0.86);

/// How the window behaves.
#[derive(Clone, Debug, Default)]
pub struct WindowOptions {
    /// What its title bar says.
    pub title: String,
    /// Its width and height in pixels.
    pub size: (u32, u32),
    /// Whether to leave out shadows and anti-aliasing.
    pub plain: bool,
    /// Whether a script plays, so that the mouse stays free and keys steer nothing.
    pub autoplay: bool,
    /// After how many seconds to save a picture of the window, and where.
    pub screenshot: Option<(f32, PathBuf)>,
    /// After how many seconds to leave.
    pub exit_after: Option<f32>,
}

/// Makes sure that there is a screen to open a window on.
///
/// # Errors
/// One line that says what is missing and what works without it.
pub fn display() -> Result<(), String> {
    const INSTEAD: &str = "use --headless to play without a window";
    // This example is built for X11, and XWayland sets the same variable.
    if cfg!(target_os = "linux") {
        let display = std::env::var("DISPLAY").unwrap_or_default();
        if display.is_empty() {
            return Err(format!("there is no screen (DISPLAY is not set); {INSTEAD}"));
        }
        if !answers(&display) {
            return Err(format!("no screen answers at DISPLAY={display}; {INSTEAD}"));
        }
    }
    explain_missing_gpu();
    Ok(())
}

/// Whether a local X server listens; a remote one is given the benefit of the doubt.
#[cfg(target_os = "linux")]
fn answers(display: &str) -> bool {
    use std::os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixStream},
    };
    let Some(local) = display.strip_prefix(':') else { return true };
    let number = local.split('.').next().unwrap_or(local);
    let path = format!("/tmp/.X11-unix/X{number}");
    let named = SocketAddr::from_abstract_name(&path).and_then(|address| UnixStream::connect_addr(&address));
    named.is_ok() || UnixStream::connect(path).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn answers(_: &str) -> bool {
    true
}

/// Bevy panics when there is nothing to draw with; say what to do instead.
fn explain_missing_gpu() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or_default();
        if message.contains("Unable to find a GPU") {
            eprintln!(
                "error: there is nothing to draw with (no graphics adapter); install a Vulkan driver, such as \
                 Mesa's, or use --headless"
            );
            std::process::exit(2);
        }
        usual(info);
    }));
}

/// Adds Bevy's plugins with a window, the controls and all that the window shows. Call it before
/// the game's plugins, which need Bevy's.
pub fn add_window(app: &mut App, options: WindowOptions) {
    let WindowOptions { title, size, plain, autoplay, screenshot, exit_after } = options;
    let window = Window {
        title,
        resolution: WindowResolution::new(size.0, size.1),
        present_mode: PresentMode::AutoVsync,
        ..default()
    };
    app.add_plugins(
        DefaultPlugins.set(WindowPlugin { primary_window: Some(window), ..default() }).set(LogPlugin {
            level: Level::WARN,
            filter: LOG_FILTER.to_owned(),
            ..default()
        }),
    )
    // A player in the background still has to answer the server.
    .insert_resource(WinitSettings::continuous())
    .insert_resource(ClearColor(SKY))
    .insert_resource(Timed { screenshot, exit_after })
    .add_plugins((ViewPlugin { plain }, EffectsPlugin, HudPlugin, PanelPlugin))
    .add_plugins(CorrectionViewPlugin::<Soldier>::default())
    .add_systems(Startup, move |commands: Commands| spawn_hint(commands, autoplay))
    .add_systems(Update, keep_time);
    if autoplay {
        // Reading the keys, too, would overwrite what the script wants.
        app.add_plugins(PlayerControlsPlugin::default());
    } else {
        app.add_plugins(PlayerControlsPlugin::reading()).add_systems(Update, (grab, show_hint).chain());
        app.world_mut()
            .spawn((PlayerControls { enabled: false, ..default() }, PlayerControls::default_bindings()));
    }
}

/// The line that says how to begin.
#[derive(Component)]
struct Hint;

fn spawn_hint(mut commands: Commands, autoplay: bool) {
    let (text, top) = if autoplay {
        ("autoplay", px(12))
    } else {
        ("Click to play - Esc frees the mouse for the panel", percent(62))
    };
    commands.spawn((
        Hint,
        Pickable::IGNORE,
        Node {
            position_type: PositionType::Absolute,
            top,
            width: percent(100),
            justify_content: JustifyContent::Center,
            ..default()
        },
        children![(label(text, 18.0, TEXT), Pickable::IGNORE)],
    ));
}

/// A click beside the panel takes the mouse; Escape, Tab or another window give it back.
fn grab(
    mouse: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    mut focus: MessageReader<WindowFocused>,
    mut cursors: Query<&mut CursorOptions, With<PrimaryWindow>>,
    panels: Query<&Hovered, With<PanelRoot>>,
    mut picking: ResMut<PickingSettings>,
    mut controls: Query<(&mut PlayerControls, &mut ActionState<PlayerAction>)>,
) {
    let left = focus.read().any(|event| !event.focused);
    let Ok(mut cursor) = cursors.single_mut() else { return };
    let grabbed = cursor.grab_mode != CursorGrabMode::None;
    let given_back = left || keys.any_just_pressed([KeyCode::Escape, KeyCode::Tab]);
    let taken = mouse.just_pressed(MouseButton::Left) && !panels.iter().any(Hovered::get);
    let wanted = if grabbed { !given_back } else { taken };
    if wanted != grabbed {
        cursor.visible = !wanted;
        cursor.grab_mode = if wanted { CursorGrabMode::Locked } else { CursorGrabMode::None };
        // Where a pointer cannot be locked it wanders, unseen, over the panel: shots are no clicks.
        picking.is_enabled = !wanted;
    }
    for (mut controls, mut actions) in &mut controls {
        controls.enabled = wanted;
        if wanted && !grabbed {
            // The click that takes the mouse is no shot either, however long it is held.
            actions.disable_action(&PlayerAction::Fire);
        } else if !mouse.pressed(MouseButton::Left) && actions.action_disabled(&PlayerAction::Fire) {
            actions.enable_action(&PlayerAction::Fire);
        }
    }
}

fn show_hint(
    cursors: Query<&CursorOptions, With<PrimaryWindow>>,
    mut hints: Query<&mut Visibility, With<Hint>>,
) {
    let free = cursors.iter().all(|cursor| cursor.grab_mode == CursorGrabMode::None);
    for mut visibility in &mut hints {
        visibility.set_if_neq(if free { Visibility::Inherited } else { Visibility::Hidden });
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
