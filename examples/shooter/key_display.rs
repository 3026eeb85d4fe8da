//! Display of the movement keys that are held, for films: what the player wants, whatever the screen shows.

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use unlag_examples::{
    hero::Hero,
    screen::ui::{DIM, label, placed},
};

/// Deflection of an axis from which on its key counts as held, of 127.
const HELD: i8 = 64;
const HELD_COLOUR: Color = Color::srgb(1.0, 0.85, 0.35);

/// A key.
#[derive(Component, Clone, Copy)]
enum Key {
    Forward,
    Left,
    Back,
    Right,
    Jump,
}

/// Shows the keys at the lower edge of the window.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn).add_systems(Update, show);
}

fn spawn(mut commands: Commands) {
    let place =
        Node { bottom: px(96), width: percent(100), justify_content: JustifyContent::Center, ..placed() };
    let key = |key: Key, text: &'static str| (key, label(text, 34.0, DIM), TextShadow::default());
    commands.spawn((
        Pickable::IGNORE,
        Node { column_gap: px(18), ..place },
        children![
            key(Key::Left, "A"),
            key(Key::Forward, "W"),
            key(Key::Back, "S"),
            key(Key::Right, "D"),
            key(Key::Jump, "jump"),
        ],
    ));
}

fn show(own: Query<&MoveInput<Hero>, With<LocalControl>>, mut keys: Query<(&Key, &mut TextColor)>) {
    let input = own.single().map(|input| input.0.body.body).unwrap_or_default();
    for (key, mut colour) in &mut keys {
        let is_held = match key {
            Key::Forward => input.forward > HELD,
            Key::Left => input.right < -HELD,
            Key::Back => input.forward < -HELD,
            Key::Right => input.right > HELD,
            Key::Jump => input.jump,
        };
        colour.set_if_neq(TextColor(if is_held { HELD_COLOUR } else { DIM }));
    }
}
