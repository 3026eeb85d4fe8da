//! Class of a pawn.

use bevy::prelude::*;

use crate::{
    interpolate::{Interpolate, InterpolationSpan},
    wire::{BitReader, BitWriter, Wire, WireError},
};

/// Class of a pawn: which configuration of its movement model applies to it, 0 by default. Classes differ in
/// speed, size, gravity and whatever else the model configures; each side registers the same ones.
///
/// Set it on the server, when the pawn spawns or respawns. Every client learns it: the owner with the state that
/// its first move starts from, the others at the moment at which the pawn is drawn.
#[doc(alias = "PlayerClass")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct PawnClass(pub u8);

/// Eight bits.
impl Wire for PawnClass {
    fn write(&self, w: &mut BitWriter) {
        w.bits(u32::from(self.0), 8);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self(r.bits(8)? as u8))
    }
}

/// Not interpolated: the older class holds until the moment of the newer one.
impl Interpolate for PawnClass {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}
