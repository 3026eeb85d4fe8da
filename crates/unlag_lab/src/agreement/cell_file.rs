//! File of finished matrix cells, so that a long run can be interrupted and resumed. Each line is one cell as JSON.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::cell::{Cell, CellConfig, CellResult};
use crate::prelude::*;

/// Finished cell with the settings that it was measured with.
#[derive(Serialize, Deserialize)]
struct Line {
    hits: u64,
    seed: u64,
    max_age: Duration,
    result: CellResult,
}

/// Open file of finished cells.
pub struct CellFile {
    lines: Vec<Line>,
    file: File,
}

impl CellFile {
    /// Opens a file and reads its cells; creates it if it does not exist.
    ///
    /// # Errors
    /// Returns a message if the file cannot be read or written, or has another format.
    pub fn open(path: &Path) -> Result<Self, String> {
        let failed = |error| format!("cannot use {}: {error}", path.display());
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        // An interrupted run may have left an incomplete last line.
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        file.set_len(text.len() as u64).map_err(failed)?;
        let lines = text.lines().map(serde_json::from_str).collect::<Result<_, _>>();
        let other = |e| format!("{} is not a matrix cell file ({e}); name another file", path.display());
        Ok(Self { lines: lines.map_err(other)?, file })
    }

    /// Returns the stored result of a cell with the same settings, if there is one.
    pub fn find(&self, cell: Cell, rules: &CellConfig) -> Option<CellResult> {
        let is_same = |line: &&Line| {
            (line.result.cell, line.hits, line.seed, line.max_age)
                == (cell, rules.hits, rules.seed, rules.max_age)
        };
        self.lines.iter().find(is_same).map(|line| line.result.clone())
    }

    /// Appends a finished cell.
    ///
    /// # Errors
    /// Returns a message if the file cannot be written.
    pub fn add(&mut self, played: &CellResult, rules: &CellConfig) -> Result<(), String> {
        let CellConfig { hits, seed, max_age, .. } = *rules;
        let line = serde_json::to_string(&Line { hits, seed, max_age, result: played.clone() });
        let written = line.map_err(Into::into).and_then(|line| writeln!(self.file, "{line}"));
        written.map_err(|error| format!("cannot store a cell: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use unlag_examples::shot_stats::{HitCounts, ShotStats};

    use super::*;

    #[test]
    fn stored_cell_is_found_only_with_the_same_link_and_settings() {
        let path = std::env::temp_dir().join(format!("unlag_lab_keep_{}", std::process::id()));
        let (cell, hits) = (Cell { rtt: 150, jitter: 10, loss: 2 }, 7);
        let rules = CellConfig::new(hits, 3);
        let clamped = HitCounts { rounds: 4, drawn: 3, confirmed: 2, agreed: 1 };
        let mut shot_stats = ShotStats::default();
        (shot_stats.shots, shot_stats.drawn, shot_stats.clamped) = (10, 9, clamped);
        let played = CellResult { cell, shot_stats, playout_ms: 48.25, bytes: (3.5, 4.5) };
        let kept = (|| {
            CellFile::open(&path)?.add(&played, &rules)?;
            // Interrupted in the middle of a line, twice.
            for _ in 0..2 {
                let mut file = CellFile::open(&path)?.file;
                write!(file, "150 10 2").map_err(|error| error.to_string())?;
            }
            CellFile::open(&path)
        })();
        let _ = std::fs::remove_file(&path);
        let kept = kept.unwrap_or_else(|line| panic!("{line}"));
        let found = kept.find(cell, &rules).expect("the stored cell is found");
        assert_eq!(format!("{found:?}"), format!("{played:?}"));
        assert!(kept.find(cell, &CellConfig { hits: 8, ..rules }).is_none());
        assert!(kept.find(Cell { loss: 5, ..cell }, &rules).is_none());
    }
}
