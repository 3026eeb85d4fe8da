//! Key bindings of the settings.

use bevy::{input::common_conditions::input_just_pressed, prelude::*};
use bevy_unlag_movement::{MovementMode, MoverBackend, MoverGizmos, PawnCollision};

use crate::{
    camera::View,
    course::Course,
    pawn::{PawnState, Player},
    spawning::{CurrentStation, ResetStation},
    tour::Tour,
    tuning::{Preset, Tuning},
};

/// Help lines on the screen.
pub const HELP: [&str; 3] = [
    "WASD walk   Space jump   C/Ctrl crouch   Shift sprint   X/Alt slow   T teleport   F dash   G fly",
    "1-9 [ ] stations   R reset   O script on/off   Tab camera   V debug view   H its boxes",
    "B backend   P preset   L ledges   N pawns",
];

/// Digit keys, in the order of the stations.
const DIGITS: [KeyCode; 9] = [
    KeyCode::Digit1,
    KeyCode::Digit2,
    KeyCode::Digit3,
    KeyCode::Digit4,
    KeyCode::Digit5,
    KeyCode::Digit6,
    KeyCode::Digit7,
    KeyCode::Digit8,
    KeyCode::Digit9,
];

/// Reads the keyboard.
pub fn plugin(app: &mut App) {
    app.add_systems(Update, (tune, travel, show_debug, fly.run_if(input_just_pressed(KeyCode::KeyG))));
}

fn tune(keys: Res<ButtonInput<KeyCode>>, mut tuning: ResMut<Tuning>) {
    let mut next = *tuning;
    for key in keys.get_just_pressed() {
        match key {
            KeyCode::KeyB => {
                next.backend = match next.backend {
                    MoverBackend::Unlag => MoverBackend::Rapier,
                    MoverBackend::Rapier => MoverBackend::Unlag,
                };
            }
            KeyCode::KeyP => {
                next.preset = match next.preset {
                    Preset::Unreal => Preset::Quake,
                    Preset::Quake => Preset::Arcade,
                    Preset::Arcade => Preset::Unreal,
                };
            }
            KeyCode::KeyL => next.stops_at_ledges = !next.stops_at_ledges,
            KeyCode::KeyN => {
                next.pawns = match next.pawns {
                    PawnCollision::Ignore => PawnCollision::Block,
                    PawnCollision::Block => PawnCollision::Push,
                    PawnCollision::Push => PawnCollision::Ignore,
                };
            }
            _ => {}
        }
    }
    tuning.set_if_neq(next);
}

fn travel(
    keys: Res<ButtonInput<KeyCode>>,
    course: Res<Course>,
    here: Res<CurrentStation>,
    mut tour: ResMut<Tour>,
    mut view: ResMut<View>,
    mut commands: Commands,
) {
    if keys.just_pressed(KeyCode::Tab) {
        *view = view.next();
    }
    if keys.just_pressed(KeyCode::KeyO) {
        if tour.on {
            tour.stop();
        } else {
            tour.start(here.0);
            *view = View::Third;
        }
    }
    let count = course.0.len();
    let digit = DIGITS.iter().position(|key| keys.just_pressed(*key));
    let station = if keys.any_just_pressed([KeyCode::BracketLeft, KeyCode::PageUp]) {
        Some((here.0 + count - 1) % count)
    } else if keys.any_just_pressed([KeyCode::BracketRight, KeyCode::PageDown]) {
        Some((here.0 + 1) % count)
    } else if keys.just_pressed(KeyCode::KeyR) {
        Some(here.0)
    } else {
        digit
    };
    if let Some(station) = station {
        tour.stop();
        commands.trigger(ResetStation { station });
        if *view == View::Overview {
            *view = View::Third;
        }
    }
}

fn show_debug(keys: Res<ButtonInput<KeyCode>>, mut store: ResMut<GizmoConfigStore>) {
    // Borrowing the store mutably marks it as changed.
    if !keys.any_just_pressed([KeyCode::KeyV, KeyCode::KeyH]) {
        return;
    }
    let Some((config, gizmos)) = store.get_config_mut::<MoverGizmos>() else { return };
    if keys.just_pressed(KeyCode::KeyV) {
        config.enabled = !config.enabled;
    }
    if keys.just_pressed(KeyCode::KeyH) {
        gizmos.parts = !gizmos.parts;
    }
}

/// Toggles flying. State may be changed directly here because nothing is predicted; a networked game needs
/// an ability for it.
fn fly(mut players: Query<&mut PawnState, With<Player>>) {
    for mut state in &mut players {
        state.body.mode = match state.body.mode {
            MovementMode::Flying => MovementMode::Falling,
            _ => MovementMode::Flying,
        };
    }
}
