//! Registration of the reflected types of this crate.

use bevy::prelude::*;
use bevy_unlag_core::{CaughtUpStates, MoveInput, PublishedState, StepEvent};

use crate::{abilities::*, *};

/// Registers the public types for inspectors.
pub(crate) fn register_types(app: &mut App) {
    bevy_unlag_core::register_types! { app:
        BaseScheduleConfig, CapsuleConfig, MovementMode, CapsuleState, DashConfig, InputAccumulator,
        MoveVolume, MovementBase, OneWayCollider, PawnCapsule, PushesBodies, RecordedBase, TeleportConfig,
        CaughtUpStates<CapsuleModel>, MoveInput<CapsuleModel>, PublishedState<CapsuleModel>, StepEvent<CapsuleModel>,
    }
}

/// Registers the public types of karts.
#[cfg(feature = "kart")]
pub(crate) fn register_kart_types(app: &mut App) {
    app.register_type::<KartConfig>()
        .register_type::<KartState>()
        .register_type::<MoveInput<KartModel>>()
        .register_type::<CaughtUpStates<KartModel>>()
        .register_type::<PublishedState<KartModel>>()
        .register_type::<StepEvent<KartModel>>();
}
