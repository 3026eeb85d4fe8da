//! Standard controls of pawns that the server controls.

use bevy::prelude::*;
use bevy_unlag_core::{MoveInput, MoveSystems, PawnSystems, ServerControl};
use bevy_unlag_movement::CapsuleInput;
use bevy_unlag_weapons::Aim;

use crate::character::Character;

/// Controls of an [`NpcPawn`](crate::NpcPawn), in the terms of a player: axes, view and buttons, for any
/// [`Character`]. Write it at any time; every tick samples it. The view is also the [`Aim`]. Add
/// [`WeaponControls`](bevy_unlag_weapons::WeaponControls) for the trigger. Without this component, write the
/// pawn's [`MoveInput`].
#[doc(alias = "AIController")]
#[derive(Component, Clone, Copy, PartialEq, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct NpcControls(pub CapsuleInput);

/// Adds the controls of one character on a server.
pub(crate) fn add_character<C: Character>(app: &mut App) {
    app.add_systems(
        FixedUpdate,
        sample_controls::<C>.in_set(MoveSystems::Sample).in_set(PawnSystems::of::<C>()),
    );
}

fn sample_controls<C: Character>(
    mut pawns: Query<(&NpcControls, &mut MoveInput<C>, Option<&mut Aim>), With<ServerControl>>,
) {
    for (controls, mut input, aim) in &mut pawns {
        C::apply_controls(&mut input.0, &controls.0);
        if let Some(mut aim) = aim {
            aim.set_if_neq(Aim { yaw: controls.0.yaw, pitch: controls.0.pitch });
        }
    }
}
