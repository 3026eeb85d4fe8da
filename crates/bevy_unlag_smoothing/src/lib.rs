//! Snapshot interpolation of remote pawns with an adaptive playout delay and cubic Hermite curves.
//!
//! ```text
//!  server:  state of a tick ─► PublishedPath ─► ProxyUpdate ═══► transport
//!
//!  client:  transport ═══► SnapshotInbox ─► SnapshotHistory ─► PoseSampler ─► DrawnPose ─► visual
//!                               │                                  ▲              ▲
//!                               └─ arrival times ─► PlayoutClock ──┘         VisualOffset
//!                                                    view time             blends jumps
//! ```
//!
//! * The network integration writes [`ProxyUpdate`](bevy_unlag_core::ProxyUpdate)s to a pawn's
//!   [`SnapshotInbox`].
//! * A [`PlayoutClock`] learns from their arrival times how large the playout delay (interpolation delay)
//!   must be to hide jitter and loss; [`PlayoutClocks`] has one clock per update rate.
//! * In each frame every [`SimulatedProxy`](bevy_unlag_core::NetRole::SimulatedProxy) gets its
//!   [`DrawnPose`](bevy_unlag_core::DrawnPose) at that moment from the shared
//!   [`PoseSampler`](bevy_unlag_core::PoseSampler), according to its
//!   [`ProxySmoothing`](bevy_unlag_core::ProxySmoothing).
//! * Visible jumps, after a wrong guess or a late update, are blended by the pawn's
//!   [`VisualOffset`](bevy_unlag_core::VisualOffset): see [`BlendConfig`].
//! * [`ProxySimulationPlugin`] simulates proxies to the server's present, estimated by [`ServerClock`].
//! * A pawn that is [`OutOfSight`] is not drawn.
//! * [`SmoothedComponentPlugin`] interpolates components of the game in the same way.
//!
//! # Example
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_unlag_core::NetRole;
//! use bevy_unlag_smoothing::{SmoothingPlugin, SnapshotInbox};
//!
//! let mut app = App::new();
//! app.add_plugins((MinimalPlugins, SmoothingPlugin));
//! app.world_mut().spawn((NetRole::SimulatedProxy, SnapshotInbox::default()));
//! app.update();
//! ```
//!
//! # In the book
//!
//! In the repository, `book/src/concepts/smoothing.md` explains how it works, and `book/src/reference/smoothing.md`
//! lists every setting.

mod arrival_stats;
mod clock;
mod component;
mod config;
mod host_interpolation;
mod inbox;
mod jump_blending;
mod last_drawn;
mod out_of_sight;
mod playout;
mod plugin;
mod proxy;
mod proxy_poses;
mod proxy_simulation;
mod published_path;
mod record_transform;
mod reflection;
mod reset;
mod sent_snapshots;
mod server_clock;
mod stats;

pub use clock::PlayoutClock;
pub use component::{ComponentHistory, ComponentInbox, SmoothedComponentPlugin};
pub use config::PlayoutConfig;
pub use inbox::SnapshotInbox;
pub use jump_blending::BlendConfig;
pub use out_of_sight::OutOfSight;
pub use playout::PlayoutClocks;
pub use plugin::{PathRecordingPlugin, SmoothingPlugin, SmoothingSystems, TransformRecordingPlugin};
pub use proxy::ProxyTime;
pub use proxy_simulation::ProxySimulationPlugin;
pub use published_path::PublishedPath;
pub use record_transform::RecordTransform;
pub use sent_snapshots::{IntervalSummary, SentSnapshots};
pub use server_clock::{ServerClock, ServerClockConfig};
pub use stats::SmoothingStats;
