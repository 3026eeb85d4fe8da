//! Agreement between hits drawn on the client and hits confirmed by the server.

mod bot;
mod cell;
mod cell_file;
mod curve;
mod heat_map;
mod matrix;
mod prediction_error;
mod scene;
mod table;
mod weapon;

use std::path::PathBuf;

use clap::Args;
use matrix::Plan;
use unlag_examples::{match_report::MatchReport, shot_stats::HitCounts, stepped_match};

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

/// 150 ms round trip, 10 ms jitter, 2 % loss.
const LINK_150: LinkConditions = LinkConditions {
    latency: Duration::from_millis(75),
    jitter: Duration::from_millis(10),
    loss: 0.02,
    ..LinkConditions::PERFECT
};

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
    let server = ServerOptions { rewind, ..ServerOptions::default() };
    let seed = options.seed;
    stepped_match::play(&MatchOptions {
        players,
        seconds,
        conditions,
        seed,
        server,
        ..MatchOptions::default()
    })
}

/// Measures the match of the shooter example.
fn shooter(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let (players, seconds, control_seconds) = options.extent((6, 12.0, 12.0), (8, 240.0, 60.0));
    let on = fight(options, players, RewindMode::On, LINK_150, seconds)?.total();
    let lower = on.tally().agreement().unwrap_or(f64::NAN);
    figures.add("agreement_150ms_2loss", lower, describe(&on.tally()))?;
    let off = fight(options, players, RewindMode::Off, LINK_150, control_seconds)?.total();
    figures.add(
        "agreement_150ms_2loss_rewind_off",
        off.confirmed_of_drawn().unwrap_or(f64::NAN),
        format!("{}; the control", describe(&off.tally())),
    )?;

    let seconds = options.extent(15.0, 600.0);
    let (error, moves) = owner_error(SimulationRate::default(), options.seed, seconds)?;
    figures.add(
        "owner_error_max_cm_ue_average",
        error * 100.0,
        format!("cm between client and server after the same move, largest of {moves} moves on Average (UE)"),
    )?;

    let (up, down) = prediction_error::bytes(options.seed, options.extent(6.0, 30.0))?;
    figures.add(
        "bytes_per_s_up",
        up,
        "B/s of datagrams from one client on Good broadband, without UDP and IP headers",
    )?;
    figures.add("bytes_per_s_down_per_proxy", down, "B/s of datagrams to one client for each further player")
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
        let key = format!("agreement_{}_hitscan", cell.cell.name());
        figures.add(key, cell.agreement(), describe_cell(cell))?;
    }
    let rules = CellConfig::new(hits.div_ceil(10).max(150), options.seed);
    for weapon in [MeasuredWeapon::Shotgun, MeasuredWeapon::Projectile] {
        for cell in chosen(&matrix::WEAPON_CELLS) {
            let played = cell.play(&CellConfig { weapon, ..rules })?;
            let key = format!("agreement_{}_{}", cell.name(), weapon.name());
            figures.add(key, played.agreement(), describe_cell(&played))?;
        }
    }
    if args.cell.is_empty() {
        let off = CONTROL.play(&CellConfig { rewind: RewindMode::Off, ..rules })?;
        figures.add(
            format!("agreement_{}_hitscan_rewind_off", off.cell.name()),
            off.shot_stats.confirmed_of_drawn().unwrap_or(f64::NAN),
            format!("{}; the control", describe_cell(&off)),
        )?;
        let far = matrix::BEYOND_MAX_AGE.play(&rules)?.shot_stats;
        let judged = far.shots - far.refused - far.lost;
        let clamped = far.clamped.rounds as f64 * 100.0 / judged as f64;
        figures.add("clamped_percent_beyond_cap", clamped, format!(
            "% of {judged} verdicts report a clamped view at {} ms of round trip with a limit of {} ms; {} \
             rounds refused, {} lost",
            matrix::BEYOND_MAX_AGE.rtt,
            MAX_AGE.as_millis(),
            far.refused,
            far.lost
        ))?;
    }
    if !options.json && (args.matrix || !args.cell.is_empty()) {
        println!("{}", table::text(&played));
    }
    match &options.plot {
        Some(folder) if args.matrix => heat_map::draw(folder, &played),
        _ => Ok(()),
    }
}

fn describe_cell(played: &CellResult) -> String {
    let (all, judged) = (played.shot_stats.tally(), played.shot_stats.unclamped());
    let mut text = describe(&all);
    if judged != all && judged.drawn > 0 {
        let [confirmed, drawn] = ratios(&judged);
        let clamped = played.shot_stats.clamped.rounds;
        text += &format!("; without {clamped} clamped rounds {confirmed:.3} % and {drawn:.3} %");
    }
    text
}

/// Returns both agreement ratios and the numbers of hits behind them as text.
pub fn describe(all: &HitCounts) -> String {
    let HitCounts { drawn, confirmed, .. } = all;
    let [of_drawn, of_confirmed] = ratios(all);
    format!(
        "%; {drawn} drawn hits, {of_drawn:.3} % of them confirmed; {confirmed} confirmed hits, \
         {of_confirmed:.3} % of them drawn"
    )
}

/// Returns both agreement ratios in percent, NaN without hits.
fn ratios(counts: &HitCounts) -> [f64; 2] {
    [counts.confirmed_of_drawn(), counts.drawn_of_confirmed()].map(|ratio| ratio.unwrap_or(f64::NAN))
}
