//! Kart race: smoothing modes of a remote kart, and prediction of the own kart.
//!
//! * `kart`: a server and a scripted driver in threads, and a window that is a client.
//! * `kart --headless`: a race without a window, and a table. Exits with code 1 when an expectation fails.

mod camera;
mod cli;
mod controls;
mod kart_visuals;
mod panel;
mod scene;
mod view_settings;
mod window;

use std::process::ExitCode;

use clap::Parser;
use unlag_examples::{args::exit_code, kart::race};

use cli::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    exit_code(if cli.headless { headless(&cli) } else { window::run(&cli) })
}

fn headless(cli: &Cli) -> Result<ExitCode, String> {
    let report = race::run(&cli.race())?;
    print!("{}", report.table());
    let failed_expectations = report.failed_expectations();
    for line in &failed_expectations {
        eprintln!("failed: {line}");
    }
    Ok(if failed_expectations.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
