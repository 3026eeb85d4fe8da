//! Command line of the kart example.

use core::time::Duration;

use bevy_unlag::link_conditioner::{LinkConditions, LinkPreset};
use clap::Parser;
use unlag_examples::{
    args::{number, preset, seconds},
    kart::race::RaceOptions,
    screen::WindowArgs,
};

/// A kart race that compares techniques which hide latency. Without --headless: a server, a scripted driver,
/// and a window.
#[derive(Parser, Debug)]
#[command(name = "kart", version)]
pub struct Cli {
    /// Run without a window: scripted drivers race, and a table is printed. Exits with code 1 if Hermite
    /// interpolation was not better than linear, or if the own kart jumped although its moves were replayed.
    #[arg(long)]
    pub headless: bool,
    /// Time of each measurement in seconds; in the window, time until --screenshot.
    #[arg(long, default_value_t = 25.0, value_parser = seconds)]
    pub seconds: f64,
    /// In the window, start with the camera on the remote kart.
    #[arg(long)]
    pub watch: bool,
    /// In the window, start with the server's state overwriting the own kart.
    #[arg(long)]
    pub overwrite: bool,
    /// With --headless, the update rates to measure, in Hz; in the window, the first one is the initial
    /// rate.
    #[arg(long, value_delimiter = ',', default_value = "10,1,5,30,60", value_parser = rate)]
    pub rates: Vec<f32>,
    /// Latency of the own link in milliseconds, one way. --preset overrides it.
    #[arg(long, default_value_t = 100.0, value_parser = lag)]
    pub lag: f64,
    /// Simulated link, by the name of its preset.
    #[arg(long, value_parser = preset)]
    pub preset: Option<&'static LinkPreset>,
    /// Seed of the link.
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Options of the window.
    #[command(flatten)]
    pub window: WindowArgs,
}

impl Cli {
    /// Returns the conditions of the simulated link.
    pub fn conditions(&self) -> LinkConditions {
        let latency = Duration::from_secs_f64(self.lag * 1e-3);
        self.preset.map_or(LinkConditions { latency, ..LinkConditions::PERFECT }, LinkPreset::conditions)
    }

    /// Returns the configuration of the headless race.
    pub fn race(&self) -> RaceOptions {
        RaceOptions {
            seconds: self.seconds,
            conditions: self.conditions(),
            seed: self.seed,
            rates: self.rates.clone(),
            ..RaceOptions::default()
        }
    }
}

fn rate(text: &str) -> Result<f32, String> {
    number(text, 1.0, 60.0)
}

fn lag(text: &str) -> Result<f64, String> {
    number(text, 0.0, 1_000.0)
}
