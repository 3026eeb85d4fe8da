//! Agreement between hits drawn on the client and hits confirmed by the server.

mod bot;
mod cell;
mod cell_file;
mod curve;
mod heat_map;
mod matrix;
mod prediction_error;
mod scene;
mod weapon;

use std::path::PathBuf;

use clap::Args;
use matrix::Plan;
use unlag_examples::{
    match_report::MatchReport,
    shot_stats::{HitCounts, ShotStats},
    stepped_match,
};

use crate::prelude::*;

pub use cell::{Cell, CellConfig, CellResult};
pub use matrix::{CONTROL, MAX_AGE};
pub use prediction_error::owner_error;
pub use scene::Scene;
pub use weapon::MeasuredWeapon;

/// Links on which agreement is measured.
#[derive(Args, Clone, Debug)]
pub struct MatrixArgs {
    /// Measure the whole matrix instead of a few links: 6 round trips, 3 jitter widths, 4 loss rates.
    #[arg(long)]
    matrix: bool,
    /// Drawn hits in every cell up to 200 ms and 5 % loss; the other cells get 3 in 10 of them
    /// [default: 10000, with --quick 600, with both --quick and --matrix 150]
    #[arg(long)]
    hits: Option<u64>,
    /// File that stores the finished cells of the matrix; cells found in it are not measured again. The file
    /// does not record the program version: use a new one after any change to the code.
    #[arg(long, value_name = "FILE", requires = "matrix")]
    keep: Option<PathBuf>,
    /// Measure this cell only: round trip, jitter and loss, such as 150,10,2. Can be repeated.
    #[arg(long, value_name = "CELL", value_parser = parse_cell, conflicts_with = "matrix")]
    cell: Vec<Cell>,
}

fn parse_cell(text: &str) -> Result<Cell, String> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(|word| word.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[rtt, jitter, loss]) if rtt <= 2_000 && jitter <= 1_000 && loss <= 90 => {
            Ok(Cell { rtt, jitter, loss })
        }
        _ => Err("expected milliseconds, milliseconds and percent, such as 150,10,2".to_owned()),
    }
}

pub fn measure(options: &Options, args: &MatrixArgs) -> Result<Figures, String> {
    let mut figures = Figures::default();
    if args.cell.is_empty() {
        shooter(options, &mut figures)?;
    }
    measure_matrix(options, args, &mut figures)?;
    if args.cell.is_empty()
        && let Some(folder) = &options.plot
    {
        curve::plot(options, folder)?;
    }
    Ok(figures)
}

/// Plays a match of the shooter example.
fn fight(
    options: &Options,
    players: u64,
    rewind: RewindMode,
    conditions: LinkConditions,
    seconds: f64,
) -> Result<MatchReport, String> {
    let server = ServerOptions { rewind, ..default() };
    let seed = options.seed;
    stepped_match::play(&MatchOptions { players, seconds, conditions, seed, server, ..default() })
}

/// Measures the match of the shooter example.
fn shooter(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let (players, seconds, control_seconds) = options.extent((6, 12.0, 12.0), (8, 240.0, 60.0));
    let on = fight(options, players, RewindMode::On, CONTROL.conditions(), seconds)?.total();
    add_agreement(figures, "agreement_150ms_2loss", &on)?;
    let off = fight(options, players, RewindMode::Off, CONTROL.conditions(), control_seconds)?.total();
    add_control(figures, "agreement_150ms_2loss_rewind_off", &off)?;

    let seconds = options.extent(15.0, 600.0);
    let (error, moves) = owner_error(SimulationRate::default(), options.seed, seconds)?;
    figures.add_noted("owner_error_max_cm_ue_average", error * 100.0, format!("{moves} moves"))?;

    let (up, down) = prediction_error::bytes(options.seed, options.extent(6.0, 30.0))?;
    figures.add("bytes_per_s_up", up)?;
    figures.add("bytes_per_s_down_per_proxy", down)
}

/// Measures the cells of the matrix.
fn measure_matrix(options: &Options, args: &MatrixArgs, figures: &mut Figures) -> Result<(), String> {
    let hits = args.hits.unwrap_or(match (options.quick, args.matrix) {
        (false, _) => 10_000,
        (true, false) => 600,
        (true, true) => 150,
    });
    let chosen = |usual: &[Cell]| if args.cell.is_empty() { usual.to_vec() } else { args.cell.clone() };
    let cells = if args.matrix { matrix::all() } else { chosen(&matrix::DEFAULT_CELLS) };
    let plan = Plan { cells, hits, seed: options.seed };
    let played = matrix::play(&plan, args.keep.as_deref())?;
    for cell in &played {
        add_agreement(figures, format!("agreement_{}_hitscan", cell.cell.name()), &cell.shot_stats)?;
    }
    let rules = CellConfig::new(hits.div_ceil(10).max(150), options.seed);
    let weapons = [(MeasuredWeapon::Shotgun, "shotgun"), (MeasuredWeapon::Projectile, "projectile")];
    for (weapon, name) in weapons {
        for cell in chosen(&matrix::WEAPON_CELLS) {
            let played = cell.play(&CellConfig { weapon, ..rules })?;
            add_agreement(figures, format!("agreement_{}_{name}", cell.name()), &played.shot_stats)?;
        }
    }
    if args.cell.is_empty() {
        let off = CONTROL.play(&CellConfig { rewind: RewindMode::Off, ..rules })?;
        let key = format!("agreement_{}_hitscan_rewind_off", off.cell.name());
        add_control(figures, key, &off.shot_stats)?;
        let far = matrix::BEYOND_MAX_AGE.play(&rules)?.shot_stats;
        let verdicts = far.shots - far.refused - far.lost;
        let clamped = far.clamped.rounds as f64 * 100.0 / verdicts as f64;
        figures.add_noted("clamped_percent_beyond_cap", clamped, format!("{verdicts} verdicts"))?;
    }
    match &options.plot {
        Some(folder) if args.matrix => heat_map::draw(folder, &played),
        _ => Ok(()),
    }
}

/// Adds the lower of both agreement ratios in percent.
pub fn add_agreement(figures: &mut Figures, key: impl Into<String>, shots: &ShotStats) -> Result<(), String> {
    figures.add_noted(key, shots.tally().agreement().unwrap_or(f64::NAN), describe(shots))
}

/// Adds P(confirmed | drawn) in percent, the control without rewind.
pub fn add_control(figures: &mut Figures, key: impl Into<String>, shots: &ShotStats) -> Result<(), String> {
    figures.add_noted(key, shots.confirmed_of_drawn().unwrap_or(f64::NAN), describe(shots))
}

/// Returns the numbers of hits and both agreement ratios as text, also without clamped rounds.
fn describe(shots: &ShotStats) -> String {
    let text = |counts: &HitCounts| {
        let [of_drawn, of_confirmed] =
            [counts.confirmed_of_drawn(), counts.drawn_of_confirmed()].map(|ratio| ratio.unwrap_or(f64::NAN));
        let HitCounts { drawn, confirmed, .. } = counts;
        format!("{drawn} drawn, {of_drawn:.3} % confirmed; {confirmed} confirmed, {of_confirmed:.3} % drawn")
    };
    match shots.clamped.rounds {
        0 => text(&shots.tally()),
        clamped => {
            let all = text(&shots.tally());
            format!("{all}; without {clamped} clamped rounds {}", text(&shots.unclamped()))
        }
    }
}
