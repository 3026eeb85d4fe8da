//! Registration of the reflected types of the complete suite.

use bevy::prelude::*;
use bevy_unlag_core::{MoveInput, PublishedState, StepEvent};

use crate::{
    npc::NpcControls,
    plugins::{HostSoldierPawn, Soldier, SoldierBody, SoldierPawn, SoldierState},
};

/// Registers the types of the soldier for inspectors.
pub(crate) fn register_types(app: &mut App) {
    bevy_unlag_core::register_types! { app:
        HostSoldierPawn, MoveInput<Soldier>, NpcControls, PublishedState<Soldier>, SoldierBody, SoldierPawn,
        SoldierState, StepEvent<Soldier>,
    }
}
