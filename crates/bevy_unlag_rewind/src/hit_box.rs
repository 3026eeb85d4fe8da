//! One hit box, its group, and the bounds of a body.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::Wire;

/// Body part that a hit box belongs to; a weapon's damage depends on it.
#[doc(alias = "hitgroup")]
#[derive(
    Wire, Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize, serde::Deserialize, Reflect,
)]
pub enum HitGroup {
    /// Head. Takes precedence over the other groups of the same pawn, unless
    /// [`HitBoxes::nearest_first`](crate::HitBoxes::nearest_first) is used.
    Head,
    /// Chest and belly.
    #[default]
    #[doc(alias = "Chest")]
    Body,
    /// Arms and legs.
    Limb,
}

/// Shape attached to a limb of a pawn.
#[doc(alias = "mstudiobbox_t")]
#[derive(Clone, Debug)]
pub struct HitBox {
    /// Limb to which the shape is attached: of the pawn's [`LimbRig`](bevy_unlag_core::LimbRig) or
    /// [`LimbNodes`](crate::LimbNodes).
    pub limb: u8,
    /// Hit group.
    pub group: HitGroup,
    /// Factor on a weapon's damage to this group. Default: 1; 0.5 acts as armour.
    pub factor: f32,
    /// Pose of the shape in limb space. Default: at its origin.
    pub offset: Isometry3d,
    /// Rapier collider, so that it can be authored and drawn like any other, but it never becomes part of
    /// the physics world. Boxes, balls and capsules are tested in closed form, any other convex shape by
    /// parry.
    pub shape: Collider,
}

impl HitBox {
    /// Creates a hit box with the shape at the origin of its limb.
    #[must_use]
    pub fn new(limb: u8, group: HitGroup, shape: Collider) -> Self {
        Self { limb, group, factor: 1.0, offset: Isometry3d::IDENTITY, shape }
    }

    /// Sets the pose of the shape in limb space.
    #[must_use]
    pub fn at(self, offset: Isometry3d) -> Self {
        Self { offset, ..self }
    }
}

/// Bounds that no shape of a pawn ever leaves, in body space: an upright cylinder around its root. Shots
/// outside the bounds are culled before the limbs are posed, so bounds that are too small lose hits, and
/// bounds that are too large cost time.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyBounds {
    /// Radius in metres.
    pub radius: f32,
    /// Lower end relative to the root in metres; negative is below.
    pub low: f32,
    /// Upper end relative to the root in metres.
    pub high: f32,
}

impl BodyBounds {
    /// Creates bounds that contain a ball of radius `reach` metres around the root.
    #[must_use]
    pub fn ball(reach: f32) -> Self {
        Self { radius: reach, low: -reach, high: reach }
    }

    /// Returns the distance in metres from the root beyond which nothing reaches.
    #[must_use]
    pub fn reach(&self) -> f32 {
        self.radius.hypot(self.low.abs().max(self.high.abs()))
    }
}
