//! Gamepads, alone and together with keys and mouse.

use bevy::{
    input::gamepad::{GamepadConnection, GamepadConnectionEvent},
    prelude::*,
};
use bevy_unlag::{
    ControlSystems, PadButton, PadStick, PlayerAction, PlayerControls,
    movement::{CapsuleInput, InputAccumulator},
    weapons::WeaponControls,
};
use leafwing_input_manager::prelude::*;

use crate::{Player, connect};

#[test]
fn stick_turns_the_view_at_the_same_rate_at_every_frame_rate() {
    let sensitivity = PlayerControls::default().stick_sensitivity;
    // Full deflection to the right, and half the live zone up.
    for (deflection, expected) in
        [(Vec2::X, Vec2::new(sensitivity, 0.0)), (Vec2::new(0.0, 0.55), Vec2::new(0.0, sensitivity / 4.0))]
    {
        for frames_per_second in [30, 60, 240] {
            let mut player = Player::at(f64::from(frames_per_second));
            PadStick::right().set_axis_pair(player.world(), deflection);
            player.frames(frames_per_second);
            let turned = player.turned();
            assert!(
                (turned - expected).length() < 1e-3,
                "{frames_per_second} frames/s: {turned} instead of {expected}"
            );
        }
    }
    // The mouse is not a rate: the same motion in every frame turns eight times as far.
    let by_mouse = [30, 240].map(|frames_per_second| {
        let mut player = Player::at(f64::from(frames_per_second));
        for _ in 0..frames_per_second {
            MouseMove::default().set_axis_pair(player.world(), Vec2::new(1.0, 0.0));
            player.frames(1);
        }
        player.turned().x
    });
    assert!((by_mouse[1] / by_mouse[0] - 8.0).abs() < 1e-3, "{by_mouse:?}");
}

#[test]
fn stick_keeps_its_length_and_a_diagonal_is_not_faster() {
    let mut player = Player::at(60.0);
    let mut axes = |deflection| {
        PadStick::left().set_axis_pair(player.world(), deflection);
        player.tick().axes()
    };
    assert!((axes(Vec2::new(0.0, 0.55)) - Vec2::new(0.0, 0.5)).length() < 0.01);
    assert!((axes(Vec2::new(0.0, -1.0)) - Vec2::NEG_Y).length() < 0.01);
    // The corner of a gate, and a circle's diagonal.
    for deflection in [Vec2::ONE, Vec2::splat(0.5f32.sqrt())] {
        let walked = axes(deflection);
        assert!((walked.length() - 1.0).abs() < 0.01 && (walked.x - walked.y).abs() < 0.01, "{walked}");
    }
    // A worn stick at rest moves nothing; a deflected one does.
    assert_eq!(axes(Vec2::new(0.06, -0.07)), Vec2::ZERO);
    assert_ne!(axes(Vec2::new(0.2, 0.0)), Vec2::ZERO);
}

/// Fails if the last source of a frame replaces the others.
#[test]
fn keys_mouse_and_sticks_of_a_frame_add_up_and_are_clamped_once() {
    let mut player = Player::at(60.0);
    KeyCode::KeyW.press(player.world());
    let keys = player.tick();
    assert_eq!((keys.right, keys.forward), (0, 127));
    let mut with_stick = |deflection| {
        PadStick::left().set_axis_pair(player.world(), deflection);
        let input = player.tick();
        assert!(input.axes().length() <= 1.0 + 1e-4);
        (input.right, input.forward)
    };
    assert_eq!(with_stick(Vec2::Y), (0, 127));
    assert_eq!(with_stick(Vec2::NEG_Y), (0, 0));
    assert_eq!(with_stick(Vec2::X), (127, 127));

    // A key, a stick and a script: 1 + 1 - 1, not the clamped 1 - 1.
    PadStick::left().set_axis_pair(player.world(), Vec2::Y);
    let script = |mut own: Single<&mut InputAccumulator>| own.axes(Vec2::NEG_Y);
    player.app.add_systems(RunFixedMainLoop, script.in_set(ControlSystems::Accumulate));
    assert_eq!(player.tick().forward, 127);

    let mut player = Player::at(60.0);
    let controls = PlayerControls::default();
    PadStick::right().set_axis_pair(player.world(), Vec2::X);
    MouseMove::default().set_axis_pair(player.world(), Vec2::new(50.0, 0.0));
    player.frames(1);
    let expected = controls.stick_sensitivity / 60.0 + controls.sensitivity * 50.0;
    assert!((player.turned().x - expected).abs() < 1e-4, "{} instead of {expected}", player.turned());
}

