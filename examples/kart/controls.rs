//! Keyboard controls of the own kart and the camera.

use bevy::prelude::*;
use bevy_unlag::{
    core::{LocalControl, MoveInput},
    movement::{KartInput, KartModel},
};

use crate::view_settings::{View, ViewSettings};

/// Rate at which keys turn the wheels, in full deflections per second. Gives analogue steering from digital
/// keys.
const WHEELS: f32 = 4.0;

/// Key bindings, shown on the screen.
pub const HELP: &str = "WASD or arrows drive    C camera    mouse: panels";
/// Key bindings while a script drives.
pub const AUTOPLAY_HELP: &str = "autoplay    C camera    mouse: panels";

/// Switches the camera.
pub fn look(keys: Res<ButtonInput<KeyCode>>, mut picture: ResMut<ViewSettings>) {
    if keys.just_pressed(KeyCode::KeyC) {
        picture.view = match picture.view {
            View::Own => View::Other,
            View::Other => View::Above,
            View::Above => View::Own,
        };
    }
}

/// Drives the own kart.
pub fn steer(
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time<Real>>,
    mut wheels: Local<f32>,
    mut karts: Query<&mut MoveInput<KartModel>, With<LocalControl>>,
) {
    let axis = |more: [KeyCode; 2], less: [KeyCode; 2]| {
        f32::from(i8::from(keys.any_pressed(more)) - i8::from(keys.any_pressed(less)))
    };
    let throttle = axis([KeyCode::KeyW, KeyCode::ArrowUp], [KeyCode::KeyS, KeyCode::ArrowDown]);
    let wanted = axis([KeyCode::KeyD, KeyCode::ArrowRight], [KeyCode::KeyA, KeyCode::ArrowLeft]);
    let step = WHEELS * time.delta_secs();
    *wheels += (wanted - *wheels).clamp(-step, step);
    for mut input in &mut karts {
        input.0 = KartInput::new(throttle, *wheels);
    }
}
