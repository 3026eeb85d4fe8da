//! File of finished matrix cells, so that a long run can be interrupted and resumed. Each line is one cell:
//! whole numbers in the order of [`COLUMNS`].

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
};

use unlag_examples::shot_stats::{HitCounts, ShotStats};

use super::cell::{Cell, CellConfig, CellResult};

const COLUMNS: &str = "# rtt jitter loss hits seed max_age_ms | deciseconds playout_us shots drawn confirmed \
    agreed missed elsewhere refused refused_drawn lost | rounds drawn confirmed agreed of clamped shots, \
    then of targets that strafed, were in the air, crouched, rode a base";
/// Numbers per line.
const COUNT: usize = 17 + 5 * 4;

/// Open file of finished cells.
pub struct CellFile {
    lines: Vec<[u64; COUNT]>,
    file: File,
}

impl CellFile {
    /// Opens a file and reads its cells; creates it if it does not exist.
    ///
    /// # Errors
    /// Returns a message if the file cannot be read or written, or has another format.
    pub fn open(path: &Path) -> Result<Self, String> {
        let failed = |error| format!("cannot use {}: {error}", path.display());
        let text = if path.exists() { std::fs::read_to_string(path).map_err(failed)? } else { String::new() };
        // An interrupted run may have left an incomplete last line.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = Vec::new();
        for line in whole.lines().filter(|line| !line.starts_with('#')) {
            let numbers: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
            let line: Option<[u64; COUNT]> = numbers.and_then(|numbers| numbers.try_into().ok());
            lines.push(line.ok_or_else(|| {
                format!("{} is no file of matrix cells; name another file", path.display())
            })?);
        }
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        file.set_len(whole.len() as u64).map_err(failed)?;
        if whole.is_empty() {
            writeln!(file, "{COLUMNS}").map_err(failed)?;
        }
        Ok(Self { lines, file })
    }

    /// Returns the stored result of a cell with the same settings, if there is one.
    pub fn find(&self, cell: Cell, rules: &CellConfig) -> Option<CellResult> {
        let name = name(cell, rules);
        let line = self.lines.iter().find(|line| line.starts_with(&name))?;
        let mut numbers = line[name.len()..].iter().copied();
        let mut next = || numbers.next().unwrap_or_default();
        let (seconds, playout_ms) = (next() as f64 / 10.0, next() as f64 / 1e3);
        let mut shot_stats = ShotStats::default();
        for count in counts(&mut shot_stats) {
            *count = next();
        }
        Some(CellResult { cell, shot_stats, seconds, playout_ms })
    }

    /// Appends a finished cell.
    ///
    /// # Errors
    /// Returns a message if the file cannot be written.
    pub fn add(&mut self, played: &CellResult, rules: &CellConfig) -> Result<(), String> {
        let mut shot_stats = played.shot_stats.clone();
        let measured = [(played.seconds * 10.0).round() as u64, (played.playout_ms * 1e3).round() as u64];
        let counts = counts(&mut shot_stats).into_iter().map(|count| *count);
        let all = name(played.cell, rules).into_iter().chain(measured).chain(counts);
        let words: Vec<_> = all.map(|number| number.to_string()).collect();
        writeln!(self.file, "{}", words.join(" ")).map_err(|error| format!("cannot store a cell: {error}"))
    }
}

fn name(cell: Cell, rules: &CellConfig) -> [u64; 6] {
    let [rtt, jitter, loss] = [cell.rtt, cell.jitter, cell.loss].map(u64::from);
    [rtt, jitter, loss, rules.hits, rules.seed, rules.max_age.as_millis() as u64]
}

/// Returns all counters of the shot statistics in the order of a line.
fn counts(shot_stats: &mut ShotStats) -> Vec<&mut u64> {
    let tallies = core::iter::once(&mut shot_stats.clamped).chain(&mut shot_stats.by_motion);
    let tallies = tallies.flat_map(|tally| {
        let HitCounts { rounds, drawn, confirmed, agreed } = tally;
        [rounds, drawn, confirmed, agreed]
    });
    [
        &mut shot_stats.shots,
        &mut shot_stats.drawn,
        &mut shot_stats.confirmed,
        &mut shot_stats.agreed,
        &mut shot_stats.missed,
        &mut shot_stats.elsewhere,
        &mut shot_stats.refused,
        &mut shot_stats.refused_drawn,
        &mut shot_stats.lost,
    ]
    .into_iter()
    .chain(tallies)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_cell_is_found_only_with_the_same_link_and_settings() {
        let path = std::env::temp_dir().join(format!("unlag_lab_keep_{}", std::process::id()));
        let (cell, hits) = (Cell { rtt: 150, jitter: 10, loss: 2 }, 7);
        let rules = CellConfig::new(hits, 3);
        let mut shot_stats = ShotStats::default();
        for (value, count) in (10..).zip(counts(&mut shot_stats)) {
            *count = value;
        }
        let played = CellResult { cell, shot_stats, seconds: 12.5, playout_ms: 48.25 };
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
