//! Reflection of the public resources and events.

use bevy::prelude::*;
use bevy_unlag_server::*;

#[macro_use]
#[path = "../../../../tests/shared/assert_registered.rs"]
mod assert_registered;

#[test]
fn public_types_are_registered_for_inspectors() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TickRunnerPlugin, ServerLifeCyclePlugin, WatchdogPlugin))
        .register_type::<ReloadSettings>();
    #[cfg(feature = "admin")]
    {
        let file = std::env::temp_dir().join(format!("admin_reflection_{}", std::process::id()));
        app.add_plugins(AdminPlugin::open(file).expect("an admin file"));
    }
    assert_registered!(app, ReflectResource: ServerHealth, LifeCycleConfig, ServerState, WatchdogConfig);
    assert_registered!(app, ReflectResource: TickPhaseConfig);
    assert_registered!(app, ReflectEvent: ReloadSettings);
    #[cfg(feature = "admin")]
    assert_registered!(app, ReflectMessage: AdminAnswer, AdminRequest);
}
