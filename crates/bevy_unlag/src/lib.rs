//! Networked shooters on Bevy: predicted movement without input delay, smooth remote players, and
//! lag-compensated shots.
//!
//! This crate assembles the suite over lightyear. [`UnlagClientPlugins`] and [`UnlagServerPlugins`] are all that
//! an app needs: by default for a [`Soldier`], a capsule character with weapons, otherwise for any list of
//! [`Characters`]. [`prelude`] exports the common types; [`PlayerControls`] converts leafwing's actions to
//! input.
//!
//! ```text
//!  client                                                server
//!
//!  PlayerControls ─► MoveInput
//!                        │
//!  own pawn ◄── simulate, save ─────── moves, shots ───► simulate ─► validate shots ─► Damage
//!     ▲                                                     │             ▲
//!     └── replay, blend ◄── acknowledgements, corrections ──┤           rewind
//!                                                           ▼             │
//!  other pawns ◄── interpolate ◄─────── snapshots ─────  publish ──► FrameHistory
//! ```
//!
//! # Example
//!
//! A server that gives each player a soldier, and a client. `examples/minimal.rs` in the repository is complete, with
//! the connection.
//!
//! ```
//! use bevy::{ecs::error::warn, prelude::*, state::app::StatesPlugin};
//! use bevy_unlag::prelude::*;
//!
//! fn headless() -> App {
//!     let mut app = App::new();
//!     // An error of a system must not end the app: bytes of a peer can make systems of lightyear fail.
//!     app.set_error_handler(warn).add_plugins((MinimalPlugins, TransformPlugin, StatesPlugin));
//!     app
//! }
//!
//! let mut server = headless();
//! server.add_plugins(UnlagServerPlugins::default());
//! server.add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
//!     commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
//! });
//!
//! // In a window, `PlayerControlsPlugin::reading()` also reads keys, mouse and gamepads.
//! let mut client = headless();
//! client.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()));
//!
//! for mut app in [server, client] {
//!     app.finish();
//!     app.cleanup();
//!     app.update();
//! }
//! ```
//!
//! # Optional parts
//!
//! * [`ProxySmoothing`](core::ProxySmoothing) is how a remote pawn is drawn, [`UpdateInterval`](net::UpdateInterval)
//!   how often it is sent, and [`DownlinkBudget`](net::DownlinkBudget) limits what a client is sent.
//! * [`InterestPlugin`](net::InterestPlugin) conceals pawns that a player cannot see.
//! * [`HealthPlugin`](weapons::HealthPlugin) has health, death and respawns.
//! * [`NetSim`](net::NetSim) simulates a bad link.
//!
//! A game needs no other crate than Bevy and this one: [`lightyear`] and [`rapier`] are the versions that the suite
//! uses, for the connection and for colliders. For another transport use the underlying crates directly: [`core`],
//! [`movement`], [`prediction`], [`smoothing`], [`rewind`], [`weapons`].
//!
//! # Features
//!
//! | Feature | Default | Effect |
//! | --- | --- | --- |
//! | `visibility` | yes | Hides visuals of dead pawns. A dedicated server turns it off, and with it Bevy's crates for cameras and images. |
//! | `gizmos` | no | Debug views of pawns, corrections and shots: `MoverGizmosPlugin`, `CorrectionViewPlugin`, `ShotViewPlugin`. |
//! | `kart` | no | `KartModel`, a kart in place of the capsule. |
//! | `record` | no | `RecordPlugin` and the module `record`: recordings of matches. |
//! | `serde_wire` | no | `SerdeWire`: inputs, states and messages of a game with serde. |
//! | `webtransport` | no | WebTransport beside UDP: `SessionListeners` and `WebTransportClient` in [`guard`]. |
//! | `websocket` | no | WebSocket beside UDP: `SessionListeners` and `WebSocketClient` in [`guard`]. |
//! | `rapier_controller` | no | `MoverBackend`: movement by rapier's character controller, for comparison. |
//! | `moved_colliders` | no | `RewindBackend`: rewind by moved colliders, for comparison. |
//!
//! # In the book
//!
//! The repository has a book in `book/src/`: `tutorial/` goes from an empty folder to two players who shoot each other,
//! `recipes/` has 49 recipes with tests, `reference/overview.md` the plugin groups, the required setup and the order of
//! a frame, and `reference/controls.md` the controls.

mod character;
mod controls;
mod group_check;
#[cfg(feature = "visibility")]
mod mesh_check;
mod npc;
mod plugins;
pub mod prelude;
mod reflection;

pub use bevy_unlag_core as core;
pub use bevy_unlag_lightyear as net;
pub use bevy_unlag_movement as movement;
pub use bevy_unlag_prediction as prediction;
#[cfg(feature = "record")]
pub use bevy_unlag_record as record;
pub use bevy_unlag_rewind as rewind;
pub use bevy_unlag_smoothing as smoothing;
pub use bevy_unlag_weapons as weapons;
pub use lightyear_guard as guard;
pub use link_conditioner;

/// Physics of the level: the version of `bevy_rapier3d` that the suite uses.
pub use bevy_rapier3d as rapier;
/// The transport: the version of lightyear that the suite uses.
pub use lightyear;

pub use character::{Character, CharacterPawn, Characters, ClassBodies, HostCharacterPawn, NpcPawn, Side};
pub use controls::{ControlSystems, PadButton, PadStick, PlayerAction, PlayerControls, PlayerControlsPlugin};
pub use npc::NpcControls;
pub use plugins::{
    HostSoldierPawn, Soldier, SoldierBody, SoldierPawn, SoldierState, SoldierWith, UnlagClientPlugins,
    UnlagServerPlugins,
};
