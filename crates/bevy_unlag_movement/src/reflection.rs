//! Registration of the reflected types of this crate.

use bevy::prelude::*;
use bevy_unlag_core::{MoveInput, PublishedState, StepEvent};

use crate::{abilities::*, *};

/// Registers the public types for inspectors.
pub(crate) fn register_types(app: &mut App) {
    app.register_type::<BaseScheduleConfig>()
        .register_type::<CapsuleConfig>()
        .register_type::<MovementMode>()
        .register_type::<CapsuleState>()
        .register_type::<DashConfig>()
        .register_type::<InputAccumulator>()
        .register_type::<MoveVolume>()
        .register_type::<MovementBase>()
        .register_type::<OneWayCollider>()
        .register_type::<PawnCapsule>()
        .register_type::<PushesBodies>()
        .register_type::<RecordedBase>()
        .register_type::<TeleportConfig>()
        .register_type::<MoveInput<CapsuleModel>>()
        .register_type::<PublishedState<CapsuleModel>>()
        .register_type::<StepEvent<CapsuleModel>>();
}

/// Registers the public types of karts.
#[cfg(feature = "kart")]
pub(crate) fn register_kart_types(app: &mut App) {
    app.register_type::<KartConfig>()
        .register_type::<KartState>()
        .register_type::<MoveInput<KartModel>>()
        .register_type::<PublishedState<KartModel>>()
        .register_type::<StepEvent<KartModel>>();
}
