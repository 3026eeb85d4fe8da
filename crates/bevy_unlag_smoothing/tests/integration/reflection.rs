//! Reflection of the public components, resources, messages and events.

use bevy::prelude::*;
use bevy_unlag_smoothing::*;

#[macro_use]
#[path = "../../../../tests/shared/assert_registered.rs"]
mod assert_registered;

#[test]
fn public_types_are_registered_for_inspectors() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, SmoothingPlugin));
    assert_registered!(
        app, ReflectComponent:
        ProxyTime, PublishedPath, RecordTransform, SentSnapshots, SnapshotInbox,
    );
    assert_registered!(
        app, ReflectResource:
        BlendConfig, PlayoutClocks, PlayoutConfig, ServerClock, SmoothingStats,
    );
}
