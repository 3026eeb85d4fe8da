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
use unlag_examples::screen;

use cli::Cli;
use document::Document;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(path) = &cli.check {
        return match validation::check(path) {
            Ok(line) => {
                println!("{line}");
                ExitCode::SUCCESS
            }
            Err(line) => {
                eprintln!("error: {line}");
                ExitCode::from(2)
            }
        };
    }
    let opened = screen::display("use --check FILE to validate a file without a window")
        .and_then(|()| Document::open(&cli.file));
    match opened {
        Ok(document) => window::run(&cli, document),
        Err(line) => {
            eprintln!("error: {line}");
            ExitCode::from(2)
        }
    }
}
