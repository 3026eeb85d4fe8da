//! Operation of dedicated servers: life cycle, signals, watchdog.
//!
//! * [`ServerLifeCyclePlugin`]: the resource [`ServerState`], which games read and write. A drain lets nobody in,
//!   informs the players, and ends the app.
//! * [`SignalPlugin`]: SIGTERM and SIGINT start a drain, SIGHUP reloads.
//! * [`WatchdogPlugin`]: a thread that notices when the app's updates stand still; [`ServerHealth`] is for monitors.
//! * [`say`] and [`say_error`] print lines that may be lost: a closed terminal or a full disk ends no server.

mod console;
mod life_cycle;
mod signals;
mod watchdog;

pub use console::{say, say_error};
pub use life_cycle::{LifeCycleConfig, ServerLifeCyclePlugin, ServerState};
pub use signals::{ReloadSettings, SignalPlugin};
pub use watchdog::{ServerHealth, WatchdogConfig, WatchdogPlugin};

/// Target of log lines, the same as for the other lines about the server.
const LOG: &str = "bevy_unlag::server";