#[test]
fn buttons_press_and_release() {
    let mut player = Player::at(60.0);
    let movement: [(GamepadButton, fn(CapsuleInput) -> bool); 3] = [
        (GamepadButton::South, |input| input.jump),
        (GamepadButton::East, |input| input.crouch),
        (GamepadButton::LeftThumb, |input| input.sprint),
    ];
    for (button, is_down) in movement {
        assert!(!is_down(player.tick()), "{button:?} before");
        PadButton::new(button).press(player.world());
        assert!(is_down(player.tick()), "{button:?}");
        PadButton::new(button).release(player.world());
        player.tick();
        assert!(!is_down(player.tick()), "{button:?} after");
    }
    let weapon: [(GamepadButton, fn(&WeaponControls) -> bool); 7] = [
        (GamepadButton::RightTrigger2, |weapon| weapon.held),
        (GamepadButton::LeftTrigger2, |weapon| weapon.aiming),
        (GamepadButton::West, |weapon| weapon.reload),
        (GamepadButton::DPadUp, |weapon| weapon.equip == Some(0)),
        (GamepadButton::DPadRight, |weapon| weapon.equip == Some(1)),
        (GamepadButton::DPadDown, |weapon| weapon.equip == Some(2)),
        (GamepadButton::DPadLeft, |weapon| weapon.equip == Some(3)),
    ];
    for (button, is_set) in weapon {
        assert!(!is_set(&player.weapon()), "{button:?} before");
        PadButton::new(button).press(player.world());
        player.frames(1);
        assert!(is_set(&player.weapon()), "{button:?}");
        PadButton::new(button).release(player.world());
        player.frames(1);
    }
    assert!(!player.weapon().held && !player.weapon().aiming);

    // A trigger that is pulled by half does not fire.
    PadButton::new(GamepadButton::RightTrigger2).set_value(player.world(), 0.5);
    player.frames(1);
    assert!(!player.weapon().held);
}

#[test]
fn unplugged_gamepad_is_at_rest() {
    let mut player = Player::at(60.0);
    PadStick::left().set_axis_pair(player.world(), Vec2::Y);
    PadStick::right().set_axis_pair(player.world(), Vec2::X);
    PadButton::new(GamepadButton::RightTrigger2).press(player.world());
    assert_eq!(player.tick().forward, 127);
    assert!(player.weapon().held);
    let gamepad = player.pad;
    player
        .world()
        .write_message(GamepadConnectionEvent { gamepad, connection: GamepadConnection::Disconnected });
    player.frames(2);
    let before = player.turned();
    assert_ne!(before, Vec2::ZERO);
    assert_eq!(player.tick().forward, 0);
    player.frames(10);
    assert_eq!(player.turned(), before);
    assert!(!player.weapon().held);
}

#[test]
fn named_gamepad_is_read_alone() {
    let mut player = Player::at(60.0);
    let (first, second) = (player.pad, connect(player.world()));
    player.frames(1);
    let deflect = |player: &mut Player, pad| {
        for reset in [first, second] {
            PadStick::left().set_axis_pair_as_gamepad(player.world(), Vec2::ZERO, Some(reset));
        }
        PadStick::left().set_axis_pair_as_gamepad(player.world(), Vec2::Y, Some(pad));
        player.tick().forward
    };
    assert_eq!([first, second].map(|pad| deflect(&mut player, pad)), [127, 127], "any gamepad");
    let world = player.world();
    let mut maps = world.query::<&mut InputMap<PlayerAction>>();
    maps.single_mut(world).expect("one map").set_gamepad(second);
    assert_eq!([first, second].map(|pad| deflect(&mut player, pad)), [0, 127]);
}
