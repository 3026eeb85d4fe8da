//! Reflection of the public components, resources, messages and events.

use core::any::TypeId;

use bevy::prelude::*;
use bevy_unlag_core::{MoveInput, PublishedState, StepEvent};
use bevy_unlag_movement::{abilities::*, *};

/// Asserts that each type is registered and has the type data.
macro_rules! assert_registered {
    ($app:expr, $data:ty: $($kind:ty),* $(,)?) => {
        let registry = $app.world().resource::<AppTypeRegistry>().read();
        $(assert!(
            registry.get_type_data::<$data>(TypeId::of::<$kind>()).is_some(),
            concat!(stringify!($kind), " is not registered, or without ", stringify!($data)),
        );)*
    };
}

#[test]
fn public_types_are_registered_for_inspectors() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MovementPlugin, KartPlugin));
    assert_registered!(
        app, ReflectComponent:
        CapsuleState, InputAccumulator, KartState, MoveInput<CapsuleModel>, MoveInput<KartModel>,
        MovementBase, MoveVolume, OneWayCollider, PawnCapsule, PublishedState<CapsuleModel>,
        PublishedState<KartModel>, PushesBodies,
    );
    assert_registered!(
        app, ReflectResource:
        CapsuleConfig, DashConfig, KartConfig, TeleportConfig,
    );
    assert_registered!(
        app, ReflectMessage:
        StepEvent<CapsuleModel>, StepEvent<KartModel>,
    );
}
