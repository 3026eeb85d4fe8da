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

use core::time::Duration;
use std::path::PathBuf;

use bevy_unlag::{link_conditioner::LinkConditions, rewind::RewindMode};
use clap::Args;
use unlag_examples::{
    app::ServerOptions,
    match_report::MatchReport,
    stepped_match::{self, MatchOptions},
};

use crate::{Options, figures::Figures};
use matrix::Plan;

pub use cell::{Cell, CellConfig, CellResult};
pub use matrix::MAX_AGE;
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

/// Measures the match of the shooter example.
fn shooter(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let (players, seconds) = if options.quick { (6, 12.0) } else { (8, 240.0) };
    let fight = |rewind, conditions, seconds| {
        stepped_match::play(&MatchOptions {
            players,
            seconds,
            conditions,
            seed: options.seed,
            server: ServerOptions { rewind, ..ServerOptions::default() },
            ..MatchOptions::default()
        })
    };

    let on = fight(RewindMode::On, LINK_150, seconds)?;
    let total = on.total();
    let both = total.confirmed_of_drawn().zip(total.drawn_of_confirmed());
    let lower = both.map_or(f64::NAN, |(a, b)| a.min(b));
    figures.add("agreement_150ms_2loss", lower, describe_match(&on))?;
    let off = fight(RewindMode::Off, LINK_150, if options.quick { seconds } else { seconds / 4.0 })?;
    let confirmed = off.total().confirmed_of_drawn().unwrap_or(f64::NAN);
    figures.add(
        "agreement_150ms_2loss_rewind_off",
        confirmed,
        format!("{}; the control", describe_match(&off)),
    )?;

    let (error, moves) = owner_error(options.seed, if options.quick { 15.0 } else { 600.0 })?;
    figures.add(
        "owner_error_max_cm_ue_average",
        error * 100.0,
        format!("cm between client and server after the same move, largest of {moves} moves on Average (UE)"),
    )?;

    let (up, down) = prediction_error::bytes(options.seed, if options.quick { 6.0 } else { 30.0 })?;
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
    let cells = match (args.matrix, args.cell.is_empty()) {
        (true, _) => matrix::all(),
        (false, true) => matrix::DEFAULT_CELLS.to_vec(),
        (false, false) => args.cell.clone(),
    };
    let plan = Plan { cells, hits, seed: options.seed };
    let played = matrix::play(&plan, args.keep.as_deref())?;
    for cell in &played {
        figures.add(
            format!("agreement_{}_hitscan", cell.cell.name()),
            cell.agreement(),
            describe_cell(cell),
        )?;
    }
    let few = hits.div_ceil(10).max(150);
    for weapon in [MeasuredWeapon::Shotgun, MeasuredWeapon::Projectile] {
        let cells = if args.cell.is_empty() { matrix::WEAPON_CELLS.to_vec() } else { args.cell.clone() };
        for cell in cells {
            let played = matrix::measure_weapon(weapon, cell, few, options.seed)?;
            let key = format!("agreement_{}_{}", cell.name(), weapon.name());
            figures.add(key, played.agreement(), describe_cell(&played))?;
        }
    }
    if args.cell.is_empty() {
        let off = matrix::measure_control(hits.div_ceil(10).max(150), options.seed)?;
        figures.add(
            format!("agreement_{}_hitscan_rewind_off", off.cell.name()),
            off.shot_stats.confirmed_of_drawn().unwrap_or(f64::NAN),
            format!("{}; the control", describe_cell(&off)),
        )?;
        let far = matrix::measure_beyond_max_age(hits.div_ceil(10).max(150), options.seed)?.shot_stats;
        let judged = far.shots - far.refused - far.lost;
        figures.add(
            "clamped_percent_beyond_cap",
            far.clamped.rounds as f64 * 100.0 / judged as f64,
            format!(
                "% of {judged} verdicts report a clamped view at {} ms of round trip with a limit of {} ms; \
                 {} rounds refused, {} lost",
                matrix::BEYOND_MAX_AGE.rtt,
                MAX_AGE.as_millis(),
                far.refused,
                far.lost,
            ),
        )?;
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
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let mut text = format!(
        "%; {} drawn hits, {:.3} % of them confirmed; {} confirmed hits, {:.3} % of them drawn",
        all.drawn,
        number(all.confirmed_of_drawn()),
        all.confirmed,
        number(all.drawn_of_confirmed()),
    );
    if judged != all && judged.drawn > 0 {
        text += &format!(
            "; without {} clamped rounds {:.3} % and {:.3} %",
            played.shot_stats.clamped.rounds,
            number(judged.confirmed_of_drawn()),
            number(judged.drawn_of_confirmed()),
        );
    }
    text
}

fn describe_match(report: &MatchReport) -> String {
    let total = report.total();
    format!(
        "%; {} drawn hits, {:.3} % of them confirmed; {} confirmed hits, {:.3} % of them drawn",
        total.drawn,
        total.confirmed_of_drawn().unwrap_or(f64::NAN),
        total.confirmed,
        total.drawn_of_confirmed().unwrap_or(f64::NAN),
    )
}
