//! Files that were cut off anywhere.

use std::io::Cursor;

use bevy_unlag::record::{Recording, Segment};

use super::played::Played;
use crate::prelude::*;

pub fn measure(options: &Options, played: &Played, figures: &mut Figures) -> Result<(), String> {
    let mut whole = played.open()?;
    let places = whole.segments().to_vec();
    let segments: Vec<Segment> =
        (0..places.len()).map(|at| whole.segment(at).map_err(|e| e.to_string())).collect::<Result<_, _>>()?;
    let first = places.first().ok_or("nothing was recorded")?.offset as usize;
    let ends: Vec<usize> = places.iter().map(|place| place.end() as usize).collect();
    let mut rng = SmallRng::seed_from_u64(options.seed);
    let cuts = options.extent(200, 2_000);
    let (mut read, mut read_damaged) = (0_u32, 0_u32);
    for _ in 0..cuts {
        let cut = rng.random_range(first..played.bytes.len());
        let left = ends.iter().take_while(|end| **end <= cut).count();
        read += u32::from(reads(&played.bytes[..cut], &segments[..left]));
        // The control: one more bit is wrong, in a segment before the cut.
        if left > 0 {
            let mut damaged = played.bytes[..cut].to_vec();
            damaged[rng.random_range(first..ends[left - 1])] ^= 1 << rng.random_range(0..8);
            read_damaged += u32::from(reads(&damaged, &segments[..left]));
        }
    }
    let percent = |count: u32| f64::from(count) * 100.0 / f64::from(cuts);
    figures.add_noted("truncated_files_read", percent(read), format!("percent of {cuts} cuts"))?;
    figures.add("control_truncated_files_read_damaged", percent(read_damaged))
}

/// Returns whether a file gives exactly these segments.
fn reads(bytes: &[u8], segments: &[Segment]) -> bool {
    let Ok(mut recording) = Recording::read(Cursor::new(bytes)) else { return false };
    recording.segments().len() == segments.len()
        && segments
            .iter()
            .enumerate()
            // Reading the last few is enough: they are nearest to the cut. The others are read as often.
            .rev()
            .take(4)
            .chain(segments.iter().enumerate().take(2))
            .all(|(at, segment)| recording.segment(at).is_ok_and(|read| read == *segment))
}
