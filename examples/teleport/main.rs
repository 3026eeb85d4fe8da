//! Study of Unreal's teleport example, implemented in four ways and run over a bad link.
//!
//! * `teleport`: all four variants at a round trip of 100 ms.
//! * `teleport --variant stream --rtt 300 --loss 10 --force-correction`: one variant over a bad link.
//! * `teleport --blocked`: a wall that only the server has blocks the destination.

mod cli;

use std::process::ExitCode;

use clap::Parser;
use unlag_examples::teleport::{TeleportReport, Variant, study, table};

use cli::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    println!("{}\n", cli.describe());
    let reports: Vec<TeleportReport> =
        cli.variant.variants().iter().map(|variant| study(&cli.options(*variant))).collect();
    print!("{}", table(&reports));
    let failed = reports
        .iter()
        .any(|report| report.variant == Variant::Stream && !report.failed_expectations().is_empty());
    if failed { ExitCode::from(1) } else { ExitCode::SUCCESS }
}
