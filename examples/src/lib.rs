//! Small networked shooter and match harness shared by the examples, the lab and the integration tests.
//!
//! * [`arena`]: the level (floor, walls, stairs, ramp, cover) and its spawn points.
//! * [`rules`]: health, death and respawn: the minimum of a game.
//! * [`hero`]: the soldier with abilities that people play; [`karts`]: vehicles.
//! * [`app`]: builders of a server app and a client app; [`connection`] connects them.
//! * [`maps`]: maps and texts that an operator changes and says on a running server.
//! * [`markers`]: map markers that players place, sent as game-defined messages.
//! * [`scripted_player`]: scripted players that strafe, turn, jump and shoot, driven by a seed.
//! * [`screen_feed`]: what another thread's app shows, for the split view.
//! * [`shot_stats`]: hits drawn by the client compared with hits confirmed by the server.
//! * [`slow_motion`]: a match that runs slower than real time, for films and for looking closely.
//! * [`stepped_match`]: a match under stepped time; equal seeds give equal runs.
//! * [`techniques`]: switches of the suite's techniques, and the number beside each.
//! * [`timeline`]: what became of each tick of a client, and traces of it for Perfetto.
//! * [`tour`]: the guided tour, stop by stop.
//! * `udp_match`: a match over UDP, one thread per app; `app_threads`: those threads; [`server_debug`]: controls of
//!   such a server.
//! * [`connection_monitor`]: what a client tells its player about the connection; [`reconnect`]: reconnection.
//! * [`recorded_names`]: names of what recordings hold as numbers.
//! * [`recording`]: recordings of matches, and what a replay compares with them.
//! * [`spectating`]: spectators: who may watch, and a client that does.
//! * [`match_report`]: the table and the JSON report of a match; [`match_end`]: why a client's match ended.
//! * [`death_report`]: why a player died, told by the server; [`kill_feed`]: who killed whom.
//! * `dedicated`: command line of a dedicated server: its key and its connect tokens.
//! * `operation`: keys that are read again, the end of a server's only match; `operator_commands`: maps and texts.
//! * `match_rules`: the match that a server of a fleet is allocated for.
//! * `matchmaking`: requests to a matchmaker, over HTTP (`http_client`); `matchmaker`: one that takes them.
//! * [`logs`]: log settings.
//! * `visuals` (feature `window`): how the shooter draws its arena and its pawns.
//! * `playback_view` (feature `window`): the view of a playback, of the replay and of spectators.
//! * `screen` (feature `window`) and [`args`]: windows, panels, sliders and command-line values.
//! * `kart`: a kart race that does not use the shooter.
//! * [`teleport`]: a study of four teleport implementations, without the shooter and without a network.
//!
//! Browsers have the modules of clients. Servers, matchmakers and threads are native only.

pub mod app;
#[cfg(not(target_family = "wasm"))]
pub mod app_threads;
pub mod arena;
pub mod args;
pub mod connection;
pub mod connection_monitor;
pub mod death_report;
#[cfg(not(target_family = "wasm"))]
pub mod dedicated;
pub mod hero;
#[cfg(not(target_family = "wasm"))]
pub mod http_client;
#[cfg(not(target_family = "wasm"))]
pub mod kart;
pub mod karts;
pub mod kill_feed;
pub mod logs;
pub mod maps;
pub mod markers;
pub mod match_end;
pub mod match_report;
#[cfg(not(target_family = "wasm"))]
pub mod match_rules;
#[cfg(not(target_family = "wasm"))]
pub mod matchmaker;
#[cfg(not(target_family = "wasm"))]
pub mod matchmaking;
#[cfg(not(target_family = "wasm"))]
pub mod operation;
#[cfg(not(target_family = "wasm"))]
pub mod operator_commands;
#[cfg(feature = "window")]
pub mod playback_view;
pub mod reconnect;
pub mod recorded_names;
pub mod recording;
pub mod rules;
#[cfg(feature = "window")]
pub mod screen;
pub mod screen_feed;
pub mod scripted_player;
pub mod server_debug;
pub mod shot_stats;
pub mod slow_motion;
pub mod spectating;
pub mod stepped_match;
pub mod techniques;
pub mod teleport;
pub mod timeline;
pub mod tour;
pub mod transport;
#[cfg(not(target_family = "wasm"))]
pub mod udp_match;
#[cfg(feature = "window")]
pub mod visuals;
pub mod weapon_set;
