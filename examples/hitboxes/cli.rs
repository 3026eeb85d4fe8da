//! The command line.

use std::path::PathBuf;

use clap::Parser;
use unlag_examples::{args::seconds, screen::WindowArgs};

/// An editor of hit boxes: shows them on a humanoid in any pose, changes them, and saves them.
#[derive(Parser, Debug)]
#[command(name = "hitboxes", version)]
pub struct Cli {
    /// No window: says in one line whether this file of hit boxes is good, with code 2 if it is not.
    #[arg(long, value_name = "FILE")]
    pub check: Option<PathBuf>,
    /// The file to edit. One that is not there begins with the humanoid's boxes, and is made when it is saved.
    #[arg(long, default_value = "humanoid.hitboxes.ron")]
    pub file: PathBuf,
    /// What the window is like. With --autoplay the humanoid walks at first.
    #[command(flatten)]
    pub window: WindowArgs,
    /// Seconds until the picture of --screenshot.
    #[arg(long, default_value_t = 5.0, value_parser = seconds)]
    pub seconds: f64,
}
