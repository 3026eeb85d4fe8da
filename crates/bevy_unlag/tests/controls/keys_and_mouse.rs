//! Keys and mouse with the default bindings, bindings of one's own, and controls that are off.

use bevy::prelude::*;
use bevy_unlag::{PlayerAction, PlayerControls, movement::CapsuleInput, weapons::WeaponControls};
use leafwing_input_manager::prelude::*;

use crate::Player;

/// Binds an action to an input of the player's own.
fn edit_bindings(player: &mut Player, edit: impl FnOnce(&mut InputMap<PlayerAction>)) {
    let world = player.world();
    let mut maps = world.query::<&mut InputMap<PlayerAction>>();
    edit(&mut maps.single_mut(world).expect("one map"));
}

fn enable(player: &mut Player, enabled: bool) {
    let world = player.world();
    let mut controls = world.query::<&mut PlayerControls>();
    controls.single_mut(world).expect("one player").enabled = enabled;
}

#[test]
fn keys_walk_in_their_directions_and_opposite_ones_cancel_out() {
    let mut player = Player::at(60.0);
    let mut walk = |keys: &[KeyCode]| {
        keys.iter().for_each(|key| key.press(player.world()));
        let input = player.tick();
        keys.iter().for_each(|key| key.release(player.world()));
        let released = player.tick();
        assert_eq!((released.right, released.forward), (0, 0), "{keys:?} released");
        (input.right, input.forward)
    };
    assert_eq!(walk(&[KeyCode::KeyW]), (0, 127));
    assert_eq!(walk(&[KeyCode::KeyS]), (0, -127));
    assert_eq!(walk(&[KeyCode::KeyA]), (-127, 0));
    assert_eq!(walk(&[KeyCode::KeyD]), (127, 0));
    assert_eq!(walk(&[KeyCode::KeyW, KeyCode::KeyD]), (127, 127));
    assert_eq!(walk(&[KeyCode::KeyA, KeyCode::KeyD]), (0, 0));
    assert_eq!(walk(&[KeyCode::KeyX]), (0, 0), "an unbound key");
}

#[test]
fn keys_press_and_release_their_button_and_no_other() {
    let buttons = |input: CapsuleInput| [input.jump, input.crouch, input.sprint, input.walk];
    for (key, pressed) in [
        (KeyCode::Space, [true, false, false, false]),
        (KeyCode::ControlLeft, [false, true, false, false]),
        (KeyCode::KeyC, [false, true, false, false]),
        (KeyCode::ShiftLeft, [false, false, true, false]),
        (KeyCode::AltLeft, [false, false, false, true]),
    ] {
        let mut player = Player::at(60.0);
        assert_eq!(buttons(player.tick()), [false; 4]);
        key.press(player.world());
        assert_eq!(buttons(player.tick()), pressed, "{key:?}");
        assert_eq!(buttons(player.tick()), pressed, "{key:?} held");
        key.release(player.world());
        player.tick();
        assert_eq!(buttons(player.tick()), [false; 4], "{key:?} released");
    }
}

/// Fire, aim, reload and the slot to equip, after a frame in which the input is pressed.
fn weapon_after(input: impl Buttonlike) -> (bool, bool, bool, Option<u8>) {
    let mut player = Player::at(60.0);
    input.press(player.world());
    player.frames(1);
    let WeaponControls { held, aiming, reload, equip, .. } = player.weapon();
    input.release(player.world());
    player.frames(1);
    let released = player.weapon();
    assert!(!released.held && !released.aiming, "{input:?} released");
    (held, aiming, reload, equip)
}

#[test]
fn mouse_buttons_and_keys_control_the_weapon() {
    assert_eq!(weapon_after(MouseButton::Left), (true, false, false, None));
    assert_eq!(weapon_after(MouseButton::Right), (false, true, false, None));
    assert_eq!(weapon_after(MouseButton::Middle), (false, false, false, None));
    assert_eq!(weapon_after(KeyCode::KeyR), (false, false, true, None));
    let digits = [KeyCode::Digit1, KeyCode::Digit2, KeyCode::Digit3, KeyCode::Digit4, KeyCode::Digit5];
    let slots = digits.map(|digit| weapon_after(digit).3);
    assert_eq!(slots, [Some(0), Some(1), Some(2), Some(3), None]);
}

#[test]
fn mouse_turns_the_view_by_its_sensitivity_and_not_beyond_straight_up() {
    let mut player = Player::at(60.0);
    let sensitivity = PlayerControls::default().sensitivity;
    for (pixels, expected) in [
        (Vec2::new(100.0, 0.0), Vec2::new(100.0, 0.0)),
        // Down on the screen is down in the world.
        (Vec2::new(0.0, 50.0), Vec2::new(100.0, -50.0)),
        (Vec2::new(-30.0, -80.0), Vec2::new(70.0, 30.0)),
    ] {
        MouseMove::default().set_axis_pair(player.world(), pixels);
        player.frames(1);
        // Without motion the view stays.
        player.frames(3);
        let (turned, expected) = (player.turned(), expected * sensitivity);
        assert!((turned - expected).length() < 1e-4, "{turned} instead of {expected}");
    }
    MouseMove::default().set_axis_pair(player.world(), Vec2::new(0.0, -1e5));
    player.frames(1);
    let straight_up = 90f32.to_radians();
    assert!((straight_up - 0.01..straight_up).contains(&player.turned().y), "{}", player.turned());
}

