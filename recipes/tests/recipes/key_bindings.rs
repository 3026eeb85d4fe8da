//! Key bindings of one's own, for keyboard and gamepad, and another sensitivity of the mouse.

use unlag_recipes::{Game, component, floor, play, soldiers};

// ANCHOR: game
use bevy::{
    input::{
        ButtonState, InputPlugin,
        gamepad::{GamepadConnection, GamepadConnectionEvent, RawGamepadButtonChangedEvent, RawGamepadEvent},
        keyboard::{Key, KeyboardInput},
    },
    prelude::*,
};
use bevy_unlag::{PadButton, PlayerAction, prelude::*};

/// Reads keys, mouse and gamepads. With a window, `DefaultPlugins` bring the `InputPlugin`.
fn client(app: &mut App) {
    app.add_plugins((InputPlugin, UnlagClientPlugins::default(), PlayerControlsPlugin::reading(), floor))
        .add_systems(Startup, spawn_controls);
}

/// The default bindings, with a second key and a second button for jumps, and other ones for crouching. A menu edits
/// the `InputMap` of this entity at any time.
fn spawn_controls(mut commands: Commands) {
    let mut bindings = PlayerControls::default_bindings()
        .with(PlayerAction::Jump, KeyCode::KeyJ)
        .with(PlayerAction::Jump, PadButton::new(GamepadButton::North));
    bindings.clear_action(&PlayerAction::Crouch);
    bindings.insert(PlayerAction::Crouch, KeyCode::KeyX);
    commands.spawn((PlayerControls { sensitivity: 0.001, ..default() }, bindings));
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers));
}
// ANCHOR_END: game

/// Presses or releases a key of the player's keyboard.
fn set_key(game: &mut Game, key_code: KeyCode, state: ButtonState) {
    let (logical_key, window) = (Key::Dead(None), Entity::PLACEHOLDER);
    let input = KeyboardInput { key_code, logical_key, state, text: None, repeat: false, window };
    game.clients[0].world_mut().write_message(input);
}

/// Returns whether the soldier is in the air and whether it crouches, on the server.
fn stance(game: &mut Game) -> (bool, bool) {
    let soldier = component::<SoldierState>(&mut game.server, NetId(1)).expect("a soldier");
    (soldier.body.position.y > 0.2, soldier.body.crouched)
}

/// Returns the stance after a key was held for 0.4 s, and waits until the soldier stands again.
fn stance_by_key(game: &mut Game, key: KeyCode) -> (bool, bool) {
    set_key(game, key, ButtonState::Pressed);
    game.run(0.4);
    let stance = stance(game);
    set_key(game, key, ButtonState::Released);
    game.run(1.0);
    stance
}

#[test]
fn keys_and_buttons_do_what_the_player_has_bound_them_to() {
    play(server, &[client], |game| {
        assert_eq!(stance_by_key(game, KeyCode::KeyJ), (true, false));
        assert_eq!(stance_by_key(game, KeyCode::Space), (true, false), "the default stays");
        assert_eq!(stance_by_key(game, KeyCode::KeyX), (false, true));
        assert_eq!(stance_by_key(game, KeyCode::KeyC), (false, false), "its binding was removed");

        let world = game.clients[0].world_mut();
        let pad = world.spawn_empty().id();
        let connection =
            GamepadConnection::Connected { name: "pad".into(), vendor_id: None, product_id: None };
        world.write_message(GamepadConnectionEvent::new(pad, connection));
        game.run(0.1);
        let north = RawGamepadButtonChangedEvent::new(pad, GamepadButton::North, 1.0);
        game.clients[0].world_mut().write_message(RawGamepadEvent::Button(north));
        game.run(0.4);
        assert_eq!(stance(game), (true, false), "the pad's button");
    });
}
