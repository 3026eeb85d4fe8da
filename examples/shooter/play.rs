//! Options of a player and its simulated link.

use std::path::PathBuf;

use bevy_unlag::link_conditioner::{LinkPreset, LinkPresets};
use clap::Args;
use unlag_examples::args::{self, percent, seconds};

use crate::showcase::Showcase;

/// Options of a player and its link.
#[derive(Args, Clone, Debug)]
pub struct Play {
    /// Duration of the fight, in seconds.
    #[arg(long, default_value_t = 20.0, value_parser = seconds)]
    pub seconds: f64,
    /// Simulated link, by the name of its preset.
    #[arg(long, default_value = "Perfect")]
    preset: String,
    /// File with additional link presets, in the format of the library's presets.ron.
    #[arg(long, value_name = "FILE")]
    presets: Option<PathBuf>,
    /// Seed of scripts and links.
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Show the table of message bandwidth at first; F6 toggles it.
    #[arg(long)]
    pub bandwidth: bool,
    /// Options of the tour and the switches.
    #[command(flatten)]
    pub showcase: Showcase,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Exit with code 1 if either agreement share is below this percentage.
    #[arg(long, value_parser = percent)]
    pub min_agreement: Option<f64>,
}

impl Play {
    /// Returns the defaults of the command line, with a link preset if one is named, and a seed.
    #[cfg(target_family = "wasm")]
    pub fn in_browser(preset: Option<String>, seed: u64) -> Self {
        Self {
            seconds: 20.0,
            preset: preset.unwrap_or_else(|| "Perfect".to_owned()),
            presets: None,
            seed,
            bandwidth: false,
            showcase: Showcase::default(),
            json: false,
            min_agreement: None,
        }
    }

    /// Reads the available link presets: the library's, and those of `--presets`.
    ///
    /// # Errors
    /// Returns in one line what is wrong with the file.
    pub fn presets(&self) -> Result<LinkPresets, String> {
        self.presets.as_deref().map_or_else(|| Ok(LinkPresets::default()), args::presets)
    }

    /// Returns the selected link preset.
    ///
    /// # Errors
    /// Returns the names of the available presets.
    pub fn preset_of<'a>(&self, presets: &'a LinkPresets) -> Result<&'a LinkPreset, String> {
        presets.find(&self.preset).map_err(|error| error.to_string())
    }

    /// Reads the presets, and returns the conditions of the selected one, for players without a window.
    ///
    /// # Errors
    /// Returns the error of [`presets`](Self::presets) or [`preset_of`](Self::preset_of).
    #[cfg(not(target_family = "wasm"))]
    pub fn conditions(&self) -> Result<bevy_unlag::link_conditioner::LinkConditions, String> {
        Ok(self.preset_of(&self.presets()?)?.conditions())
    }
}
