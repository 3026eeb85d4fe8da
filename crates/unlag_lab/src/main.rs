//! Where every figure that the project promises is measured, so that anyone can repeat it.
//!
//! `cargo run --release -p unlag_lab -- <topic>` prints a table; `--json` one flat JSON object of
//! numbers; `--plot DIR` writes pictures; `--quick` gives every key in under a minute.

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

/// Measures what the project promises.
#[derive(Parser, Debug)]
#[command(name = "unlag_lab", version)]
struct Cli {
    /// What to measure.
    #[command(subcommand)]
    topic: Topic,
    /// Print one flat JSON object.
    #[arg(long, global = true)]
    json: bool,
    /// Every key in under a minute, from less data.
    #[arg(long, global = true)]
    quick: bool,
    /// What moves the capsule in the topic `movement`.
    #[arg(long, global = true, value_enum, default_value_t = Backend::Unlag)]
    backend: Backend,
    /// Write pictures into this folder.
    #[arg(long, global = true, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// The seed of links and players.
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
}

/// What moves the capsule.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Backend {
    /// The suite's own sweeps.
    Unlag,
    /// The same step around rapier's character controller; it rides no platform.
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
    /// What the screen showed against what the server confirmed; the owner's error; bytes.
    Agreement(agreement::MatrixArgs),
    /// What a full server costs, by players and by what it does; floods; junk.
    Load(load::LoadArgs),
    /// The server's process of `load`.
    #[command(hide = true)]
    LoadServer(load::ServeArgs),
    /// What a move costs against rapier's character controller; replays; allocations; lost speed.
    Movement,
    /// What prediction costs, sends and forgives: replays, bytes, jitter, clocks.
    Prediction,
    /// What a shot into the past costs, and how near the judged pose is to the drawn one.
    Rewind,
    /// Whether remote players glide: errors, delay, freezes, pops, clocks, bytes.
    Smoothing,
    /// Whether anything breaks in a long match in which everything changes and two cheat.
    Soak(soak::SoakArgs),
    /// What a verdict costs, what a shot sends, what is counted twice or refused, where projectiles hit.
    Weapons,
}

/// How to measure.
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
