//! Operation of dedicated servers: life cycle, signals, watchdog, metrics, admin commands.
//!
//! ```text
//!  SIGTERM, SIGINT ─► SignalPlugin ─┐
//!  admin command ───► AdminPlugin ──┼─► ServerState: Starting ─► Ready ─► Allocated ─► Draining ─► Stopped
//!  the game ────────────────────────┘        │
//!                                            ├─► players: nobody joins, the others know why and when
//!  WatchdogPlugin ─► ServerHealth ───────────┴─► MetricsPlugin ─► Prometheus, health checks
//! ```
//!
//! * [`ServerLifeCyclePlugin`]: the resource [`ServerState`], which games read and write. A drain lets nobody in,
//!   informs the players, and ends the app.
//! * [`SignalPlugin`]: SIGTERM and SIGINT start a drain, SIGHUP reloads. [`StopSignal`] is for programs that are no
//!   apps.
//! * [`WatchdogPlugin`]: a thread that notices when the app's updates stand still; [`ServerHealth`] is for monitors.
//! * `MetricsPlugin`, with the feature `metrics`: metrics for Prometheus and the health of the server, over HTTP.
//! * `AdminPlugin`, with the feature `admin`: an operator sees players, kicks, bans, changes the map and drains, over a
//!   `RequestServer` on the loopback interface.
//! * [`TickRunnerPlugin`]: one update in each tick, which halves what a small match costs. Servers that share a core
//!   move their ticks apart, see [`TickPhaseConfig`].
//! * [`say`] and [`say_error`] print lines that may be lost: a closed terminal or a full disk ends no server.
//!
//! # Example
//!
//! A server that ends a drain when its match is over:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_unlag_server::{LifeCycleConfig, ServerLifeCyclePlugin, ServerState, TickRunnerPlugin, WatchdogPlugin};
//!
//! /// The last round is over.
//! fn end_match(mut state: ResMut<ServerState>) {
//!     if *state == ServerState::Draining {
//!         *state = ServerState::Stopped;
//!     }
//! }
//!
//! let mut app = App::new();
//! app.add_plugins((MinimalPlugins, TickRunnerPlugin, ServerLifeCyclePlugin, WatchdogPlugin))
//!     .insert_resource(LifeCycleConfig { wait_for_match: true, ..default() })
//!     .add_systems(Update, end_match);
//! ```
//!
//! # Features
//!
//! | Feature | Default | Effect |
//! | --- | --- | --- |
//! | `metrics` | no | `MetricsPlugin`: metrics and health over HTTP. |
//! | `admin` | no | `AdminPlugin`: the local admin command. |
//!
//! # In the book
//!
//! In the repository, `book/src/operations/` describes a server in operation, and `book/src/reference/server.md` lists
//! every setting.

#[cfg(feature = "admin")]
mod admin;
mod console;
#[cfg(feature = "metrics")]
mod http;
mod life_cycle;
mod log_target;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(any(feature = "admin", feature = "metrics"))]
mod request_server;
mod signals;
mod tick_phase;
mod tick_runner;
mod watchdog;

#[cfg(feature = "admin")]
pub use admin::{
    AdminAnswer, AdminCommand, AdminError, AdminPlugin, AdminRequest, InvalidAdminCommand, send_admin_command,
};
pub use console::{say, say_error};
#[cfg(feature = "metrics")]
pub use http::{HttpRequest, HttpResponse};
pub use life_cycle::{LifeCycleConfig, ServerLifeCyclePlugin, ServerState};
#[cfg(feature = "metrics")]
pub use metrics::{MetricsConfig, MetricsPlugin};
#[cfg(any(feature = "admin", feature = "metrics"))]
pub use request_server::{RequestForm, RequestId, RequestLimits, RequestServer};
pub use signals::{ReloadSettings, SignalPlugin, StopSignal};
pub use tick_phase::{TickPhase, TickPhaseConfig};
pub use tick_runner::{TickRunnerPlugin, run_by_ticks, time_to_next_tick};
pub use watchdog::{ServerHealth, WatchdogConfig, WatchdogPlugin};
