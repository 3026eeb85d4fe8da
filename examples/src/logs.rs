//! Log settings of all examples: the filter, the format and the writer.

use std::io::{IsTerminal, stderr};

use bevy::{
    log::{BoxedFmtLayer, Level, LogPlugin},
    prelude::*,
};
use bevy_unlag::guard::limit_logs;
use clap::ValueEnum;
use tracing_subscriber::fmt;

/// Log filter of all examples; `RUST_LOG` overrides it.
const LOG_FILTER: &str = "wgpu=error,naga=warn,lightyear=warn,lightyear_guard=info,bevy_replicon=warn,\
                          bevy_unlag=info,unlag_examples=info,bevy_render::view::window::screenshot=info";

/// Format of log lines.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LogFormat {
    /// A line of text; coloured on a terminal, unless the environment has `NO_COLOR`.
    #[default]
    Human,
    /// A JSON object per line, with the fields of the line beside `timestamp`, `level`, `target` and `message`.
    Json,
}

/// Log settings of a dedicated server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServerLogs {
    /// Format of the lines.
    pub format: LogFormat,
    /// Whether the lines leave out the addresses of clients.
    pub hide_addresses: bool,
}

/// Returns Bevy's log plugin with the filter of the examples, which `more` extends.
#[must_use]
pub fn log_plugin(more: &str) -> LogPlugin {
    LogPlugin {
        level: Level::WARN,
        filter: format!("{LOG_FILTER},{more}"),
        // Limits the log lines that a peer's packets can cause.
        custom_layer: limit_logs,
        fmt_layer: human,
    }
}

/// Returns the log plugin of a dedicated server, which writes to standard error.
#[must_use]
pub fn server_log_plugin(format: LogFormat) -> LogPlugin {
    let fmt_layer: fn(&mut App) -> Option<BoxedFmtLayer> = match format {
        LogFormat::Human => human,
        LogFormat::Json => json,
    };
    LogPlugin { fmt_layer, ..log_plugin("") }
}

// With `log_internal_errors` a line that cannot be written would be reported on standard error, too, which panics
// when that is closed.

fn human(_: &mut App) -> Option<BoxedFmtLayer> {
    let has_colours = stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    Some(Box::new(fmt::layer().with_ansi(has_colours).log_internal_errors(false).with_writer(stderr)))
}

fn json(_: &mut App) -> Option<BoxedFmtLayer> {
    Some(Box::new(
        fmt::layer()
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .log_internal_errors(false)
            .with_writer(stderr),
    ))
}
