//! Cost, bandwidth and tolerance of prediction.

mod cheat_gains;
mod clock_agreement;
mod empty_model;
mod fast_clocks;
mod jitter;
mod late_inputs;
mod move_bytes;
mod other_libm;
mod replay;
mod respawns;
mod server_cost;
mod session;
mod tick_script;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::agreement::owner_error;
use crate::{prelude::*, topic_parts::wanted};

pub use move_bytes::measure_rounds;
pub use other_libm::{ClientArgs, run as run_clients};

/// Numbers of characters in the scene of the correction.
const CHARACTERS: [usize; 4] = [1, 16, 64, 256];

/// Parts of the topic, and a further maths library.
#[derive(Args, Clone, Debug)]
pub struct PredictionArgs {
    /// Measure this part alone. Can be repeated
    #[arg(long, value_name = "PART")]
    part: Vec<Part>,
    /// Also measure clients whose maths functions come from this shared library, such as one that .ci/libm builds
    #[arg(long, value_name = "FILE")]
    libm: Option<PathBuf>,
}

/// Part of the topic.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// Times of replays and of moves on the server.
    Times,
    /// Bytes of moves and rounds.
    Bytes,
    /// Error of the owner, and effect of uplink jitter.
    Errors,
    /// Gain and detection of fast clocks, and honest ones.
    FastClocks,
    /// Moves that run too late.
    Late,
    /// Agreement of players whose clock is slow or fast.
    Agreement,
    /// Deaths and respawns.
    Respawns,
    /// Gains of patterns of sending.
    Cheats,
    /// Other maths libraries.
    Libm,
}

pub fn measure(options: &Options, args: &PredictionArgs) -> Result<Figures, String> {
    let mut figures = Figures::default();
    // Timings first, before the other measurements heat up the machine.
    for part in wanted(&args.part) {
        match part {
            Part::Times => add_times(&mut figures, options)?,
            Part::Bytes => add_bytes(&mut figures, options)?,
            Part::Errors => add_errors(&mut figures, options)?,
            Part::FastClocks => add_clocks(&mut figures, options)?,
            Part::Late => add_late(&mut figures, options)?,
            Part::Agreement => clock_agreement::measure(options, &mut figures)?,
            Part::Respawns => respawns::measure(options, &mut figures)?,
            Part::Cheats => cheat_gains::measure(options, &mut figures)?,
            Part::Libm => other_libm::measure(options, args.libm.as_deref(), &mut figures)?,
        }
    }
    Ok(figures)
}

fn add_times(figures: &mut Figures, options: &Options) -> Result<(), String> {
    let replays = replay::measure(CHARACTERS, options.extent(60, 600));
    for (characters, replay) in CHARACTERS.iter().zip(&replays) {
        let note = format!("{} corrections, {:.1} moves back", replay.corrections, replay.length);
        figures.add_noted(format!("replay_us_{characters}"), replay.replay, note)?;
    }
    if let Some(folder) = &options.plot {
        let points = CHARACTERS.iter().zip(&replays).map(|(n, replay)| (*n as f64, replay.replay));
        Chart {
            file: "prediction_replay.svg",
            caption: "Correction of one character 10 moves back",
            x: "characters in the scene",
            y: "µs",
            curves: &[("", points.collect())],
            ..default()
        }
        .draw(folder)?;
    }
    let server_move = server_cost::measure(options.extent(512, 4_096), options.seed)?;
    figures.add("server_move_us", server_move)
}

fn add_bytes(figures: &mut Figures, options: &Options) -> Result<(), String> {
    let seconds = options.extent(8.0, 60.0);
    for (key, link) in [("bytes_per_move", "Good broadband"), ("bytes_per_move_20_loss", "GNS terrible")] {
        let sent = move_bytes::measure_moves(preset(link)?.conditions(), seconds, options.seed)?;
        figures.add_noted(key, sent.mean(), format!("{} packets", sent.packets))?;
    }
    let rounds = measure_rounds(preset("Good broadband")?.conditions(), seconds, options.seed)?;
    let note = format!("{} rounds", rounds.rounds);
    figures.add_noted("bytes_per_firing_move", rounds.extra / rounds.rounds as f64, note)
}

fn add_errors(figures: &mut Figures, options: &Options) -> Result<(), String> {
    let (error, moves) = owner_error(SimulationRate::default(), options.seed, options.extent(10.0, 600.0))?;
    figures.add_noted("owner_error_max_cm_10min_ue_average", error * 100.0, format!("{moves} moves"))?;
    let curve = jitter::measure(Duration::from_millis(30), options.extent(10.0, 60.0), options.seed)?;
    let distances = || curve.iter().map(|point| point.1);
    let note = format!("mean {:.3} of {} frames", mean(distances()), curve.len());
    figures.add_noted("uplink_jitter_error_cm", distances().fold(0.0, f64::max), note)?;
    let Some(folder) = &options.plot else { return Ok(()) };
    Chart {
        file: "prediction_uplink_jitter.svg",
        caption: "Remote pawn with ± 30 ms of uplink jitter against the same inputs without",
        x: "s",
        y: "cm",
        curves: &[("", curve)],
        goal: Some(1.0),
        ..default()
    }
    .draw(folder)
}

fn add_clocks(figures: &mut Figures, options: &Options) -> Result<(), String> {
    let double = fast_clocks::fast_clock(2.0, options.extent(20.0, 60.0), options.seed)?;
    figures.add("speedhack_2x_gain_s", double.gained)?;
    let little = fast_clocks::fast_clock(1.04, 60.0, options.seed)?;
    figures.add("speedhack_104_flagged_s", little.flagged.unwrap_or(60.0))?;
    let honest = fast_clocks::measure_honest_clocks(options.extent(1.0 / 6.0, 10.0), options.seed)?;
    let note = format!("moves, {} of them withheld", honest.withheld);
    figures.add_counted("honest_flags_10h", honest.flags as f64, honest.moves, note)
}

fn add_late(figures: &mut Figures, options: &Options) -> Result<(), String> {
    let seconds = options.extent(60.0, 1_200.0);
    for (key, link) in [
        ("inputs_late_percent_20_loss", late_inputs::on("GNS terrible")?),
        ("inputs_late_percent_burst8", late_inputs::bursts_of_eight()?),
    ] {
        let late = late_inputs::measure(link, seconds, options.seed)?;
        figures.add_noted(key, late.percent(), format!("of {} inputs", late.made))?;
    }
    Ok(())
}
