//! Log settings of all examples.

use bevy::log::{Level, LogPlugin};
use bevy_unlag::guard::limit_logs;

/// Log filter of all examples; `RUST_LOG` overrides it.
const LOG_FILTER: &str = "wgpu=error,naga=warn,lightyear=warn,bevy_replicon=warn,bevy_unlag=info,\
                          unlag_examples=info,bevy_render::view::window::screenshot=info";

/// Returns Bevy's log plugin with the filter of the examples, which `more` extends.
#[must_use]
pub fn log_plugin(more: &str) -> LogPlugin {
    LogPlugin {
        level: Level::WARN,
        filter: format!("{LOG_FILTER},{more}"),
        // Limits the log lines that a peer's packets can cause.
        custom_layer: limit_logs,
        ..LogPlugin::default()
    }
}
