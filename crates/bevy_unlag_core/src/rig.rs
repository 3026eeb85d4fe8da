//! Limb poses as a pure function of replicated state.

use bevy::prelude::*;

use crate::PoseSample;

/// Where a pawn's limbs are, as a function of its pose alone: the client draws with it and the
/// server judges with it, so no animation has to be replicated.
#[derive(Component, Clone, Copy)]
pub struct LimbRig {
    /// How many limbs there are.
    pub limbs: u8,
    /// The world pose of a limb, `0..limbs`. Must be pure.
    pub pose: fn(&PoseSample, u8) -> Isometry3d,
}

impl core::fmt::Debug for LimbRig {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("LimbRig").field("limbs", &self.limbs).finish_non_exhaustive()
    }
}
