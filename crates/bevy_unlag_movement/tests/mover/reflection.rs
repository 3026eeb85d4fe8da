//! Reflection of the public components, resources, messages and events.

use bevy::prelude::*;
use bevy_unlag_core::{MoveInput, PublishedState, StepEvent};
use bevy_unlag_movement::{abilities::*, *};

#[macro_use]
#[path = "../../../../tests/shared/assert_registered.rs"]
mod assert_registered;

#[test]
fn public_types_are_registered_for_inspectors() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MovementPlugin, KartPlugin));
    assert_registered!(
        app, ReflectComponent:
        CapsuleState, InputAccumulator, KartState, MoveInput<CapsuleModel>, MoveInput<KartModel>,
        MovementBase, MoveVolume, OneWayCollider, PawnCapsule, PublishedState<CapsuleModel>,
        PublishedState<KartModel>, PushesBodies, RecordedBase,
    );
    assert_registered!(
        app, ReflectResource:
        BaseScheduleConfig, CapsuleConfig, DashConfig, KartConfig, TeleportConfig,
    );
    assert_registered!(
        app, ReflectMessage:
        StepEvent<CapsuleModel>, StepEvent<KartModel>,
    );
}
