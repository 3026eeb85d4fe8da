//! Log of the moves that a server runs.

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, Tick};

/// A move that the server has run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoggedMove<I> {
    /// Tick of the move, on the owner's count.
    pub tick: Tick,
    /// Input with which it ran.
    pub input: I,
    /// Whether the server replaced the input, because the move was missing.
    pub is_substituted: bool,
}

/// Moves that the server has run for a pawn, in their order, for recordings; on pawns into which it is inserted.
/// Whoever inserts it empties it in every tick: beyond 1,024 moves none is added.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Default, type_path = false)]
pub struct MoveLog<M: MoveModel>(
    // Inputs of a model need not be reflected.
    #[reflect(ignore)] pub Vec<LoggedMove<M::Input>>,
);

impl<M: MoveModel> Default for MoveLog<M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<M: MoveModel> MoveLog<M> {
    const MOST: usize = 1_024;

    pub(crate) fn push(&mut self, tick: Tick, input: M::Input, is_substituted: bool) {
        if self.0.len() < Self::MOST {
            self.0.push(LoggedMove { tick, input, is_substituted });
        }
    }
}
