//! Obstacle course for the capsule character, without networking.
//!
//! * `movement`: a window to walk the course in; `V` shows the queries of the mover.
//! * `movement --autoplay`: a script crosses every station.
//! * `movement --headless`: the same without a window; a table lists which stations passed.

mod camera;
mod cli;
mod controls;
mod course;
mod event_log;
mod expectation;
mod headless;
mod hud;
mod key_bindings;
mod labels;
mod ladder_climbing;
mod pawn;
mod pawn_visuals;
mod scene;
mod script;
mod sim;
mod spawning;
mod timing;
mod tour;
mod tuning;
mod window;

use std::process::ExitCode;

use clap::Parser;
use unlag_examples::{args::exit_code, screen};

use cli::Cli;
use tuning::Tuning;

fn main() -> ExitCode {
    exit_code(run(&Cli::parse()))
}

fn run(cli: &Cli) -> Result<ExitCode, String> {
    let tuning = Tuning { preset: cli.preset, backend: cli.backend.into(), ..Tuning::default() };
    let stations = course::Course::laid_out().0.len();
    let first = usize::from(cli.station) - 1;
    if first >= stations {
        return Err(format!("--station {} does not exist; choose one of 1 to {stations}", cli.station));
    }
    if cli.headless {
        return Ok(headless::run(tuning, first, cli.seconds.unwrap_or(600.0)));
    }
    screen::display("use --headless to walk the course without a window")?;
    Ok(window::run(cli, tuning, first))
}
