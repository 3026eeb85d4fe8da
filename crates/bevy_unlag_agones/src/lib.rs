//! Dedicated servers in a fleet of [Agones](https://agones.dev), by the REST interface of its sidecar.
//!
//! ```text
//!                          threads
//!  ServerState ─► AgonesPlugin ─► ready, health, allocate, shutdown, labels ─► sidecar ─► Kubernetes
//!      ▲               ▲                                                          │
//!      └── Allocated ──┴── AgonesAllocation ◄── watch: state, labels, annotations ┘
//! ```
//!
//! * [`AgonesPlugin`] follows [`ServerState`](bevy_unlag_server::ServerState): Agones learns that the server is ready,
//!   healthy, allocated, draining and stopped, and an allocation by Agones makes it `Allocated`.
//! * [`AgonesAllocation`]: the event of such an allocation, with the labels and annotations that say what to play.
//! * [`Agones`]: the connection, by which games set labels and annotations.
//! * [`AgonesConfig`]: the address of the sidecar and intervals. Without a sidecar the plugin does nothing.
//!
//! All requests are made by threads of their own, so no tick waits for the sidecar.
//!
//! # Example
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_unlag_agones::{Agones, AgonesAllocation, AgonesPlugin};
//!
//! /// A matchmaker has chosen this server.
//! fn begin_match(allocation: On<AgonesAllocation>, agones: Res<Agones>) {
//!     let map = allocation.annotation("example.org/map").unwrap_or("docks");
//!     info!("the match is played on {map}");
//!     agones.set_label("map", map);
//! }
//!
//! App::new().add_plugins((MinimalPlugins, AgonesPlugin)).add_observer(begin_match);
//! ```
//!
//! # In the book
//!
//! In the repository, `book/src/operations/deployment.md` describes a fleet, `book/src/reference/server.md` lists the
//! settings, and `deploy/agones/` has manifests.

mod allocation;
mod command_queue;
mod config;
mod connection;
mod game_server;
mod game_server_stream;
mod log_target;
mod players;
mod plugin;
mod retry_delay;
mod sdk_client;
mod shared_state;
mod worker;

pub use allocation::AgonesAllocation;
pub use config::AgonesConfig;
pub use connection::Agones;
pub use plugin::AgonesPlugin;
