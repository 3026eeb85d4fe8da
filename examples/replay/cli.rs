//! Command line of the replay.

use std::path::PathBuf;

use clap::Parser;
use unlag_examples::{
    args::{number, seconds},
    screen::WindowArgs,
};

/// Shows a match that the shooter has recorded with --record.
#[derive(Parser, Debug)]
#[command(name = "replay", version)]
pub struct Cli {
    /// The recording of the server.
    pub file: PathBuf,
    /// Print what happened as one JSON object, without a window.
    #[arg(long)]
    pub json: bool,
    /// With --json: why each shot counted or not.
    #[arg(long, requires = "json")]
    pub shots: bool,
    /// Write a trace of the match into this file, without a window; `ui.perfetto.dev` and `chrome://tracing` open it.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub timeline: Option<PathBuf>,
    /// A player's recording of its own screen, by which first person shows each of its frames as it was.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub screen: Option<PathBuf>,
    /// Moment at first, in seconds from the start.
    #[arg(long, default_value_t = 0.0, value_parser = moment, conflicts_with = "json")]
    pub at: f64,
    /// Pawn that is followed at first, by its network id, in first person.
    #[arg(long, value_name = "NUMBER", conflicts_with = "json")]
    pub follow: Option<u16>,
    /// With --follow: third person.
    #[arg(long, requires = "follow")]
    pub third_person: bool,
    /// Explain the shots from the start on, as X does.
    #[arg(long, conflicts_with = "json")]
    pub explain: bool,
    /// Time until --screenshot, in seconds.
    #[arg(long, default_value_t = 5.0, value_parser = seconds)]
    pub seconds: f64,
    /// Options of the window. With --autoplay the replay begins to play at once.
    #[command(flatten)]
    pub window: WindowArgs,
}

fn moment(text: &str) -> Result<f64, String> {
    number(text, 0.0, 1e6)
}
