//! The window: what it shows, and who has the mouse.

use bevy::{
    picking::{PickingSettings, hover::Hovered},
    prelude::*,
    window::{CursorGrabMode, CursorOptions, PrimaryWindow, WindowFocused},
};
use bevy_unlag::prelude::*;
use leafwing_input_manager::prelude::ActionState;
use unlag_examples::screen::{
    self, WindowArgs,
    ui::{PanelRoot, TEXT, label},
};

use crate::{
    effects::EffectsPlugin, hud::HudPlugin, marks::MarkPlugin, panel::PanelPlugin, view::ViewPlugin,
};

/// The colour of the sky.
const SKY: Color = Color::srgb(0.53, 0.70, 0.86);

/// How the window behaves.
#[derive(Clone, Debug)]
pub struct WindowOptions {
    /// What its title bar says.
    pub title: String,
    /// Its size, who plays, and how it is drawn.
    pub args: WindowArgs,
    /// After how many seconds to take a picture of it, if one is wanted.
    pub seconds: f32,
    /// Whether the table of messages is shown at first.
    pub bandwidth: bool,
}

/// What works without a window.
pub const INSTEAD: &str = "use --headless to play without a window";

/// Adds Bevy's plugins with a window, the controls and all that the window shows. Call it before
/// the game's plugins, which need Bevy's.
pub fn add_window(app: &mut App, options: WindowOptions) {
    let WindowOptions { title, args, seconds, bandwidth } = options;
    let (plain, autoplay) = (args.plain, args.autoplay);
    screen::add_window(app, title, &args, seconds, "shooter=info");
    app.insert_resource(ClearColor(SKY))
        .add_plugins((ViewPlugin { plain }, EffectsPlugin, MarkPlugin, HudPlugin, PanelPlugin { bandwidth }))
        .add_plugins((CorrectionViewPlugin::<Soldier>::default(), ShotViewPlugin::<CapsuleModel>::default()))
        .add_systems(Startup, move |commands: Commands| spawn_hint(commands, autoplay));
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
