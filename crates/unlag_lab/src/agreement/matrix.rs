//! Agreement matrix: one match per link, in parallel on all cores.

use std::path::Path;

use super::{
    cell::{Cell, CellConfig, CellResult},
    cell_file::CellFile,
};
use crate::prelude::*;

/// Round trips in milliseconds.
pub const RTTS: [u32; 6] = [0, 50, 100, 150, 200, 300];
/// Jitter widths in ± milliseconds each way.
pub const JITTERS: [u32; 3] = [0, 10, 30];
/// Loss rates in percent of packets each way.
pub const LOSSES: [u32; 4] = [0, 2, 5, 20];
/// Age limit of views in the matrix. The suite's default covers 200 ms of round trip; this one reaches
/// farther.
pub const MAX_AGE: Duration = Duration::from_millis(500);
/// Link of the control measurement with rewind off.
pub const CONTROL: Cell = Cell { rtt: 150, jitter: 10, loss: 2 };
/// Link on which every view is older than [`MAX_AGE`] and none is refused.
pub const BEYOND_MAX_AGE: Cell = Cell { rtt: 600, jitter: 10, loss: 2 };
/// Cells that every run measures.
pub const DEFAULT_CELLS: [Cell; 4] = [
    Cell { rtt: 0, jitter: 0, loss: 0 },
    CONTROL,
    Cell { rtt: 200, jitter: 30, loss: 5 },
    Cell { rtt: 100, jitter: 10, loss: 20 },
];

/// Returns all pairs of jitter and loss in the order of the printed tables.
pub fn lines() -> impl Iterator<Item = (u32, u32)> {
    JITTERS.into_iter().flat_map(|jitter| LOSSES.map(|loss| (jitter, loss)))
}

/// Returns all cells in the order of the printed tables.
pub fn all() -> Vec<Cell> {
    lines().flat_map(|(jitter, loss)| RTTS.map(|rtt| Cell { rtt, jitter, loss })).collect()
}

/// Returns whether the target agreement applies to a cell (up to 200 ms and 5 % loss).
pub fn has_target(cell: Cell) -> bool {
    cell.rtt <= 200 && cell.loss <= 5
}

/// Cells to measure, with their settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Cells to measure.
    pub cells: Vec<Cell>,
    /// Drawn hits in each cell with a target agreement; the other cells get 3 in 10 of them.
    pub hits: u64,
    /// Seed of the links and players.
    pub seed: u64,
}

impl Plan {
    fn rules(&self, cell: Cell) -> CellConfig {
        let hits = if has_target(cell) { self.hits } else { (self.hits * 3).div_ceil(10) };
        CellConfig::new(hits, self.seed)
    }
}

/// Links for shotguns and projectiles: a good one, the one of [`CONTROL`], and a long one.
pub const WEAPON_CELLS: [Cell; 3] = [
    Cell { rtt: 50, jitter: 0, loss: 0 },
    Cell { rtt: 150, jitter: 10, loss: 2 },
    Cell { rtt: 250, jitter: 10, loss: 2 },
];

/// Measures every cell that is not stored in `file` and stores the results there.
///
/// # Errors
/// Returns the message of the first cell that failed, or the reason why the file cannot be read or written.
pub fn play(plan: &Plan, file: Option<&Path>) -> Result<Vec<CellResult>, String> {
    let mut keep = file.map(CellFile::open).transpose()?;
    let stored = |cell: &Cell| keep.as_ref().and_then(|keep| keep.find(*cell, &plan.rules(*cell)));
    let stored: Vec<Option<CellResult>> = plan.cells.iter().map(stored).collect();
    let cells = plan.cells.iter().zip(&stored);
    let left: Vec<Cell> = cells.filter(|(_, stored)| stored.is_none()).map(|(cell, _)| *cell).collect();
    let (all, mut done) = (plan.cells.len(), plan.cells.len() - left.len());
    let play = |cell: &Cell| cell.play(&plan.rules(*cell)).map_err(|line| format!("{}: {line}", cell.name()));
    let mut played = in_parallel(&left, play, |played| {
        if let Some(keep) = &mut keep {
            keep.add(played, &plan.rules(played.cell))?;
        }
        done += 1;
        if all > DEFAULT_CELLS.len() {
            eprint!("\r{done} of {all} cells  {}", if done == all { "\n" } else { "" });
        }
        Ok(())
    })?
    .into_iter();
    Ok(stored.into_iter().filter_map(|stored| stored.or_else(|| played.next())).collect())
}
