//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};

use bevy_unlag::prelude::{LinkConditions, LinkPreset, RewindMode};
use unlag_examples::{
    args::{percent, preset, seconds},
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
    Server {
        /// The UDP port to listen on.
        #[arg(long, default_value_t = unlag_examples::link::DEFAULT_PORT)]
        port: u16,
        /// Whether shots are judged against the past.
        #[arg(long, value_enum, default_value_t = Switch::On)]
        rewind: Switch,
    },
    /// A client of somebody's server.
    Client {
        /// The server's address, such as 192.168.0.7:5000.
        #[arg(long)]
        connect: String,
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
    #[arg(long, default_value = "Perfect", value_parser = preset)]
    pub preset: &'static LinkPreset,
    /// The seed of scripts and links.
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Leave with code 1 when either agreement number is below this many percent.
    #[arg(long, value_parser = percent)]
    pub min_agreement: Option<f64>,
}

impl Play {
    /// The simulated link.
    pub fn conditions(&self) -> LinkConditions {
        self.preset.conditions()
    }
}

/// On or off.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

impl From<Switch> for RewindMode {
    fn from(switch: Switch) -> Self {
        match switch {
            Switch::On => Self::On,
            Switch::Off => Self::Off,
        }
    }
}
