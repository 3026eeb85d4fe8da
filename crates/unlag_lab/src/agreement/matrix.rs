//! Agreement matrix: one match per link, in parallel on all cores.

use core::time::Duration;
use std::{
    collections::VecDeque,
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
};

use bevy_unlag::rewind::RewindMode;

use super::{
    cell::{Cell, CellConfig, CellResult},
    cell_file::CellFile,
    weapon::MeasuredWeapon,
};

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

/// Returns all cells in the order of the printed tables.
pub fn all() -> Vec<Cell> {
    let lines = JITTERS.into_iter().flat_map(|jitter| LOSSES.map(|loss| (jitter, loss)));
    lines.flat_map(|(jitter, loss)| RTTS.map(|rtt| Cell { rtt, jitter, loss })).collect()
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

/// Measures the link of [`CONTROL`] with rewind off.
///
/// # Errors
/// Returns a message if the match cannot be measured.
pub fn measure_control(hits: u64, seed: u64) -> Result<CellResult, String> {
    CONTROL.play(&CellConfig { rewind: RewindMode::Off, ..CellConfig::new(hits, seed) })
}

/// Links for shotguns and projectiles: a good one, the one of [`CONTROL`], and a long one.
pub const WEAPON_CELLS: [Cell; 3] = [
    Cell { rtt: 50, jitter: 0, loss: 0 },
    Cell { rtt: 150, jitter: 10, loss: 2 },
    Cell { rtt: 250, jitter: 10, loss: 2 },
];

/// Measures a cell with another weapon.
///
/// # Errors
/// Returns a message if the match cannot be measured.
pub fn measure_weapon(
    weapon: MeasuredWeapon,
    cell: Cell,
    hits: u64,
    seed: u64,
) -> Result<CellResult, String> {
    cell.play(&CellConfig { weapon, ..CellConfig::new(hits, seed) })
}

/// Measures the link [`BEYOND_MAX_AGE`] the age limit of views.
///
/// # Errors
/// Returns a message if the match cannot be measured.
pub fn measure_beyond_max_age(hits: u64, seed: u64) -> Result<CellResult, String> {
    BEYOND_MAX_AGE.play(&CellConfig::new(hits, seed))
}

/// Measures every cell that is not stored in `file` and stores the results there.
///
/// # Errors
/// Returns the message of the first cell that failed, or the reason why the file cannot be read or written.
pub fn play(plan: &Plan, file: Option<&Path>) -> Result<Vec<CellResult>, String> {
    let keep = file.map(CellFile::open).transpose()?;
    let (mut done, mut left) = (Vec::new(), VecDeque::new());
    for (place, cell) in plan.cells.iter().enumerate() {
        match keep.as_ref().and_then(|keep| keep.find(*cell, &plan.rules(*cell))) {
            Some(played) => done.push((place, played)),
            None => left.push_back((place, *cell)),
        }
    }
    let (all, threads) = (plan.cells.len(), thread::available_parallelism().map_or(1, usize::from));
    let (queue, results) = (Mutex::new((left, keep)), Mutex::new((done, None)));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).0.pop_front();
                    let Some((place, cell)) = next else { return };
                    let rules = plan.rules(cell);
                    let played = cell.play(&rules).map_err(|line| format!("{}: {line}", cell.name()));
                    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                    let kept = played.and_then(|played| {
                        queue.1.as_mut().map_or(Ok(()), |keep| keep.add(&played, &rules))?;
                        Ok(played)
                    });
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    match kept {
                        Ok(played) => results.0.push((place, played)),
                        Err(line) => {
                            results.1.get_or_insert(line);
                            queue.0.clear();
                        }
                    }
                    if all > DEFAULT_CELLS.len() {
                        eprint!("\r{} of {all} cells  ", results.0.len());
                    }
                }
            });
        }
    });
    let (mut done, error) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    if all > DEFAULT_CELLS.len() {
        eprintln!();
    }
    if let Some(line) = error {
        return Err(line);
    }
    done.sort_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, played)| played).collect())
}
