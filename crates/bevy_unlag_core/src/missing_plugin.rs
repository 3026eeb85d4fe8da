//! Plugins that several others need.

use bevy::prelude::*;

/// Adds a plugin unless the app has it.
pub fn add_missing_plugin<P: Plugin>(app: &mut App, plugin: P) {
    if !app.is_plugin_added::<P>() {
        app.add_plugins(plugin);
    }
}
