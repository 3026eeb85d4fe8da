//! Class of a pawn.

use bevy::prelude::*;
use bevy_unlag_derive::Wire;

use crate::interpolate::{Interpolate, InterpolationSpan};

/// Class of a pawn: which configuration of its movement model applies to it, 0 by default. Classes differ in
/// speed, size, gravity and whatever else the model configures; each side registers the same ones.
///
/// Set it on the server, when the pawn spawns or between any two of its moves. Every client learns it: the owner with
/// the state that the next move starts from, the others at the moment at which the pawn is drawn.
#[doc(alias = "PlayerClass")]
#[derive(Component, Wire, Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct PawnClass(pub u8);

/// Not interpolated: the older class holds until the moment of the newer one.
impl Interpolate for PawnClass {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}
