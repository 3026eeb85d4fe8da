//! The small shooter that the examples, the lab and the tests share.
//!
//! * [`arena`]: floor, walls, stairs, a ramp, cover, and where players appear.
//! * [`rules`]: health, death, respawn: just enough of a game.
//! * [`app`]: a server app and a client app of it; [`link`] connects them.
//! * [`marks`]: a player points at a place, in messages of the game's own.
//! * [`script`]: players that strafe, turn, jump and shoot by a seed.
//! * [`ledger`]: what was drawn against what was confirmed.
//! * [`lockstep`]: a match under stepped time, the same for the same seed.
//! * [`realtime`]: a match over UDP, in threads; [`redial`]: a client of it that has lost its connection.
//! * [`report`]: the table.
//! * [`dedicated`]: a server's key and its tokens on a command line.
//! * `screen` (feature `window`) and [`args`]: windows, panels, sliders and command lines.
//! * [`kart`]: a race of karts, without the shooter.
//! * [`teleport`]: a teleport built four ways, without the shooter and without a network.

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
