//! Measurement harness: reproduces every figure in the project's documentation.
//!
//! `cargo run --release -p unlag_lab -- <topic>` prints a table, `--json` one flat JSON object of numbers.
//! `--plot DIR` writes plots. `--quick` measures with less data, in a few minutes at most.

mod agreement;
mod chart;
mod figure_table;
mod fleet;
mod frame_profile;
mod growth;
mod interest;
mod lab_process;
mod load;
mod movement;
mod open;
mod parallel;
mod pawns;
mod prediction;
mod prelude;
mod rates;
mod record;
mod rewind;
mod smoothing;
mod soak;
mod statistics;
mod timeline;
mod topic_parts;
mod transports;
mod weapons;

use std::{path::PathBuf, process::ExitCode};

use bevy_unlag::{link_conditioner::LinkPreset, movement::MoverBackend};
use clap::{Args, Parser, Subcommand};

/// Measures the documented figures.
#[derive(Parser, Debug)]
#[command(name = "unlag_lab", version)]
struct Cli {
    /// Topic to measure.
    #[command(subcommand)]
    topic: Topic,
    #[command(flatten)]
    options: Options,
}

/// Options of all topics.
#[derive(Args, Debug)]
pub struct Options {
    /// Print one flat JSON object instead of a table.
    #[arg(long, global = true)]
    pub json: bool,
    /// Measure every key from less data, in a few minutes at most.
    #[arg(long, global = true)]
    pub quick: bool,
    /// Character mover of the topic `movement`: `unlag` for the suite's own sweeps, `rapier` for the same step around
    /// rapier's character controller, which does not ride platforms.
    #[arg(long, global = true, value_parser = parse_backend, default_value = "unlag")]
    pub backend: MoverBackend,
    /// Write plots into this folder.
    #[arg(long, global = true, value_name = "DIR")]
    pub plot: Option<PathBuf>,
    /// Seed of the links and players.
    #[arg(long, global = true, default_value_t = 1)]
    pub seed: u64,
}

impl Options {
    /// Returns one of two amounts of data: the first with `--quick`, otherwise the second.
    pub fn extent<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }
}

/// Returns a built-in link preset.
///
/// # Errors
/// There is none of this name; the text lists the names.
pub fn preset(name: &str) -> Result<&'static LinkPreset, String> {
    LinkPreset::find(name).map_err(|e| e.to_string())
}

fn parse_backend(name: &str) -> Result<MoverBackend, &'static str> {
    match name {
        "unlag" => Ok(MoverBackend::Unlag),
        "rapier" => Ok(MoverBackend::Rapier),
        _ => Err("expected unlag or rapier"),
    }
}

#[derive(Subcommand, Debug)]
enum Topic {
    /// Agreement between drawn and confirmed hits, prediction error of the owner, bandwidth.
    Agreement(agreement::MatrixArgs),
    /// Operation of many servers: the socket of a server that stands still, memory of strangers, matches on one core.
    Fleet(fleet::FleetArgs),
    /// Server process of `fleet` that shares a core with others, or that is drained.
    #[command(hide = true)]
    FleetServer(fleet::FleetServerArgs),
    /// Server process of `fleet` that stands still again and again.
    #[command(hide = true)]
    StallServer(fleet::StallArgs),
    /// Growth of tick, bytes and shot with the number of players.
    Growth,
    /// Pawns that a client's player cannot see: what is concealed, what appears late, and the cost.
    Interest,
    /// Server load by player count and by section of the frame; floods and junk traffic.
    Load(load::LoadArgs),
    /// Server process of `load`.
    #[command(hide = true)]
    LoadServer(load::ServeArgs),
    /// Clients of `prediction` in a process with another maths library.
    #[command(hide = true)]
    LibmClients(prediction::ClientArgs),
    /// Cost of a move against rapier's character controller; replays, allocations, lost speed.
    Movement,
    /// Possession, abilities, server-controlled pawns, remote events and called lifts.
    Open,
    /// Cost, bandwidth and tolerance of prediction: replays, bytes, jitter, clocks.
    Prediction(prediction::PredictionArgs),
    /// Agreement, error of the owner, bandwidth and delay by tick rate and frame rate.
    Rates,
    /// Recordings: cost for the server, size, cut files, seeking, poses.
    Record,
    /// Cost of a rewound shot, and distance between the rewound pose and the drawn one.
    Rewind,
    /// Smoothness of remote pawns: errors, delay, freezes, pops, clocks, bytes.
    Smoothing,
    /// A long match with changing conditions and two cheaters, checked for broken invariants.
    Soak(soak::SoakArgs),
    /// A scripted match as a trace for `ui.perfetto.dev`: what each client predicted, sent and was answered.
    Timeline(timeline::TimelineArgs),
    /// UDP, WebTransport and WebSocket side by side, in a build with the feature `web`.
    Transports,
    /// Cost of a verdict, bytes of a shot, duplicated and refused shots, projectile hits.
    Weapons,
}

fn main() -> ExitCode {
    let Cli { topic, options } = Cli::parse();
    let measured = match topic {
        Topic::Agreement(args) => agreement::measure(&options, &args),
        Topic::Fleet(args) => fleet::measure(&options, &args),
        Topic::FleetServer(args) => fleet::serve_fleet(args).map(|()| figure_table::Figures::default()),
        Topic::StallServer(args) => fleet::serve_stalling(args).map(|()| figure_table::Figures::default()),
        Topic::Growth => growth::measure(&options),
        Topic::Interest => interest::measure(&options),
        Topic::Load(args) => load::measure(&options, &args),
        Topic::LoadServer(args) => load::serve(args).map(|()| figure_table::Figures::default()),
        Topic::LibmClients(args) => prediction::run_clients(&args).map(|()| figure_table::Figures::default()),
        Topic::Movement => movement::measure(&options),
        Topic::Open => open::measure(&options),
        Topic::Prediction(args) => prediction::measure(&options, &args),
        Topic::Rates => rates::measure(&options),
        Topic::Record => record::measure(&options),
        Topic::Rewind => rewind::measure(&options),
        Topic::Smoothing => smoothing::measure(&options),
        Topic::Soak(args) => soak::measure(&options, args),
        Topic::Timeline(args) => timeline::export(&options, &args),
        Topic::Transports => transports::measure(&options),
        Topic::Weapons => weapons::measure(&options),
    };
    match measured.and_then(|figures| figures.output(options.json)) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(line) => {
            eprintln!("error: {line}");
            ExitCode::from(2)
        }
    }
}
