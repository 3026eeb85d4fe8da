//! Tests of networked games: a server and its clients in one thread, on stepped time and seeded links.
//!
//! ```text
//!                      SteppedApps::run: frames in the order in which they are due
//!                       │                         │                        │
//!                  server app                client app 0             client app 1
//!                       │ ◄──── NetSim, seed ───► │                        │
//!                       │ ◄──── NetSim, seed ────────────────────────────► │
//!                       ▼                         ▼                        ▼
//!                    traces                    traces ── first_difference ─► the move that differs
//! ```
//!
//! * [`headless_app`] creates an app with the Bevy plugins that a game without a window needs; [`finish`]
//!   prepares any app for stepping.
//! * [`listen`] and [`join`] connect apps within one process, netcode handshake included, through a simulated
//!   link.
//! * [`SteppedApps`] runs the frames of all apps in the order in which they are due, each with its own frame
//!   rate and clock. Equal seeds give equal runs, however loaded the machine is.
//! * [`TracePlugin`] records where every move ended on both sides; [`first_difference`] names the first one
//!   that client and server do not agree about.
//! * [`assert_wire`] checks the form of an input, a state or a message on the wire, derived or written by
//!   hand.
//!
//! # Example
//!
//! A complete test of a game of one's own:
//!
//! ```
//! use std::time::Duration;
//! use bevy::prelude::*;
//! use bevy_rapier3d::prelude::Collider;
//! use bevy_unlag::{link_conditioner::LinkPreset, prelude::*};
//! use bevy_unlag_testkit::{SteppedApps, TracePlugin, first_difference, headless_app, traces};
//!
//! fn level(mut commands: Commands) {
//!     commands.spawn((Collider::cuboid(50.0, 0.5, 50.0), Transform::from_xyz(0.0, -0.5, 0.0)));
//! }
//!
//! let mut server = headless_app();
//! server.add_plugins((UnlagServerPlugins::default(), TracePlugin)).add_systems(Startup, level);
//! server.add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
//!     commands.spawn((SoldierPawn, NetId(1), player_pawn(joined.link, joined.peer)));
//! });
//! let mut client = headless_app();
//! client
//!     .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), TracePlugin))
//!     .add_systems(Startup, level)
//!     .add_systems(PreUpdate, |mut own: Query<&mut InputAccumulator>| {
//!         own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
//!     });
//!
//! let mut game = SteppedApps::new(server);
//! game.join(client, LinkPreset::find("Bad (UE)")?)?;
//! game.run(Duration::from_secs(5));
//! let server = traces(&mut game.server);
//! let client = traces(&mut game.clients[0]);
//! assert!(client[&NetId(1)].len() > 200, "the client moves");
//! assert_eq!(first_difference(&server[&NetId(1)], &client[&NetId(1)], 0.01), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # In the book
//!
//! In the repository, `book/src/reference/testkit.md` lists the functions, and `book/src/recipes/links_and_tests.md`
//! has tests of games; `recipes/tests/` has 49 recipes with such tests.

mod apps;
mod in_process;
mod stepped;
mod trace;
mod wire_properties;

pub use apps::{finish, headless_app};
pub use in_process::{join, join_with_token, listen, listen_with_access};
pub use stepped::{Client, SteppedApps};
pub use trace::{Difference, TracePlugin, first_difference, traces};
pub use wire_properties::{assert_wire, assert_wire_value};
