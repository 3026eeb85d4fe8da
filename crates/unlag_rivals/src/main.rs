//! lightyear's own rollback against the replay of `bevy_unlag`: the same scene, one run. Its own
//! interpolation against our proxies: see `smoothing.rs`. And its lag compensation against our rewind: see
//! `rewind.rs`.
//!
//! 64 characters walk and turn among a hundred boxes, stepped by the same `CapsuleModel::step`.
//! Now and then the server shoves one of them aside, and its client learns of it ten ticks late.
//!
//! * In lightyear the characters are `Predicted`. A server and a client talk over an in-process
//!   link; lightyear compares what arrives with what it predicted, rolls all predicted characters
//!   back and runs the fixed schedule ten times. Once with all 64 predicted, once with one, the
//!   others plainly replicated.
//! * In `bevy_unlag` the shoved character is the client's own pawn and the others are proxies that
//!   glide between snapshots. The server answers with an adjustment, and the client makes the
//!   pawn's last ten moves again.
//!
//! A correction costs the processor time of the client's frame with it, minus the median of the
//! frames around it; both clients run on one thread. The ratios are of means, one correction in a
//! hundred at either end left out. Every correction is checked: it went exactly ten ticks back,
//! everybody who is predicted was stepped again, there was one per shove and none without, and the
//! server arrives, bit for bit, where the client put everybody.
//!
//! What is left out favours lightyear: its client knows everybody's input, so that nobody is
//! mispredicted but by a shove; rapier, which it would run again with the fixed schedule, pauses
//! while it rolls back; and no visual correction is registered, while ours is part of the replay.
//! Pawns are no obstacles to each other.
//!
//! `cargo run --release --manifest-path crates/unlag_rivals/Cargo.toml -- [--json] [--quick] [--only TOPIC]`

mod delay;
/// The lab's own table and JSON.
#[path = "../../unlag_lab/src/figures.rs"]
mod figures;
mod measure;
mod ours;
mod protocol;
mod rewind;
mod rollback;
mod scene;
mod smoothing;

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use figures::Figures;
use measure::{Timing, measure};
use ours::Ours;
use rewind::Effort;
use rollback::Lightyear;

/// How many characters there are.
const CHARACTERS: usize = 64;

/// Measures lightyear's rollback against a replay of one character, its interpolation against ours, and its
/// lag compensation against our rewind.
#[derive(Parser, Debug)]
#[command(name = "unlag_rivals", version)]
struct Cli {
    /// Print one flat JSON object.
    #[arg(long)]
    json: bool,
    /// Every key in under a minute, from less data.
    #[arg(long)]
    quick: bool,
    /// Measures only this.
    #[arg(long)]
    only: Option<Topic>,
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Topic {
    /// What a correction costs.
    Rollback,
    /// What is seen of others.
    Smoothing,
    /// What a shot at the past costs, and whether its answer is right.
    Rewind,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match measured(&cli) {
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
    let (mut all, mut one) = (Lightyear::new(CHARACTERS)?, Lightyear::new(1)?);
    let mut ours = Ours::new()?;
    let [all, one, ours] = measure([&mut all, &mut one, &mut ours], corrections)?;

    let ratio = "mean processor time of correcting 1 of 64 characters, lightyear's over ours";
    figures.add(
        "rollback_cpu_ratio_64_predicted",
        all.mean_us / ours.mean_us,
        format!("{ratio}; all 64 predicted"),
    )?;
    figures.add(
        "rollback_cpu_ratio_1_predicted",
        one.mean_us / ours.mean_us,
        format!("{ratio}; the others plainly replicated"),
    )?;
    let ratio = "the same of medians, which a busy machine disturbs less";
    let medians = |theirs: &Timing| theirs.correction_us / ours.correction_us;
    figures.add("rollback_cpu_ratio_64_predicted_medians", medians(&all), ratio)?;
    figures.add("rollback_cpu_ratio_1_predicted_medians", medians(&one), ratio)?;
    add(figures, ["lightyear_rollback_us_64", "lightyear_frame_us_64", "lightyear_rollbacks_64"], &all)?;
    add(figures, ["lightyear_rollback_us_1", "lightyear_frame_us_1", "lightyear_rollbacks_1"], &one)?;
    add(figures, ["ours_replay_us", "ours_frame_us", "ours_corrections"], &ours)?;
    figures.add("lightyear_steps_per_rollback_64", all.steps as f64, "steps of characters made again")?;
    figures.add("lightyear_steps_per_rollback_1", one.steps as f64, "the same with one predicted")?;
    figures.add("ours_steps_per_replay", ours.steps as f64, "the same for ours")
}

fn add(figures: &mut Figures, keys: [&'static str; 3], timing: &Timing) -> Result<(), String> {
    let [correction, frame, count] = keys;
    let ([low, high], mean) = (timing.quartiles, timing.mean_us);
    let middle = format!("µs, median; half of them {low:.1} to {high:.1}; mean {mean:.1}");
    figures.add(correction, timing.correction_us, middle)?;
    figures.add(frame, timing.frame_us, "µs for a client's frame without a correction, median")?;
    figures.add(count, timing.corrections as f64, "corrections that happened, each one checked")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shove_is_corrected_once_on_all_sides() {
        let mut figures = Figures::default();
        rollbacks(&mut figures, 5).expect("every correction passes its checks");
        let value = |key: &str| figures.iter().find(|f| f.key == key).map(|f| f.value);
        assert_eq!(value("lightyear_rollbacks_64"), Some(5.0));
        assert_eq!(value("ours_corrections"), Some(5.0));
        assert_eq!(value("lightyear_steps_per_rollback_64"), Some(640.0));
    }
}
