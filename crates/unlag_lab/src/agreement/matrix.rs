//! Every link of the matrix, a match on each core.

use core::time::Duration;
use std::{
    collections::VecDeque,
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
};

use bevy_unlag::prelude::*;

use super::{
    cell::{Cell, Played, Rules},
    fought::Fought,
    keep::Keep,
};

/// Round trips in milliseconds.
pub const RTTS: [u32; 6] = [0, 50, 100, 150, 200, 300];
/// ± milliseconds each way.
pub const JITTERS: [u32; 3] = [0, 10, 30];
/// Percent of packets each way.
pub const LOSSES: [u32; 4] = [0, 2, 5, 20];
/// The oldest view that is honoured in the matrix: the suite's default is for 200 ms, this reaches farther.
pub const MAX_AGE: Duration = Duration::from_millis(500);
/// The link of the control, with rewind off.
pub const CONTROL: Cell = Cell { rtt: 150, jitter: 10, loss: 2 };
/// A link on which every view is older than [`MAX_AGE`] and none is refused.
pub const BEYOND: Cell = Cell { rtt: 600, jitter: 10, loss: 2 };
/// Cells that every run of the topic plays.
pub const FEW: [Cell; 4] = [
    Cell { rtt: 0, jitter: 0, loss: 0 },
    CONTROL,
    Cell { rtt: 200, jitter: 30, loss: 5 },
    Cell { rtt: 100, jitter: 10, loss: 20 },
];

/// All cells, in the order of tables.
pub fn all() -> Vec<Cell> {
    let lines = JITTERS.into_iter().flat_map(|jitter| LOSSES.map(|loss| (jitter, loss)));
    lines.flat_map(|(jitter, loss)| RTTS.map(|rtt| Cell { rtt, jitter, loss })).collect()
}

/// Whether a cell is one of those that decide.
pub fn decides(cell: Cell) -> bool {
    cell.rtt <= 200 && cell.loss <= 5
}

/// What is played.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Which cells.
    pub cells: Vec<Cell>,
    /// Drawn hits in each cell that decides; 3 in 10 of them in the others.
    pub hits: u64,
    /// The seed of links and players.
    pub seed: u64,
}

impl Plan {
    fn rules(&self, cell: Cell) -> Rules {
        let hits = if decides(cell) { self.hits } else { (self.hits * 3).div_ceil(10) };
        Rules::new(hits, self.seed)
    }
}

/// The control: the link of [`CONTROL`] with rewind off.
///
/// # Errors
/// One line when nobody could be measured.
pub fn control(hits: u64, seed: u64) -> Result<Played, String> {
    CONTROL.play(&Rules { rewind: RewindMode::Off, ..Rules::new(hits, seed) })
}

/// Links for what is no ray: a good one, the control's, and a far one.
pub const OF_WEAPONS: [Cell; 3] = [
    Cell { rtt: 50, jitter: 0, loss: 0 },
    Cell { rtt: 150, jitter: 10, loss: 2 },
    Cell { rtt: 250, jitter: 10, loss: 2 },
];

/// A cell that is fought with something else.
///
/// # Errors
/// One line when nobody could be measured.
pub fn with(weapon: Fought, cell: Cell, hits: u64, seed: u64) -> Result<Played, String> {
    cell.play(&Rules { weapon, ..Rules::new(hits, seed) })
}

/// A match [`BEYOND`] the cap.
///
/// # Errors
/// One line when nobody could be measured.
pub fn beyond(hits: u64, seed: u64) -> Result<Played, String> {
    BEYOND.play(&Rules::new(hits, seed))
}

/// Plays every cell that is not in the file, and writes those into it.
///
/// # Errors
/// One line of the first cell that could not be played, or why the file cannot be read or written.
pub fn play(plan: &Plan, file: Option<&Path>) -> Result<Vec<Played>, String> {
    let keep = file.map(Keep::open).transpose()?;
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
                    if all > FEW.len() {
                        eprint!("\r{} of {all} cells  ", results.0.len());
                    }
                }
            });
        }
    });
    let (mut done, error) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    if all > FEW.len() {
        eprintln!();
    }
    if let Some(line) = error {
        return Err(line);
    }
    done.sort_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, played)| played).collect())
}
