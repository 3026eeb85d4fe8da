//! The command line.

use bevy_unlag_movement::MoverBackend;
use clap::{Parser, ValueEnum};
use unlag_examples::{args::seconds, screen::WindowArgs};

use crate::tuning::Preset;

/// An obstacle course for the capsule mover. Walk it yourself, or let a script do it.
#[derive(Parser, Debug)]
#[command(name = "movement", version)]
pub struct Cli {
    /// No window: a script walks the course, a table is printed, and code 1 says that a station
    /// failed.
    #[arg(long)]
    pub headless: bool,
    /// The station to begin at.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub station: u16,
    /// What moves the capsule.
    #[arg(long, value_enum, default_value_t = Backend::Unlag)]
    pub backend: Backend,
    /// How it feels. Scripts are made for the first.
    #[arg(long, value_enum, default_value_t = Feel::Unreal)]
    pub preset: Feel,
    /// What the window is like.
    #[command(flatten)]
    pub window: WindowArgs,
    /// Seconds until the picture; with --headless, seconds of game time after which the tour ends.
    /// Default: 10 and 600.
    #[arg(long, value_parser = seconds)]
    pub seconds: Option<f64>,
}

/// What moves the capsule.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    /// The suite's own sweeps.
    Unlag,
    /// Rapier's character controller, for comparison: many stations are beyond it.
    Rapier,
}

impl From<Backend> for MoverBackend {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Unlag => Self::Unlag,
            Backend::Rapier => Self::Rapier,
        }
    }
}

/// How it feels.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feel {
    /// Unreal's.
    Unreal,
    /// Quake's.
    Quake,
    /// Snappy and forgiving.
    Arcade,
}

impl From<Feel> for Preset {
    fn from(feel: Feel) -> Self {
        match feel {
            Feel::Unreal => Self::Unreal,
            Feel::Quake => Self::Quake,
            Feel::Arcade => Self::Arcade,
        }
    }
}
