//! The shooter's dedicated server by itself, without anything that draws:
//! `cargo build --release -p unlag_examples --no-default-features --example server`.
//!
//! * `server key > KEY`: a new key.
//! * `server --key KEY`: serves those who have a token. Without a key everybody: development mode.
//! * `server token --key KEY --connect ADDR > TOKEN`: makes a token, as a matchmaker does.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use unlag_examples::dedicated::{self, ServeArgs, TokenArgs};

/// The shooter's dedicated server.
#[derive(Parser, Debug)]
#[command(name = "server", version, args_conflicts_with_subcommands = true)]
struct Cli {
    /// What to do instead of serving.
    #[command(subcommand)]
    command: Option<Command>,
    /// How to serve.
    #[command(flatten)]
    serve: ServeArgs,
}

/// What to do instead of serving.
#[derive(Subcommand, Debug)]
enum Command {
    /// Writes a new key for a server to standard output.
    Key,
    /// Writes a token for one client to standard output, as a matchmaker would send it.
    Token(TokenArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        Some(Command::Key) => dedicated::write_key(),
        Some(Command::Token(token)) => dedicated::write_token(token),
        None => dedicated::serve(&cli.serve),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(line) => {
            eprintln!("error: {line}");
            ExitCode::from(2)
        }
    }
}
