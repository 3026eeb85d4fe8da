//! Plugins that other plugins need.

use bevy::prelude::*;

/// Adds a plugin, unless the app has it already.
pub fn require_plugin<P: Plugin>(app: &mut App, plugin: P) {
    if !app.is_plugin_added::<P>() {
        app.add_plugins(plugin);
    }
}
