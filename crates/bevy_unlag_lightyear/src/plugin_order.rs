//! Order of lightyear's plugins and the suite's.

use core::sync::atomic::{AtomicBool, Ordering};

use bevy::prelude::*;

/// Adds what to do to Bevy's panic about a plugin that was already added, which names only lightyear's
/// plugin. Bevy panics before any code of the suite runs again, so the explanation is printed when the app is
/// dropped before it has been finished. Silent in an app that does not panic.
#[derive(Debug)]
pub(crate) struct PluginOrder {
    side: &'static str,
    finished: AtomicBool,
}

impl PluginOrder {
    /// For an app to which the suite has added lightyear's plugins of a side, `Client` or `Server`.
    pub fn of(side: &'static str) -> Self {
        Self { side, finished: AtomicBool::new(false) }
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
        if std::thread::panicking() && !self.finished.load(Ordering::Relaxed) {
            eprintln!(
                "bevy_unlag: if lightyear's plugins were already added, move your {0}Plugins to before \
                 Unlag{0}Plugins, which join those that are there",
                self.side
            );
        }
    }
}
