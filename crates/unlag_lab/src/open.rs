//! Any game: changes of the controlled pawn, abilities, pawns that the server controls, events of others, lifts with
//! buttons.

mod abilities;
mod lift;
mod npc;
mod possession;

use crate::prelude::*;

pub fn measure(options: &Options) -> Result<Figures, String> {
    let mut figures = Figures::default();
    possession::measure(options, &mut figures)?;
    abilities::measure(options, &mut figures)?;
    npc::measure(&mut figures)?;
    lift::measure(options, &mut figures)?;
    Ok(figures)
}

/// Ground for all measurements: a plane and a slope.
fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(500.0, 0.5, 500.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    let slope = Transform::from_xyz(0.0, -2.0, -60.0).with_rotation(Quat::from_rotation_x(0.12));
    commands.spawn((Collider::cuboid(100.0, 0.5, 60.0), slope));
}
