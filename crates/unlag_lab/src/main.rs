//! Measurement harness: reproduces every figure in the project's documentation.
//!
//! `cargo run --release -p unlag_lab -- <topic>` prints a table, `--json` one flat JSON object of numbers.
//! `--plot DIR` writes plots. `--quick` measures every key in under a minute.

mod agreement;
mod figures;
mod load;
mod movement;
mod prediction;
mod rewind;
mod smoothing;
mod soak;
mod weapons;

use std::{path::PathBuf, process::ExitCode};

use bevy_unlag::movement::MoverBackend;
use clap::{Parser, Subcommand, ValueEnum};

/// Measures the documented figures.
#[derive(Parser, Debug)]
#[command(name = "unlag_lab", version)]
struct Cli {
    /// Topic to measure.
    #[command(subcommand)]
    topic: Topic,
    /// Print one flat JSON object instead of a table.
    #[arg(long, global = true)]
    json: bool,
    /// Measure every key in under a minute, from less data.
    #[arg(long, global = true)]
    quick: bool,
    /// Character mover of the topic `movement`.
    #[arg(long, global = true, value_enum, default_value_t = Backend::Unlag)]
    backend: Backend,
    /// Write plots into this folder.
    #[arg(long, global = true, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Seed of the links and players.
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
}

/// Character mover of the topic `movement`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Backend {
    /// The suite's own sweeps.
    Unlag,
    /// The same step around rapier's character controller, which does not ride platforms.
    Rapier,
}

impl From<Backend> for MoverBackend {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Unlag => Self::Unlag,
            Backend::Rapier => Self::Rapier,
        }
    }
}

#[derive(Subcommand, Debug)]
enum Topic {
    /// Agreement between drawn and confirmed hits, prediction error of the owner, bandwidth.
    Agreement(agreement::MatrixArgs),
    /// Server load by player count and by section of the frame; floods and junk traffic.
    Load(load::LoadArgs),
    /// Server process of `load`.
    #[command(hide = true)]
    LoadServer(load::ServeArgs),
    /// Cost of a move against rapier's character controller; replays, allocations, lost speed.
    Movement,
    /// Cost, bandwidth and tolerance of prediction: replays, bytes, jitter, clocks.
    Prediction,
    /// Cost of a rewound shot, and distance between the rewound pose and the drawn one.
    Rewind,
    /// Smoothness of remote pawns: errors, delay, freezes, pops, clocks, bytes.
    Smoothing,
    /// A long match with changing conditions and two cheaters, checked for broken invariants.
    Soak(soak::SoakArgs),
    /// Cost of a verdict, bytes of a shot, duplicated and refused shots, projectile hits.
    Weapons,
}

/// Options of all topics.
struct Options {
    backend: MoverBackend,
    quick: bool,
    plot: Option<PathBuf>,
    seed: u64,
    json: bool,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let options = Options {
        backend: cli.backend.into(),
        quick: cli.quick,
        plot: cli.plot,
        seed: cli.seed,
        json: cli.json,
    };
    let measured = match cli.topic {
        Topic::Agreement(args) => agreement::measure(&options, &args),
        Topic::Load(args) => load::measure(&options, &args),
        Topic::LoadServer(args) => load::serve(args).map(|()| figures::Figures::default()),
        Topic::Movement => movement::measure(&options),
        Topic::Prediction => prediction::measure(&options),
        Topic::Rewind => rewind::measure(&options),
        Topic::Smoothing => smoothing::measure(&options),
        Topic::Soak(args) => soak::measure(&options, args),
        Topic::Weapons => weapons::measure(&options),
    };
    match measured {
        Ok(figures) => {
            print!("{}", if cli.json { figures.json() } else { figures.table() });
            ExitCode::SUCCESS
        }
        Err(line) => {
            eprintln!("error: {line}");
            ExitCode::from(2)
        }
    }
}
