//! The kart of the course: how somebody else's kart is drawn, and what becomes of one's own.
//!
//! * `kart`: a server and another driver in threads, and a window that is a client.
//! * `kart --headless`: a race without a window; a table, and code 1 when it is not as it should be.

mod camera;
mod cli;
mod controls;
mod looks;
mod panel;
mod picture;
mod scene;
mod window;

use std::process::ExitCode;

use clap::Parser;
use unlag_examples::kart::race;

use cli::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(code) => code,
        Err(line) => {
            eprintln!("error: {line}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode, String> {
    if cli.headless { headless(cli) } else { window::run(cli) }
}

fn headless(cli: &Cli) -> Result<ExitCode, String> {
    let report = race::run(&cli.race())?;
    print!("{}", report.table());
    let complaints = report.complaints();
    for line in &complaints {
        eprintln!("failed: {line}");
    }
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
