//! Diagnostics of movement models: causes of mispredictions and debug views.

use bevy::ecs::system::SystemParamItem;

use crate::model::{MoveModel, StepContext};

/// Answers of the model `M` to questions about its setup and its errors. They name the cause of a correction
/// or of a refused setup and shape debug views; no move depends on them.
///
/// A model names its implementation as [`MoveModel::Diagnostics`]: `()` for the defaults, or a type that
/// overrides some of them, such as the model itself.
#[expect(unused_variables, reason = "a default needs fewer arguments than an implementation")]
pub trait MoveDiagnostics<M: MoveModel> {
    /// Returns whether another pawn is so close that client and server may see it on different sides.
    /// Evaluated when client and server disagree. Default: `false`.
    #[must_use]
    fn is_near_pawn(
        config: &M::Config,
        state: &M::State,
        ctx: &StepContext,
        world: &SystemParamItem<M::World>,
    ) -> bool {
        false
    }

    /// Returns a hash of the configuration. Client and server compare it, so that a different tuning is
    /// reported as such. Default 0: no comparison.
    #[must_use]
    fn config_hash(config: &M::Config, world: &SystemParamItem<M::World>) -> u32 {
        0
    }

    /// Returns a hash of the static world around a pawn. Client and server compare it when they disagree
    /// about a move. Default 0: no comparison.
    #[must_use]
    fn surroundings_hash(config: &M::Config, state: &M::State, world: &SystemParamItem<M::World>) -> u32 {
        0
    }

    /// Returns a hash of the level, compared when a client joins. Default 0: no comparison.
    #[must_use]
    fn level_hash(world: &SystemParamItem<M::World>) -> u32 {
        0
    }

    /// Returns radius and half height, in metres, of a capsule about as large as the pawn and standing at
    /// its position, for debug views. Default: 0.34 and 0.88.
    #[must_use]
    fn outline(config: &M::Config, state: &M::State) -> (f32, f32) {
        (0.34, 0.88)
    }
}

impl<M: MoveModel> MoveDiagnostics<M> for () {}
