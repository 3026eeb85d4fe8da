//! Registration of the reflected types of the complete suite.

use bevy::prelude::*;
use bevy_unlag_core::{MoveInput, PublishedState, StepEvent};

use crate::{HostSoldierPawn, NpcControls, Soldier, SoldierBody, SoldierPawn, SoldierState};

/// Registers the types of the soldier for inspectors.
pub(crate) fn register_types(app: &mut App) {
    app.register_type::<HostSoldierPawn>()
        .register_type::<MoveInput<Soldier>>()
        .register_type::<NpcControls>()
        .register_type::<PublishedState<Soldier>>()
        .register_type::<SoldierBody>()
        .register_type::<SoldierPawn>()
        .register_type::<SoldierState>()
        .register_type::<StepEvent<Soldier>>();
}
