//! Small networked shooter and match harness shared by the examples, the lab and the integration tests.
//!
//! * [`arena`]: the level (floor, walls, stairs, ramp, cover) and its spawn points.
//! * [`rules`]: health, death and respawn: the minimum of a game.
//! * [`app`]: builders of a server app and a client app; [`link`] connects them.
//! * [`marks`]: map markers that players place, sent as game-defined messages.
//! * [`script`]: scripted players that strafe, turn, jump and shoot, driven by a seed.
//! * [`ledger`]: hits drawn by the client compared with hits confirmed by the server.
//! * [`lockstep`]: a match under stepped time; equal seeds give equal runs.
//! * [`realtime`]: a match over UDP, one thread per app; [`redial`]: reconnection of its clients.
//! * [`report`]: the table and the JSON report of a match.
//! * [`dedicated`]: command line of a dedicated server: its key and its connect tokens.
//! * `screen` (feature `window`) and [`args`]: windows, panels, sliders and command-line values.
//! * [`kart`]: a kart race that does not use the shooter.
//! * [`teleport`]: a study of four teleport implementations, without the shooter and without a network.

pub mod app;
pub mod arena;
pub mod args;
pub mod armoury;
pub mod dedicated;
pub mod kart;
pub mod ledger;
pub mod link;
pub mod lockstep;
pub mod marks;
pub mod realtime;
pub mod redial;
pub mod report;
pub mod rules;
#[cfg(feature = "window")]
pub mod screen;
pub mod script;
pub mod teleport;
