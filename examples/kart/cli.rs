//! The command line.

use core::time::Duration;

use bevy_unlag::prelude::{LinkConditions, LinkPreset};
use clap::Parser;
use unlag_examples::{
    args::{number, preset, seconds},
    kart::race::RaceOptions,
    screen::WindowArgs,
};

/// A kart with and without the cures for lag. Without --headless: a server, another driver, and a
/// window.
#[derive(Parser, Debug)]
#[command(name = "kart", version)]
pub struct Cli {
    /// No window: scripts race, a table is printed, and code 1 says that Hermite was no better than
    /// linear, or that the own kart jumped though its moves were replayed.
    #[arg(long)]
    pub headless: bool,
    /// How long to measure, for each rate; in the window, until --screenshot.
    #[arg(long, default_value_t = 25.0, value_parser = seconds)]
    pub seconds: f64,
    /// In the window, follow the other kart at first.
    #[arg(long)]
    pub watch: bool,
    /// In the window, let the server's state overwrite the own kart at first.
    #[arg(long)]
    pub overwrite: bool,
    /// With --headless, the rates of updates to try, in Hz; in the window, the first is set at first.
    #[arg(long, value_delimiter = ',', default_value = "10,1,5,30,60", value_parser = rate)]
    pub rates: Vec<f64>,
    /// Latency of the own link, one way, in milliseconds; the simulated link by name replaces it.
    #[arg(long, default_value_t = 100.0, value_parser = lag)]
    pub lag: f64,
    /// The simulated link, by name.
    #[arg(long, value_parser = preset)]
    pub preset: Option<&'static LinkPreset>,
    /// The seed of the link.
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// What the window is like.
    #[command(flatten)]
    pub window: WindowArgs,
}

impl Cli {
    /// The simulated link.
    pub fn conditions(&self) -> LinkConditions {
        let latency = Duration::from_secs_f64(self.lag * 1e-3);
        self.preset.map_or(LinkConditions { latency, ..LinkConditions::PERFECT }, LinkPreset::conditions)
    }

    /// What is raced.
    pub fn race(&self) -> RaceOptions {
        RaceOptions {
            seconds: self.seconds,
            conditions: self.conditions(),
            seed: self.seed,
            rates: self.rates.iter().map(|rate| *rate as f32).collect(),
            ..RaceOptions::default()
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    number(text, 1.0, 60.0)
}

fn lag(text: &str) -> Result<f64, String> {
    number(text, 0.0, 1_000.0)
}
