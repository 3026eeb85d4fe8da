//! Dedicated server of the shooter, without rendering:
//! `cargo build --release -p unlag_examples --no-default-features --example server`.
//!
//! * `server key > KEY`: creates a new key.
//! * `server --key KEY`: serves clients that have a token. Without a key (development mode) it serves any
//!   client.
//! * `server token --key KEY --connect ADDR > TOKEN`: creates a connect token, as a matchmaker does.
//! * `server admin --socket FILE players`: asks a running server that was started with `--admin FILE`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use unlag_examples::{
    args::exit_code,
    dedicated::{self, AdminArgs, KeyArgs, ServeArgs, TokenArgs},
};

/// Dedicated server of the shooter.
#[derive(Parser, Debug)]
#[command(name = "server", version, args_conflicts_with_subcommands = true)]
struct Cli {
    /// Subcommand to run instead of the server.
    #[command(subcommand)]
    command: Option<Command>,
    /// Options of the server.
    #[command(flatten)]
    serve: ServeArgs,
}

/// Subcommands other than running the server.
#[derive(Subcommand, Debug)]
enum Command {
    /// Write a new server key to standard output, or the keys of a server of a fleet.
    Key(KeyArgs),
    /// Write a connect token for one client to standard output, as a matchmaker would send it.
    Token(TokenArgs),
    /// Send a command to a running server.
    Admin(AdminArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        Some(Command::Key(key)) => dedicated::write_key(key),
        Some(Command::Token(token)) => dedicated::write_token(token),
        Some(Command::Admin(admin)) => dedicated::administer(admin),
        None => dedicated::serve(&cli.serve),
    };
    exit_code(done.map(|()| ExitCode::SUCCESS))
}
