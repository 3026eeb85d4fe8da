//! Order of lightyear's plugins and the suite's.

use core::sync::atomic::{AtomicBool, Ordering};

use bevy::prelude::*;

/// Adds what to do to Bevy's panic about a plugin that was already added, which names only lightyear's
/// plugin. Bevy panics before any code of the suite runs again, so the explanation is printed when the app is
/// dropped before it has been finished. Silent in an app that does not panic.
#[derive(Debug)]
pub(crate) struct PluginOrder {
    message: &'static str,
    finished: AtomicBool,
}

impl PluginOrder {
    /// For an app to which a client plugin has added lightyear's.
    pub fn client() -> Self {
        Self::new(
            "bevy_unlag: if lightyear's plugins were already added, move your ClientPlugins to before \
             UnlagClientPlugins, which join those that are there",
        )
    }

    /// For an app to which a server plugin has added lightyear's.
    pub fn server() -> Self {
        Self::new(
            "bevy_unlag: if lightyear's plugins were already added, move your ServerPlugins to before \
             UnlagServerPlugins, which join those that are there",
        )
    }

    fn new(message: &'static str) -> Self {
        Self { message, finished: AtomicBool::new(false) }
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
            eprintln!("{}", self.message);
        }
    }
}
