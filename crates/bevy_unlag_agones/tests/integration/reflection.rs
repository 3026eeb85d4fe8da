//! Reflection of the public resources and events.

use bevy::prelude::*;
use bevy_unlag_agones::*;

#[macro_use]
#[path = "../../../../tests/shared/assert_registered.rs"]
mod assert_registered;

#[test]
fn public_types_are_registered_for_inspectors() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, AgonesPlugin));
    assert_registered!(app, ReflectResource: Agones, AgonesConfig);
    assert_registered!(app, ReflectEvent: AgonesAllocation);
}