#[test]
fn tap_between_two_ticks_reaches_exactly_one_tick() {
    let mut player = Player::at(1_000.0);
    for _ in 0..20 {
        player.tick();
        // Both within the fifteen frames before the next tick.
        KeyCode::Space.press(player.world());
        player.frames(2);
        KeyCode::Space.release(player.world());
        player.frames(2);
        assert!(player.tick().jump, "the tap must not be lost");
        assert!(!player.tick().jump, "nor last");
    }
}

#[test]
fn own_binding_takes_effect_beside_the_default_ones_and_instead_of_them() {
    let mut player = Player::at(60.0);
    edit_bindings(&mut player, |map| {
        map.insert(PlayerAction::Jump, KeyCode::KeyJ);
        map.clear_action(&PlayerAction::Crouch);
        map.insert(PlayerAction::Crouch, KeyCode::KeyX);
    });
    let mut pressed = |key: KeyCode| {
        key.press(player.world());
        let input = player.tick();
        key.release(player.world());
        player.tick();
        (input.jump, input.crouch)
    };
    assert_eq!(pressed(KeyCode::KeyJ), (true, false));
    assert_eq!(pressed(KeyCode::Space), (true, false));
    assert_eq!(pressed(KeyCode::KeyX), (false, true));
    assert_eq!(pressed(KeyCode::KeyC), (false, false));
}

#[test]
fn keys_bound_to_turning_are_no_faster_on_the_diagonal() {
    let sensitivity = PlayerControls::default().stick_sensitivity;
    for (keys, expected) in [
        (&[KeyCode::ArrowRight][..], Vec2::X),
        (&[KeyCode::ArrowUp, KeyCode::ArrowRight][..], Vec2::ONE.normalize()),
    ] {
        let mut player = Player::at(60.0);
        edit_bindings(&mut player, |map| {
            map.insert_dual_axis(PlayerAction::Turn, VirtualDPad::arrow_keys());
        });
        keys.iter().for_each(|key| key.press(player.world()));
        player.frames(20);
        let (turned, expected) = (player.turned(), expected * (sensitivity * 20.0 / 60.0));
        assert!((turned - expected).length() < 1e-3, "{turned} instead of {expected}");
    }
}

#[test]
fn disabled_controls_neither_move_nor_turn_nor_fire() {
    let mut player = Player::at(60.0);
    let act = |player: &mut Player| {
        KeyCode::KeyW.press(player.world());
        KeyCode::Space.press(player.world());
        KeyCode::Digit2.press(player.world());
        MouseButton::Left.press(player.world());
        MouseMove::default().set_axis_pair(player.world(), Vec2::new(100.0, 20.0));
    };
    enable(&mut player, false);
    act(&mut player);
    assert_eq!(player.tick(), CapsuleInput::default());
    let weapon = player.weapon();
    assert!(!weapon.held && weapon.equip.is_none(), "{weapon:?}");

    // Keys that are still held count from then on, motion of the mouse in the meantime does not.
    enable(&mut player, true);
    player.frames(1);
    assert_eq!(player.turned(), Vec2::ZERO);
    let input = player.tick();
    assert_eq!((input.forward, input.jump), (127, true));
    assert!(player.weapon().held);

    enable(&mut player, false);
    player.frames(2);
    assert!(!player.weapon().held, "the trigger is released");
    player.tick();
    assert_eq!(player.tick().forward, 0);
}

#[test]
fn second_map_of_a_player_adds_to_the_first() {
    let mut player = Player::at(60.0);
    let second = InputMap::default()
        .with_dual_axis(PlayerAction::Walk, VirtualDPad::arrow_keys())
        .with(PlayerAction::Jump, KeyCode::Enter)
        .with(PlayerAction::Fire, KeyCode::KeyF)
        .with(PlayerAction::TakeAim, KeyCode::KeyG);
    player.world().spawn((PlayerControls::default(), second));
    player.frames(1);
    let mut walk = |keys: &[KeyCode]| {
        keys.iter().for_each(|key| key.press(player.world()));
        let input = player.tick();
        keys.iter().for_each(|key| key.release(player.world()));
        player.tick();
        (input.right, input.forward, input.jump)
    };
    assert_eq!(walk(&[KeyCode::KeyW]), (0, 127, false));
    assert_eq!(walk(&[KeyCode::ArrowUp]), (0, 127, false));
    assert_eq!(walk(&[KeyCode::KeyW, KeyCode::ArrowRight]), (127, 127, false));
    assert_eq!(walk(&[KeyCode::KeyW, KeyCode::ArrowDown]), (0, 0, false));
    assert_eq!(walk(&[KeyCode::Space]), (0, 0, true));
    assert_eq!(walk(&[KeyCode::Enter]), (0, 0, true));

    let mut weapon = |input: &dyn Buttonlike| {
        input.press(player.world());
        player.frames(1);
        let pressed = player.weapon();
        input.release(player.world());
        player.frames(1);
        let released = player.weapon();
        assert!(!released.held && !released.aiming, "{input:?} released");
        (pressed.held, pressed.aiming)
    };
    assert_eq!(weapon(&MouseButton::Left), (true, false));
    assert_eq!(weapon(&MouseButton::Right), (false, true));
    assert_eq!(weapon(&KeyCode::KeyF), (true, false));
    assert_eq!(weapon(&KeyCode::KeyG), (false, true));
}
