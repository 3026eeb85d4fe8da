//! Command line of the obstacle course.

use bevy_unlag_movement::MoverBackend;
use clap::{Parser, ValueEnum};
use unlag_examples::{args::seconds, screen::WindowArgs};

use crate::tuning::Preset;

/// An obstacle course for the capsule character. Walk it yourself, or let a script do it.
#[derive(Parser, Debug)]
#[command(name = "movement", version)]
pub struct Cli {
    /// Run without a window: a script walks the course, and a table is printed. Exits with code 1 if a
    /// station failed.
    #[arg(long)]
    pub headless: bool,
    /// Station to start at.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub station: u16,
    /// Mover implementation.
    #[arg(long, value_enum, default_value_t = Backend::Unlag)]
    pub backend: Backend,
    /// Movement preset. The scripts are tuned for the first one.
    #[arg(long, value_enum, default_value_t = Preset::Unreal)]
    pub preset: Preset,
    /// Options of the window.
    #[command(flatten)]
    pub window: WindowArgs,
    /// Time of the screenshot in seconds; with --headless, maximum game time of the tour. Default: 10 and
    /// 600.
    #[arg(long, value_parser = seconds)]
    pub seconds: Option<f64>,
}

/// Mover implementation.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    /// The suite's own shape sweeps.
    Unlag,
    /// Rapier's character controller, for comparison; many stations fail with it.
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
