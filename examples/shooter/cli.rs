//! Command line of the shooter.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use unlag_examples::{
    dedicated::{AdminArgs, KeyArgs, OnOff, ServeArgs, TokenArgs},
    recording,
    screen::WindowArgs,
    scripted_player::BotSkill,
    transport::TransportArgs,
};

use crate::play::Play;

/// A small networked shooter. Without a command: a dedicated server, bots, and a window.
#[derive(Parser, Debug)]
#[command(name = "shooter", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// Part to run instead of everything at once.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Host in the same app, as a listen server: your own soldier is the authority.
    #[arg(long)]
    pub listen: bool,
    /// Run without a window: scripted players fight, and a table is printed.
    #[arg(long, conflicts_with = "listen")]
    pub headless: bool,
    /// With --headless, play over UDP in real time instead of stepping time manually.
    #[arg(long, requires = "headless")]
    pub udp: bool,
    /// Number of players, including you.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub players: u64,
    /// Skill of the bots in a window's match.
    #[arg(long, value_enum, default_value_t)]
    pub bots: BotSkill,
    /// UDP port to listen on; 0 takes any free one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Let the whole match, with its links, run so many times slower than real time.
    #[arg(
        long, value_name = "TIMES", conflicts_with = "headless",
        value_parser = clap::value_parser!(u8).range(2..=100),
    )]
    pub slow_motion: Option<u8>,
    /// Record the match on the server into this file, which the example `replay` shows.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Options of the window.
    #[command(flatten)]
    pub window: WindowArgs,
    /// Options of the headless players and their links.
    #[command(flatten)]
    pub play: Play,
    /// Whether the server rewinds targets to the shooter's view time (lag compensation).
    #[arg(long, value_enum, default_value_t = OnOff::On)]
    pub rewind: OnOff,
}

/// Subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run a dedicated server.
    Server(ServeArgs),
    /// Write a new server key to standard output, or the keys of a server of a fleet.
    Key(KeyArgs),
    /// Write a connect token for one client to standard output, as a matchmaker would send it.
    Token(TokenArgs),
    /// Send a command to a running server.
    Admin(AdminArgs),
    /// Run a client.
    Client {
        /// Address of a server without a key, such as 192.168.0.7:5000.
        #[arg(long, value_name = "ADDR", required_unless_present_any = ["token", "matchmaker"])]
        connect: Option<String>,
        /// File with a connect token for the server; see `shooter token`.
        #[arg(long, value_name = "FILE", conflicts_with = "connect")]
        token: Option<PathBuf>,
        /// Ask this matchmaker for a match, such as `http://127.0.0.1:8080`; see the example `matchmaker`.
        #[arg(long, value_name = "URL", conflicts_with_all = ["connect", "token"])]
        matchmaker: Option<String>,
        /// Number of players in this process, each of which asks the matchmaker by itself. Only with --headless.
        #[arg(
            long, default_value_t = 1, requires = "matchmaker", requires = "headless",
            value_parser = clap::value_parser!(u64).range(1..=64),
        )]
        players: u64,
        /// Watch the match without taking part in it. With --headless, print what was seen as one JSON object.
        #[arg(long, conflicts_with = "matchmaker")]
        spectate: bool,
        /// Transport to the server.
        #[command(flatten)]
        transport: TransportArgs,
        /// Run without a window: a script plays, and a table is printed.
        #[arg(long)]
        headless: bool,
        /// Options of the window.
        #[command(flatten)]
        window: WindowArgs,
        /// Options of the player and its link.
        #[command(flatten)]
        play: Play,
    },
}

impl Cli {
    /// Returns the file to record into, if there is one.
    ///
    /// # Errors
    /// Returns one line if it cannot be written.
    pub fn record(&self) -> Result<Option<PathBuf>, String> {
        self.record.as_deref().map(recording::writable).transpose()
    }
}
