//! Hit box editor.
//!
//! * `hitboxes`: a window with a humanoid and its hit boxes, edited with sliders.
//! * `hitboxes --file guard.hitboxes.ron`: edits the boxes of a file.
//! * `hitboxes --check guard.hitboxes.ron`: validates a file without a window. Prints one line; exits with
//!   code 2 if the file is invalid.

mod bones;
mod camera;
mod cli;
mod document;
mod keys;
mod panel;
mod pawn;
mod picking;
mod stance;
mod validation;
mod view;
mod window;

use std::process::ExitCode;

use clap::Parser;
use unlag_examples::{args::exit_code, screen};

use cli::Cli;
use document::Document;

fn main() -> ExitCode {
    let cli = Cli::parse();
    exit_code(run(&cli))
}

fn run(cli: &Cli) -> Result<ExitCode, String> {
    if let Some(path) = &cli.check {
        println!("{}", validation::check(path)?);
        return Ok(ExitCode::SUCCESS);
    }
    screen::display("use --check FILE to validate a file without a window")?;
    Ok(window::run(cli, Document::open(&cli.file)?))
}
