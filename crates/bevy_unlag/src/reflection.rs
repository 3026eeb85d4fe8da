//! Registration of the reflected types of the complete suite.

use bevy::prelude::*;
use bevy_unlag_core::{MoveInput, PublishedState, StepEvent};

use crate::{Soldier, SoldierState};

/// Registers the core types of the [`Soldier`], which no other crate knows, for inspectors.
pub(crate) fn register_types(app: &mut App) {
    app.register_type::<MoveInput<Soldier>>()
        .register_type::<PublishedState<Soldier>>()
        .register_type::<SoldierState>()
        .register_type::<StepEvent<Soldier>>();
}
