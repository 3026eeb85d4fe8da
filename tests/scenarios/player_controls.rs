//! Keys and a gamepad of a player, from Bevy's devices through leafwing's bindings to the pawn of the server.

use bevy::{
    input::{
        ButtonState, InputPlugin,
        gamepad::{
            GamepadAxis, GamepadConnection, GamepadConnectionEvent, RawGamepadAxisChangedEvent,
            RawGamepadEvent,
        },
        keyboard::{Key, KeyboardInput, NativeKey},
    },
    prelude::*,
};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{ControlSystems, PlayerAction, link_conditioner::LinkPreset, prelude::*};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use crate::{own_id, seconds, state, stats};

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
}

/// Deflection that a script adds in every frame.
#[derive(Resource, Default)]
struct Script(Vec2);

/// A match with one player, and the gamepad of that player.
fn start() -> (SteppedApps, Entity) {
    let mut server = headless_app();
    server.add_plugins(UnlagServerPlugins::default()).add_systems(Startup, level).add_observer(
        |joined: On<PlayerJoined>, mut commands: Commands| {
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((SoldierPawn, Transform::from_xyz(0.0, 0.1, 0.0), owner));
        },
    );
    let mut client = headless_app();
    client
        .add_plugins((InputPlugin, UnlagClientPlugins::default(), PlayerControlsPlugin::reading()))
        .init_resource::<Script>()
        .add_systems(Startup, level)
        .add_systems(
            RunFixedMainLoop,
            (|script: Res<Script>, mut own: Query<&mut InputAccumulator>| {
                own.iter_mut().for_each(|mut input| input.axes(script.0));
            })
            .in_set(ControlSystems::Accumulate),
        );
    let bindings = PlayerControls::default_bindings().with(PlayerAction::Jump, KeyCode::KeyJ);
    client.world_mut().spawn((PlayerControls::default(), bindings));
    let mut game = SteppedApps::new(server);
    let link = LinkPreset::find("LAN").expect("a built-in preset");
    game.join(client, link).expect("the client joins");
    game.run(seconds(2.0));
    let world = game.clients[0].world_mut();
    let gamepad = world.spawn_empty().id();
    let connection =
        GamepadConnection::Connected { name: "simulated".into(), vendor_id: None, product_id: None };
    world.write_message(GamepadConnectionEvent { gamepad, connection });
    (game, gamepad)
}

fn set_key(game: &mut SteppedApps, key_code: KeyCode, state: ButtonState) {
    game.clients[0].world_mut().write_message(KeyboardInput {
        key_code,
        logical_key: Key::Unidentified(NativeKey::Unidentified),
        state,
        text: None,
        repeat: false,
        window: Entity::PLACEHOLDER,
    });
}

fn set_stick(game: &mut SteppedApps, gamepad: Entity, deflection: Vec2) {
    for (axis, value) in [(GamepadAxis::LeftStickX, deflection.x), (GamepadAxis::LeftStickY, deflection.y)] {
        let event = RawGamepadAxisChangedEvent::new(gamepad, axis, value);
        game.clients[0].world_mut().write_message(RawGamepadEvent::Axis(event));
    }
}

/// Position of the player's pawn on the server.
fn position(game: &mut SteppedApps) -> Vec3 {
    let id = own_id(&mut game.clients[0]);
    state(&mut game.server, id).body.position
}

/// Way of the pawn in a second, at the speed that it has after half a second.
fn walked(game: &mut SteppedApps) -> Vec3 {
    game.run(seconds(0.5));
    let from = position(game);
    game.run(seconds(1.0));
    position(game) - from
}

/// Fails if the last source of a frame replaces the others, and if their sum is not limited.
#[test]
fn key_stick_and_script_of_a_frame_add_up_in_the_pawn_of_the_server() {
    let (mut game, gamepad) = start();
    set_key(&mut game, KeyCode::KeyW, ButtonState::Pressed);
    let straight = walked(&mut game);
    let speed = straight.length();
    assert!(straight.z < -2.0 && straight.x.abs() < 0.01, "{straight}");
    set_stick(&mut game, gamepad, Vec2::NEG_Y);
    let still = walked(&mut game);
    assert!(still.length() < 0.02, "the key and the stick cancel out: {still}");
    for stick in [Vec2::Y, Vec2::ONE] {
        set_stick(&mut game, gamepad, stick);
        let both = walked(&mut game);
        // A second may contain a tick more or less.
        assert!((both.length() - speed).abs() < 0.05 * speed, "{stick}: {both} instead of {straight}");
    }
    // A key, a stick and a script: 1 + 1 - 1.
    set_stick(&mut game, gamepad, Vec2::Y);
    game.clients[0].world_mut().resource_mut::<Script>().0 = Vec2::NEG_Y;
    let three = walked(&mut game);
    assert!((three - straight).length() < 0.05 * speed, "{three} instead of {straight}");
    game.clients[0].world_mut().resource_mut::<Script>().0 = Vec2::ZERO;
    set_stick(&mut game, gamepad, Vec2::ZERO);
    set_key(&mut game, KeyCode::KeyW, ButtonState::Released);
    let released = walked(&mut game);
    assert!(released.length() < 0.02, "{released}");
    assert_eq!(stats(&mut game.clients[0]).corrections, 0);
}

#[test]
fn rebound_key_jumps_on_the_server_like_the_default_one_and_an_unbound_one_does_not() {
    let (mut game, _) = start();
    for (key, jumps) in [(KeyCode::KeyJ, true), (KeyCode::Space, true), (KeyCode::KeyK, false)] {
        let floor = position(&mut game).y;
        let mut highest = 0.0_f32;
        set_key(&mut game, key, ButtonState::Pressed);
        for frame in 0..40 {
            if frame == 5 {
                set_key(&mut game, key, ButtonState::Released);
            }
            game.run(seconds(0.02));
            highest = highest.max(position(&mut game).y - floor);
        }
        assert_eq!(highest > 0.3, jumps, "{key:?}: {highest} m");
        game.run(seconds(1.0));
    }
}
