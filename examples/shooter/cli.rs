//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use bevy_unlag::prelude::{LinkConditions, LinkPreset, LinkPresets};
use unlag_examples::{
    args::{percent, presets, seconds},
    dedicated::{ServeArgs, Switch, TokenArgs},
    screen::WindowArgs,
};

/// A small networked shooter. Without a command: a dedicated server, bots, and a window.
#[derive(Parser, Debug)]
#[command(name = "shooter", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to be, if not everything at once.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Host in the same app: your own soldier is the authority.
    #[arg(long)]
    pub listen: bool,
    /// No window: scripted players fight, and a table is printed.
    #[arg(long, conflicts_with = "listen")]
    pub headless: bool,
    /// With --headless: play over UDP in real time instead of stepping time by hand.
    #[arg(long, requires = "headless")]
    pub udp: bool,
    /// How many players, you included.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub players: u64,
    /// The UDP port to listen on; 0 takes any free one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// What the window is like.
    #[command(flatten)]
    pub window: WindowArgs,
    /// What a headless player and its link are like.
    #[command(flatten)]
    pub play: Play,
    /// Whether shots are judged against the past.
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub rewind: Switch,
}

/// What to be.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// A dedicated server.
    Server(ServeArgs),
    /// Writes a new key for a server to standard output.
    Key,
    /// Writes a token for one client to standard output, as a matchmaker would send it.
    Token(TokenArgs),
    /// A client of somebody's server.
    Client {
        /// The server's address, such as 192.168.0.7:5000; for a server without a key.
        #[arg(long, value_name = "ADDR", required_unless_present = "token")]
        connect: Option<String>,
        /// A file with a token for the server; see `shooter token`.
        #[arg(long, value_name = "FILE", conflicts_with = "connect")]
        token: Option<PathBuf>,
        /// No window: a script plays, and a table is printed.
        #[arg(long)]
        headless: bool,
        /// What the window is like.
        #[command(flatten)]
        window: WindowArgs,
        /// What the player and its link are like.
        #[command(flatten)]
        play: Play,
    },
}

/// What a player and its link are like.
#[derive(Args, Clone, Debug)]
pub struct Play {
    /// How long to fight.
    #[arg(long, default_value_t = 20.0, value_parser = seconds)]
    pub seconds: f64,
    /// The simulated link, by name.
    #[arg(long, default_value = "Perfect")]
    preset: String,
    /// A file of simulated links of your own, in the form of the library's presets.ron.
    #[arg(long, value_name = "FILE", value_parser = presets)]
    presets: Option<LinkPresets>,
    /// The seed of scripts and links.
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// In the window, show at first what each kind of message costs; F6 does so later.
    #[arg(long)]
    pub bandwidth: bool,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Leave with code 1 when either agreement number is below this many percent.
    #[arg(long, value_parser = percent)]
    pub min_agreement: Option<f64>,
}

impl Play {
    /// The simulated links that there are.
    pub fn presets(&self) -> LinkPresets {
        self.presets.clone().unwrap_or_default()
    }

    /// The simulated link.
    ///
    /// # Errors
    /// Which ones there are.
    pub fn preset(&self) -> Result<LinkPreset, String> {
        self.presets().find(&self.preset).cloned().map_err(|error| error.to_string())
    }

    /// Its conditions.
    ///
    /// # Errors
    /// As [`preset`](Self::preset).
    pub fn conditions(&self) -> Result<LinkConditions, String> {
        self.preset().map(|preset| preset.conditions())
    }
}
