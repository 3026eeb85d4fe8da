//! The movement model of a pawn, as a component.

use core::any::{TypeId, type_name};

use bevy::prelude::*;

use crate::model::MoveModel;

/// Movement model of a pawn. The markers of predicted pawns require it, and the network integration inserts it
/// into every pawn that appears, so an observer of it can insert what pawns of a model need. A pawn without it
/// may be of any model.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Debug, from_reflect = false)]
pub struct PawnModel {
    /// Type of the [`MoveModel`].
    #[reflect(ignore)]
    id: TypeId,
    /// Name of that type, for logs and inspectors.
    name: &'static str,
}

impl PawnModel {
    /// Returns the component for pawns of `M`.
    #[must_use]
    pub fn of<M: MoveModel>() -> Self {
        Self { id: TypeId::of::<M>(), name: type_name::<M>() }
    }

    /// Returns whether it is `M`.
    #[must_use]
    pub fn is<M: MoveModel>(&self) -> bool {
        self.id == TypeId::of::<M>()
    }

    /// Returns the name of the model's type.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}
