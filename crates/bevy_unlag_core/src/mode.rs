//! How one pawn of somebody else is drawn.

use bevy::prelude::*;

use crate::{Interpolation, Sampler};

/// How a pawn that somebody else steers is drawn. Without one, as the [`Sampler`] says. May be
/// changed at any time: the change is blended. It does not travel. A shot at the pawn is judged as the
/// same component of the server's pawn says, so put it on both sides, or on a client alone where
/// nothing is judged.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum ProxySmoothing {
    /// The newest update as it is, at once: stop motion. Unreal's `bReplicateMovement` without
    /// smoothing, `ENetworkSmoothingMode::Disabled`.
    #[doc(alias = "Disabled")]
    Raw,
    /// A straight line between updates, slerp for the rotation, at the playout clock's time.
    /// Unreal's `Linear`.
    Linear,
    /// A cubic through the updates with their velocities as tangents, at the playout clock's time.
    #[default]
    Hermite,
    /// Carried on to the server's present by the model's cheap step, deflected by walls; what an
    /// update says is another way is blended in. No delay, but it guesses, and costs a cheap step a
    /// frame. Needs the smoothing crate's `ProxySimulationPlugin`; without it the pawn goes straight on.
    /// A shot is judged on the straight way. Unreal's `SimulateMovement`.
    #[doc(alias = "MoveSmooth")]
    Simulate,
    /// The newest update at once, the looks follow exponentially. A shot is judged at the update, and not
    /// where the looks are. Unreal's `Exponential`.
    Exponential,
}

impl ProxySmoothing {
    /// How poses between its snapshots are found.
    #[must_use]
    pub fn interpolation(self) -> Interpolation {
        match self {
            Self::Raw | Self::Exponential => Interpolation::Step,
            Self::Linear => Interpolation::Linear,
            Self::Hermite | Self::Simulate => Interpolation::Hermite,
        }
    }

    /// Whether it is drawn at the playout clock's time, behind its newest update.
    #[must_use]
    pub fn is_played_out(self) -> bool {
        matches!(self, Self::Linear | Self::Hermite)
    }
}

impl Sampler {
    /// This sampler for a pawn with this mode, if it has one.
    #[must_use]
    pub fn of(&self, mode: Option<&ProxySmoothing>) -> Self {
        let interpolation = mode.map_or(self.interpolation, |mode| mode.interpolation());
        let simulated = mode == Some(&ProxySmoothing::Simulate);
        let max_extrapolation_ticks =
            if simulated { self.max_simulation_ticks } else { self.max_extrapolation_ticks };
        Self { interpolation, max_extrapolation_ticks, ..*self }
    }
}
