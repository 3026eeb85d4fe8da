//! The command line.

use std::path::PathBuf;

use bevy_unlag_movement::MoverBackend;
use clap::{Parser, ValueEnum};

use crate::tuning::Preset;

/// An obstacle course for the capsule mover. Walk it yourself, or let a script do it.
#[derive(Parser, Debug)]
#[command(name = "movement", version)]
pub struct Cli {
    /// Let a script walk the course in the window.
    #[arg(long)]
    pub autoplay: bool,
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
    /// The window's size in pixels.
    #[arg(long, default_value = "1280x720", value_parser = size)]
    pub size: (u32, u32),
    /// No anti-aliasing, for a machine that draws without a graphics card.
    #[arg(long)]
    pub plain: bool,
    /// Save a picture of the window to this file after --seconds, then leave.
    #[arg(long)]
    pub screenshot: Option<PathBuf>,
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

fn size(text: &str) -> Result<(u32, u32), String> {
    let (width, height) = text.split_once('x').ok_or("write it like 1280x720")?;
    let side = |text: &str| match text.parse() {
        Ok(pixels) if (200..=8_192).contains(&pixels) => Ok(pixels),
        _ => Err("each side must be 200 to 8192".to_owned()),
    };
    Ok((side(width)?, side(height)?))
}

fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.1..=86_400.0).contains(&value) { Ok(value) } else { Err("must be 0.1 to 86400".to_owned()) }
}
