//! Window of the shooter: its content, and the mouse grab.

use bevy::{picking::PickingSettings, prelude::*};
use bevy_unlag::{PlayerAction, prediction::CorrectionViewPlugin, prelude::*, weapons::ShotViewPlugin};
use leafwing_input_manager::prelude::ActionState;
use unlag_examples::{
    hero::{self, Hero, HeroBody},
    screen::{
        self, ShownIf, WindowArgs,
        cursor::{MouseGrab, is_grabbed},
        ui::{TEXT, banner, label},
    },
};

use crate::{
    combat_display, effects, hud, kept_settings, key_display, marker_visuals, panel, play::Play, split_view,
    view,
};

/// Adds Bevy's plugins with a window, the controls and all visuals. Call it before adding the game's
/// plugins, which need Bevy's.
pub fn add_window(app: &mut App, title: String, args: &WindowArgs, play: &Play) {
    app.set_error_handler(bevy::ecs::error::warn);
    screen::add_window(app, title, args, play.seconds as f32, "shooter=info");
    panel::add(app, play);
    app.add_plugins((
        view::plugin,
        effects::plugin,
        marker_visuals::plugin,
        hud::plugin,
        combat_display::plugin,
        split_view::plugin,
    ))
    .add_plugins((CorrectionViewPlugin::<Hero>::default(), ShotViewPlugin::<HeroBody>::default()));
    if args.film.is_some() {
        app.add_plugins(key_display::plugin);
    }
    if args.autoplay {
        // Key bindings would overwrite the script's input.
        app.add_plugins(PlayerControlsPlugin::default());
    } else {
        if let Some(file) = play.showcase.settings.clone().or_else(kept_settings::default_file) {
            kept_settings::add(app, file);
        }
        app.add_plugins(PlayerControlsPlugin::reading())
            .add_systems(Startup, spawn_hint)
            .add_systems(Update, grab)
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

/// Spawns a line that explains how to start playing.
fn spawn_hint(mut commands: Commands) {
    let text = "Click to play - Esc frees the mouse for the panel";
    let shown = ShownIf::new(&mut commands, not(is_grabbed));
    commands.spawn((banner(62.0), shown, children![(label(text, 18.0, TEXT), Pickable::IGNORE)]));
}

/// Lets the game take the mouse by a click beside the panels.
fn grab(
    mut cursor: MouseGrab,
    mouse: Res<ButtonInput<MouseButton>>,
    mut picking: ResMut<PickingSettings>,
    mut controls: Query<(&mut PlayerControls, &mut ActionState<PlayerAction>)>,
) {
    let Some((was_grabbed, is_grabbed)) = cursor.update([KeyCode::Escape, KeyCode::Tab]) else { return };
    if is_grabbed != was_grabbed {
        // On platforms without a cursor lock the hidden cursor may move over a panel: shots must not count
        // as clicks.
        picking.is_enabled = !is_grabbed;
    }
    for (mut controls, mut actions) in &mut controls {
        controls.enabled = is_grabbed;
        if is_grabbed && !was_grabbed {
            // The click that grabs the mouse is not a shot, however long it is held.
            actions.disable_action(&PlayerAction::Fire);
        } else if !mouse.pressed(MouseButton::Left) && actions.action_disabled(&PlayerAction::Fire) {
            actions.enable_action(&PlayerAction::Fire);
        }
    }
}
