//! Command line of the hit box editor.

use std::path::PathBuf;

use clap::Parser;
use unlag_examples::{args::seconds, screen::WindowArgs};

/// Hit box editor: shows hit boxes on a humanoid in any pose, edits and saves them.
#[derive(Parser, Debug)]
#[command(name = "hitboxes", version)]
pub struct Cli {
    /// Validate this hit box file without a window. Prints one line; exits with code 2 if the file is
    /// invalid.
    #[arg(long, value_name = "FILE")]
    pub check: Option<PathBuf>,
    /// File to edit. If it does not exist, editing starts with the humanoid's boxes, and saving creates it.
    #[arg(long, default_value = "humanoid.hitboxes.ron")]
    pub file: PathBuf,
    /// Options of the window. With --autoplay the humanoid walks at first.
    #[command(flatten)]
    pub window: WindowArgs,
    /// Time of the --screenshot, in seconds.
    #[arg(long, default_value_t = 5.0, value_parser = seconds)]
    pub seconds: f64,
}
