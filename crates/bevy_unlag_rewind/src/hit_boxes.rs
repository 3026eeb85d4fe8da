//! A pawn's limbs as shapes that can be hit.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;

/// The part of the body that a hit box belongs to; a weapon's damage depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum HitGroup {
    /// Counts before any other group of the same pawn.
    Head,
    /// Chest and belly.
    #[default]
    Body,
    /// Arms and legs.
    Limb,
}

/// One shape, carried by one limb of the pawn's [`LimbRig`](bevy_unlag_core::LimbRig).
#[derive(Clone, Debug)]
pub struct HitBox {
    /// The limb that carries it.
    pub limb: u8,
    /// The part of the body.
    pub group: HitGroup,
    /// The shape, about the limb's origin. A rapier collider, so that it is authored and drawn
    /// like any other, but never part of the physics world.
    pub shape: Collider,
}

/// Everything on a pawn that can be hit, shared between pawns of one kind.
#[derive(Component, Clone, Debug)]
pub struct HitBoxes {
    /// The shapes.
    pub boxes: Arc<[HitBox]>,
    /// No shape reaches further than this from the pawn's root, in metres. A ray that stays
    /// farther off is rejected without posing anything; too small a value loses hits.
    pub reach: f32,
}
