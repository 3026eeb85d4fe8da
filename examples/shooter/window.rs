//! Window of the shooter: its content, and the mouse grab.

use bevy::{
    picking::{PickingSettings, hover::Hovered},
    prelude::*,
    window::{CursorGrabMode, CursorOptions, PrimaryWindow, WindowFocused},
};
use bevy_unlag::{prediction::CorrectionViewPlugin, prelude::*, weapons::ShotViewPlugin};
use leafwing_input_manager::prelude::ActionState;
use unlag_examples::{
    hero::{self, Hero, HeroBody},
    screen::{
        self, WindowArgs,
        ui::{PanelRoot, TEXT, label},
    },
};

use crate::{
    effects::EffectsPlugin, hud::HudPlugin, marker_visuals::MarkerVisualsPlugin, panel::PanelPlugin,
    view::ViewPlugin,
};

/// Colour of the sky.
const SKY: Color = Color::srgb(0.53, 0.70, 0.86);

/// Options of the shooter's window.
#[derive(Clone, Debug)]
pub struct WindowOptions {
    /// Title of the window.
    pub title: String,
    /// Size, autoplay and rendering options.
    pub args: WindowArgs,
    /// Time of the screenshot in seconds, if one is requested.
    pub seconds: f32,
    /// Whether the table of message bandwidth is shown at first.
    pub bandwidth: bool,
}

/// Alternative to a window, for error messages.
pub const HEADLESS_HINT: &str = "use --headless to play without a window";

/// Adds Bevy's plugins with a window, the controls and all visuals. Call it before adding the game's
/// plugins, which need Bevy's.
pub fn add_window(app: &mut App, options: WindowOptions) {
    let WindowOptions { title, args, seconds, bandwidth } = options;
    let (plain, autoplay) = (args.plain, args.autoplay);
    app.set_error_handler(bevy::ecs::error::warn);
    screen::add_window(app, title, &args, seconds, "shooter=info");
    app.insert_resource(ClearColor(SKY))
        .add_plugins((
            ViewPlugin { plain },
            EffectsPlugin,
            MarkerVisualsPlugin,
            HudPlugin,
            PanelPlugin { bandwidth },
        ))
        .add_plugins((CorrectionViewPlugin::<Hero>::default(), ShotViewPlugin::<HeroBody>::default()))
        .add_systems(Startup, move |commands: Commands| spawn_hint(commands, autoplay));
    if autoplay {
        // Key bindings would overwrite the script's input.
        app.add_plugins(PlayerControlsPlugin::default());
    } else {
        app.add_plugins(PlayerControlsPlugin::reading())
            .add_systems(Update, (grab, show_hint).chain())
            .add_systems(FixedUpdate, use_abilities.in_set(MoveSystems::Sample));
        app.world_mut()
            .spawn((PlayerControls { enabled: false, ..default() }, PlayerControls::default_bindings()));
    }
}

/// Q dashes, and F teleports. The buttons are part of the move, like a jump.
fn use_abilities(
    keys: Res<ButtonInput<KeyCode>>,
    controls: Query<&PlayerControls>,
    mut own: Query<(&mut MoveInput<Hero>, &DrawnPose), With<LocalControl>>,
) {
    let enabled = controls.iter().any(|controls| controls.enabled);
    for (mut input, drawn) in &mut own {
        let down = |key| enabled && drawn.pose.alive && keys.pressed(key);
        hero::press(&mut input, down(KeyCode::KeyQ), down(KeyCode::KeyF));
    }
}

/// Line that explains how to start playing.
#[derive(Component)]
struct Hint;

fn spawn_hint(mut commands: Commands, autoplay: bool) {
    let text = if autoplay { "autoplay" } else { "Click to play - Esc frees the mouse for the panel" };
    commands.spawn((
        Hint,
        Pickable::IGNORE,
        Node {
            position_type: PositionType::Absolute,
            top: percent(62),
            width: percent(100),
            justify_content: JustifyContent::Center,
            ..default()
        },
        children![(label(text, 18.0, TEXT), Pickable::IGNORE)],
    ));
}

/// Grabs the mouse on a click beside the panels. Escape, Tab or a loss of focus releases it.
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
        // On platforms without a cursor lock the hidden cursor may move over a panel: shots must not count
        // as clicks.
        picking.is_enabled = !wanted;
    }
    for (mut controls, mut actions) in &mut controls {
        controls.enabled = wanted;
        if wanted && !grabbed {
            // The click that grabs the mouse is not a shot, however long it is held.
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
