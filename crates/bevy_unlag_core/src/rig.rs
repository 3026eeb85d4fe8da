//! Limb poses as a pure function of replicated state.

use bevy::prelude::*;

use crate::pose_sample::PoseSample;

/// Maximum number of limbs of a rig.
pub const MAX_LIMBS: usize = 32;

/// Limb poses of a pawn as a function of its pose alone. The client draws with it and the server validates
/// hits with it, so that no animation has to be replicated.
#[doc(alias = "SetupBones")]
#[derive(Component, Clone, Copy, Reflect)]
#[reflect(Component, from_reflect = false)]
pub struct LimbRig {
    /// Number of limbs, at most [`MAX_LIMBS`].
    pub limbs: u8,
    /// Writes the poses of all limbs into a slice of [`limbs`](Self::limbs) elements, in the space of the
    /// body: the origin is the pawn's root, turned by its rotation. Must be pure.
    // A function has no fields to show.
    #[reflect(ignore)]
    pub pose: fn(&PoseSample, &mut [Isometry3d]),
    /// Factor on the positions of the limbs, for larger and smaller pawns of one kind. 1 leaves them as they are.
    pub scale: f32,
}

/// Buffer for the limb poses of one pawn.
pub type LimbPoses = [Isometry3d; MAX_LIMBS];

impl LimbRig {
    /// Creates a rig.
    #[must_use]
    pub const fn new(limbs: u8, pose: fn(&PoseSample, &mut [Isometry3d])) -> Self {
        Self { limbs, pose, scale: 1.0 }
    }

    /// Creates a rig of one limb that stays at the root: a drone, a crate.
    #[must_use]
    pub const fn rigid() -> Self {
        Self::new(1, |_, limbs| limbs.fill(Isometry3d::IDENTITY))
    }

    /// Scales the positions of the limbs.
    #[must_use]
    pub const fn scaled(self, factor: f32) -> Self {
        Self { scale: self.scale * factor, ..self }
    }

    /// Computes the limb poses in the space of the body.
    pub fn in_body<'a>(&self, sample: &PoseSample, room: &'a mut LimbPoses) -> &'a [Isometry3d] {
        let limbs = &mut room[..usize::from(self.limbs).min(MAX_LIMBS)];
        (self.pose)(sample, limbs);
        if self.scale != 1.0 {
            limbs.iter_mut().for_each(|limb| limb.translation *= self.scale);
        }
        limbs
    }

    /// Computes the limb poses in the world.
    pub fn in_world<'a>(&self, sample: &PoseSample, room: &'a mut LimbPoses) -> &'a [Isometry3d] {
        let body = sample.body();
        self.in_body(sample, room);
        let limbs = &mut room[..usize::from(self.limbs).min(MAX_LIMBS)];
        for limb in &mut *limbs {
            *limb = body * *limb;
        }
        limbs
    }
}

impl PoseSample {
    /// Returns the pose of the body in the world.
    #[must_use]
    pub fn body(&self) -> Isometry3d {
        Isometry3d::new(self.position, self.rotation)
    }
}

impl core::fmt::Debug for LimbRig {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("LimbRig").field("limbs", &self.limbs).finish_non_exhaustive()
    }
}
