//! Explanation of the panic of an app with both plugin groups.

use bevy::prelude::*;
use bevy_unlag_lightyear::{UnlagClientNetPlugin, UnlagServerNetPlugin, silence_plugin_order};
use bevy_unlag_movement::MovementPlugin;

/// Prints what to do about an app with both groups: Bevy panics right after it, and names only the first plugin that
/// is in both. In each group it follows the plugin of the transport.
pub(crate) struct GroupCheck;

impl Plugin for GroupCheck {
    fn build(&self, app: &mut App) {
        let is_both =
            app.is_plugin_added::<UnlagClientNetPlugin>() && app.is_plugin_added::<UnlagServerNetPlugin>();
        if is_both && app.is_plugin_added::<MovementPlugin>() {
            silence_plugin_order(app);
            eprintln!(
                "bevy_unlag: an app has either UnlagServerPlugins or UnlagClientPlugins. A listen server has \
                 UnlagServerPlugins alone, and HostSoldierPawn or HostCharacterPawn for its own player; a server and a \
                 client in one process are two apps"
            );
        }
    }

    fn is_unique(&self) -> bool {
        false
    }
}
