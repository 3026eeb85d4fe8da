//! Smoothing modes of remote pawns.

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{interpolate::Interpolation, sampler::PoseSampler};

/// Smoothing mode of a remote pawn. Without this component the [`PoseSampler`]'s settings apply.
///
/// It may be changed at any time; the transition is blended. It is not replicated. The server validates
/// shots at the pawn according to the same component on its own pawn, so insert it on both sides, or on the
/// client alone where no shots are validated.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::ProxySmoothing;
///
/// /// A ball to dodge: drawn at the server's present, where it is a guess. On both sides.
/// fn spawn_ball(mut commands: Commands) {
///     commands.spawn(ProxySmoothing::Simulate);
/// }
///
/// assert!(ProxySmoothing::Hermite.is_played_out());
/// assert!(!ProxySmoothing::Simulate.is_played_out());
/// ```
///
/// In the book: *Smoothing*, `book/src/reference/smoothing.md`.
#[doc(alias = "ENetworkSmoothingMode")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Serialize, Deserialize, Reflect)]
#[reflect(Component, Debug, Default)]
pub enum ProxySmoothing {
    /// Draws the newest update as it is, without smoothing. Unreal's `bReplicateMovement` without smoothing,
    /// `ENetworkSmoothingMode::Disabled`.
    #[doc(alias = "Disabled")]
    Raw,
    /// Interpolates linearly between updates, with slerp for the rotation, at the time of the playout clock.
    /// Unreal's `Linear`.
    Linear,
    /// Interpolates with a cubic through the updates, with their velocities as tangents, at the time of the
    /// playout clock.
    #[default]
    Hermite,
    /// Simulates the pawn to the server's present with the model's cheap proxy step, which is deflected by
    /// walls. Differences to later updates are blended in.
    ///
    /// There is no delay, but the pose is a guess, and it costs a cheap step per frame. It needs
    /// `ProxySimulationPlugin` of the smoothing crate; without it the pawn is extrapolated without
    /// collision. The server validates shots against that plain extrapolation. Unreal's `SimulateMovement`.
    #[doc(alias = "MoveSmooth")]
    Simulate,
    /// Moves the pawn to the newest update at once while its visuals follow exponentially. The server
    /// validates shots against the update, not against the visuals. Unreal's `Exponential`.
    Exponential,
}

impl ProxySmoothing {
    /// Returns the interpolation between snapshots in this mode.
    #[must_use]
    pub fn interpolation(self) -> Interpolation {
        match self {
            Self::Raw | Self::Exponential => Interpolation::Step,
            Self::Linear => Interpolation::Linear,
            Self::Hermite | Self::Simulate => Interpolation::Hermite,
        }
    }

    /// Returns whether the pawn is drawn at the time of the playout clock, behind its newest update.
    #[must_use]
    pub fn is_played_out(self) -> bool {
        matches!(self, Self::Linear | Self::Hermite)
    }
}

impl PoseSampler {
    /// Returns the sampler for a pawn with this mode, or with these settings if it has none.
    #[must_use]
    pub fn of(&self, mode: Option<&ProxySmoothing>) -> Self {
        let interpolation = mode.map_or(self.interpolation, |mode| mode.interpolation());
        let simulated = mode == Some(&ProxySmoothing::Simulate);
        let max_extrapolation = if simulated { self.max_simulation } else { self.max_extrapolation };
        Self { interpolation, max_extrapolation, ..*self }
    }
}
