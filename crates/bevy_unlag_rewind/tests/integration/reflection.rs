//! Reflection of the public components, resources, messages and events.

use core::any::TypeId;

use bevy::prelude::*;
use bevy_unlag_rewind::*;

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
    app.add_plugins((MinimalPlugins, RewindQueryPlugin));
    assert_registered!(
        app, ReflectComponent:
        DrawnLimbs, FrameHistory, HitBoxAsset, HitBoxBones, HitBoxes, HitLayers, LimbNodes,
        LimbRecordInterval, Occluder, Team, ViewTimeValidator,
    );
    assert_registered!(
        app, ReflectResource:
        DrawnFrames, EvidenceLog, MatchStart, RewindBackend, RewindLimits, ViewValidationConfig,
    );
}
