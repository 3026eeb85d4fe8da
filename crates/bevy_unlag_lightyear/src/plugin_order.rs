//! Order of Bevy's plugins, lightyear's and the suite's.

use core::sync::atomic::{AtomicBool, Ordering};

use bevy::{prelude::*, state::app::StatesPlugin};

/// Adds what to do to Bevy's panic about a plugin that is missing or was already added, which names neither the
/// suite's plugins nor their place. Bevy panics before any code of the suite runs again, so the explanation is
/// printed when the app is dropped before it has been finished. Silent in an app that does not panic.
#[derive(Debug)]
pub(crate) struct PluginOrder {
    side: &'static str,
    /// Bevy's plugins are missing, so that adding lightyear's panics.
    lacks_bevy: bool,
    /// Nothing is left to explain.
    finished: AtomicBool,
}

impl PluginOrder {
    /// For an app to which the suite adds lightyear's plugins of a side, `Client` or `Server`.
    pub fn of(side: &'static str, app: &App) -> Self {
        let lacks_bevy = !app.is_plugin_added::<StatesPlugin>();
        Self { side, lacks_bevy, finished: AtomicBool::new(false) }
    }
}

impl Plugin for PluginOrder {
    fn build(&self, _: &mut App) {}

    fn finish(&self, _: &mut App) {
        self.finished.store(true, Ordering::Relaxed);
    }

    fn is_unique(&self) -> bool {
        false
    }
}

impl Drop for PluginOrder {
    fn drop(&mut self) {
        if !std::thread::panicking() || self.finished.load(Ordering::Relaxed) {
            return;
        }
        if self.lacks_bevy {
            eprintln!(
                "bevy_unlag: add DefaultPlugins, or MinimalPlugins with TransformPlugin and StatesPlugin, before the \
                 suite's plugins"
            );
        } else {
            eprintln!(
                "bevy_unlag: if lightyear's plugins were already added, move your {0}Plugins to before \
                 Unlag{0}Plugins, which join those that are there",
                self.side
            );
        }
    }
}

/// Leaves the explanation of a coming panic to its caller. For the umbrella crate.
#[doc(hidden)]
pub fn silence_plugin_order(app: &App) {
    for order in app.get_added_plugins::<PluginOrder>() {
        order.finished.store(true, Ordering::Relaxed);
    }
}
