//! Appearance of the shooter's arena and pawns; the replay draws them with the same code.
//!
//! * [`body`]: soldiers and heroes, posed by the same function as their hit boxes.
//! * [`weapon`]: weapons, in hands and in the first-person view.
//! * [`kart_body`]: bodies of karts.
//! * [`arena_paint`]: meshes of the arena; `landmarks`: shapes on its walls.
//! * [`hit_flash`]: reaction of bodies to hits.

pub mod arena_paint;
pub mod body;
pub mod hit_flash;
pub mod kart_body;
mod landmarks;
pub mod weapon;

use bevy::prelude::*;

/// Colour of the sky.
pub const SKY: Color = Color::srgb(0.53, 0.70, 0.86);

/// Draws the arena and the pawns.
pub fn plugin(app: &mut App) {
    app.insert_resource(ClearColor(SKY))
        .insert_resource(GlobalAmbientLight { brightness: 900.0, ..default() })
        .add_plugins((body::plugin, weapon::plugin, kart_body::plugin, hit_flash::plugin))
        .add_systems(Startup, landmarks::spawn)
        .add_systems(Update, arena_paint::paint);
}
