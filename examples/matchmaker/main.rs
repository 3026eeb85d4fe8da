//! Small matchmaker for the shooter: see [`unlag_examples::matchmaker`].
//!
//! * `matchmaker`: takes requests at <http://127.0.0.1:8080> and starts a server process for each match. Clients:
//!   `shooter client --matchmaker http://127.0.0.1:8080`.
//! * `matchmaker --agones URL --fleet-key KEY`: allocates servers of an Agones fleet instead.
//! * `matchmaker measure`: how many requests it answers in a second.

use std::process::ExitCode;

use bevy_unlag_server::say;
use clap::{Parser, Subcommand};
use unlag_examples::{
    args::exit_code,
    matchmaker::{self, MatchmakerArgs},
};

/// Small matchmaker for the shooter.
#[derive(Parser, Debug)]
#[command(name = "matchmaker", version, args_conflicts_with_subcommands = true)]
struct Cli {
    /// Subcommand to run instead of the matchmaker.
    #[command(subcommand)]
    command: Option<Command>,
    /// Options of the matchmaker.
    #[command(flatten)]
    serve: MatchmakerArgs,
}

/// Subcommands other than running the matchmaker.
#[derive(Subcommand, Debug)]
enum Command {
    /// Measure how many requests are answered in a second, without servers. Prints a JSON object.
    Measure {
        /// Number of requests, rounded down to a multiple of 8.
        #[arg(long, default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(8..=1_000_000))]
        requests: u32,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        Some(Command::Measure { requests }) => matchmaker::measure(*requests).map(say),
        None => matchmaker::serve(&cli.serve),
    };
    exit_code(done.map(|()| ExitCode::SUCCESS))
}
