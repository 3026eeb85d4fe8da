//! Limb poses as last drawn.

use bevy::prelude::*;

/// Limb poses of this pawn as last drawn, in body space, on a machine that draws it.
#[derive(Component, Clone, PartialEq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct DrawnLimbs(pub Vec<Isometry3d>);
