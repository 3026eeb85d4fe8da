//! Benchmark of `bevy_unlag` against lightyear: replay against rollback, proxy smoothing against
//! interpolation (see `smoothing.rs`), rewind against lag compensation (see `rewind.rs`). Both sides run the
//! same scene in one process.
//!
//! 64 characters walk and turn among a hundred boxes, stepped by the same `CapsuleModel::step`. From time to
//! time the server displaces one of them, and its client learns of it ten ticks late.
//!
//! * In lightyear the characters are `Predicted`. A server and a client communicate over an in-process link;
//!   lightyear compares received and predicted states, rolls all predicted characters back and runs the
//!   fixed schedule ten times. This is measured twice: with all 64 characters predicted, and with one
//!   predicted and the others plainly replicated.
//! * In `bevy_unlag` the displaced character is the client's own pawn and the others are simulated proxies,
//!   smoothed between snapshots. The server responds with a client adjustment, and the client replays the
//!   pawn's last ten moves.
//!
//! The cost of a correction is the processor time of the client's frame with it, minus the median of the
//! frames around it; both clients run on one thread. The ratios are ratios of means without the lowest and
//! the highest percent of the corrections. Every correction is checked: it went back exactly ten ticks and
//! stepped every predicted character, there was one per displacement and none without, and the server
//! arrives, bit for bit, where the client put all characters.
//!
//! The omissions favour lightyear: its client knows all inputs, so that only displacements cause
//! mispredictions; rapier, which lightyear would run again with the fixed schedule, pauses during rollback;
//! and no visual correction is registered, while ours is part of the replay. Pawns do not collide with each
//! other.
//!
//! `cargo run --release --manifest-path crates/unlag_rivals/Cargo.toml -- [--json] [--quick] [--only TOPIC]`

mod corrections;
/// Table and JSON output, shared with the lab.
#[path = "../../unlag_lab/src/figure_table.rs"]
mod figures;
mod lightyear_side;
mod netcode;
mod protocol;
mod rewind;
mod scene;
mod smoothing;
/// Quantiles and means, shared with the lab.
#[expect(dead_code, reason = "the lab asks for more")]
#[path = "../../unlag_lab/src/statistics.rs"]
mod statistics;
mod unlag_side;

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use corrections::{Timing, measure};
use figures::Figures;
use lightyear_side::LightyearSide;
use rewind::Effort;
use unlag_side::UnlagSide;

/// Number of characters.
const CHARACTERS: usize = 64;

/// Compares lightyear's rollback, interpolation and lag compensation with our replay, smoothing and rewind.
#[derive(Parser, Debug)]
#[command(name = "unlag_rivals", version)]
struct Cli {
    /// Print one flat JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// Measure every key in under a minute, from less data.
    #[arg(long)]
    quick: bool,
    /// Measure this topic only.
    #[arg(long)]
    only: Option<Topic>,
}

/// Topic of the measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Topic {
    /// Cost of a correction.
    Rollback,
    /// Accuracy of drawn remote pawns.
    Smoothing,
    /// Cost and correctness of rewound shots.
    Rewind,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match measured(&cli).and_then(|figures| figures.output(cli.json)) {
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

fn measured(cli: &Cli) -> Result<Figures, String> {
    let (corrections, seconds) = if cli.quick { (200, 16.0) } else { (1_500, 60.0) };
    let effort = if cli.quick { Effort::QUICK } else { Effort::FULL };
    let wanted = |topic| cli.only.is_none_or(|only| only == topic);
    let mut figures = Figures::default();
    if wanted(Topic::Rollback) {
        rollbacks(&mut figures, corrections)?;
    }
    if wanted(Topic::Smoothing) {
        smoothing::add(&mut figures, seconds)?;
    }
    if wanted(Topic::Rewind) {
        rewind::add(&mut figures, effort)?;
    }
    Ok(figures)
}

fn rollbacks(figures: &mut Figures, corrections: usize) -> Result<(), String> {
    let (mut all, mut one) = (LightyearSide::new(CHARACTERS)?, LightyearSide::new(1)?);
    let mut ours = UnlagSide::new()?;
    let [all, one, ours] = measure([&mut all, &mut one, &mut ours], corrections)?;

    figures.add("rollback_cpu_ratio_64_predicted", all.mean_us / ours.mean_us)?;
    figures.add("rollback_cpu_ratio_1_predicted", one.mean_us / ours.mean_us)?;
    let medians = |theirs: &Timing| theirs.correction_us / ours.correction_us;
    figures.add("rollback_cpu_ratio_64_predicted_medians", medians(&all))?;
    figures.add("rollback_cpu_ratio_1_predicted_medians", medians(&one))?;
    for (keys, timing) in [
        (["lightyear_rollback_us_64", "lightyear_frame_us_64", "lightyear_rollbacks_64"], &all),
        (["lightyear_rollback_us_1", "lightyear_frame_us_1", "lightyear_rollbacks_1"], &one),
        (["ours_replay_us", "ours_frame_us", "ours_corrections"], &ours),
    ] {
        let values = [timing.correction_us, timing.frame_us, timing.corrections as f64];
        for (key, value) in keys.into_iter().zip(values) {
            figures.add(key, value)?;
        }
    }
    figures.add("lightyear_steps_per_rollback_64", all.steps as f64)?;
    figures.add("lightyear_steps_per_rollback_1", one.steps as f64)?;
    figures.add("ours_steps_per_replay", ours.steps as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shove_is_corrected_once_on_all_sides() {
        let mut figures = Figures::default();
        rollbacks(&mut figures, 5).expect("every correction passes its checks");
        let value = |key: &str| figures.0.iter().find(|f| f.key == key).map(|f| f.value);
        assert_eq!(value("lightyear_rollbacks_64"), Some(5.0));
        assert_eq!(value("ours_corrections"), Some(5.0));
        assert_eq!(value("lightyear_steps_per_rollback_64"), Some(640.0));
    }
}
