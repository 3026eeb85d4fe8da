//! Teams of pawns.

use bevy::prelude::*;
use bevy_unlag_core::{Interpolate, InterpolationSpan, Wire};

/// Team of a pawn. A pawn without this component belongs to no team.
#[doc(alias = "FGenericTeamId")]
#[derive(
    Component, Wire, Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize, Reflect,
)]
#[reflect(Component, Debug)]
pub struct Team(pub u8);

/// Not interpolated: the older team holds until the moment of the newer one.
impl Interpolate for Team {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}
