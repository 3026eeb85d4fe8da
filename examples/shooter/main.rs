//! Small networked shooter that uses the whole suite.
//!
//! * `shooter`: a dedicated server in a thread, bots that are separate clients, and a window that is a
//!   client like any other, over UDP.
//! * `shooter --listen`: listen server host in one app; F9 restarts the match.
//! * `shooter server`, `shooter client --connect ADDR`: a match of separate processes.
//! * `shooter server --key KEY`, `shooter client --token TOKEN`: the same with connect tokens.
//! * `shooter client --matchmaker URL`: asks a matchmaker for a match, such as the example `matchmaker`.
//! * `shooter server --spectators 100`, `shooter client --connect ADDR --spectate`: watches a match without a pawn.
//! * `shooter admin --socket FILE players`: asks a server that was started with `--admin FILE`.
//! * `shooter --headless`: scripted players fight without a window, and a table is printed.
//!
//! In a browser it is a client: `cargo xtask web`.

#[cfg(not(target_family = "wasm"))]
mod cli;
mod client_window;
mod combat_display;
mod effects;
mod hud;
mod kept_settings;
mod key_display;
mod marker_visuals;
#[cfg(not(target_family = "wasm"))]
mod native;
mod panel;
mod play;
mod showcase;
#[cfg(not(target_family = "wasm"))]
mod spectate;
mod split_view;
mod view;
#[cfg(target_family = "wasm")]
mod web;
mod window;

#[cfg(not(target_family = "wasm"))]
fn main() -> std::process::ExitCode {
    native::main()
}

#[cfg(target_family = "wasm")]
fn main() {
    web::main();
}
