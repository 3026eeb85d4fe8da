//! Times rivals over the same moves.

use core::ops::Range;
use std::time::Instant;

/// Moves that one rival makes before the next has its turn: noise of the machine hits all alike.
const BLOCK: usize = 500;
/// Moves between two looks at the clock for the totals, so that the clock does not count. Blocks
/// are whole groups.
const GROUP: usize = 20;

/// What one rival took, in microseconds.
#[derive(Clone, Copy, Default, Debug)]
pub struct Times {
    /// All moves together, timed 20 at a time.
    pub total: f64,
    /// The middle one of single moves, which include one look at the clock.
    pub median: f64,
    /// One single move in a hundred took longer.
    pub p99: f64,
}

/// Times of one rival, one after another for each thing timed: one of each pass.
struct Samples {
    passes: usize,
    groups: Vec<f64>,
    singles: Vec<f64>,
}

impl Samples {
    fn new(moves: usize, passes: usize) -> Self {
        let groups = vec![0.0; moves.div_ceil(GROUP) * passes];
        Self { passes, groups, singles: vec![0.0; moves * passes] }
    }

    fn run(&mut self, pass: usize, block: Range<usize>, rival: &mut dyn FnMut(usize)) {
        for first in block.clone().step_by(GROUP) {
            let start = Instant::now();
            for i in first..(first + GROUP).min(block.end) {
                rival(i);
            }
            self.groups[first / GROUP * self.passes + pass] = micros(start);
        }
        for i in block {
            let start = Instant::now();
            rival(i);
            self.singles[i * self.passes + pass] = micros(start);
        }
    }

    /// The median over the passes first: an interrupt in one pass is no property of the move.
    fn times(mut self) -> Times {
        let each = |times: &mut [f64]| -> Vec<f64> {
            times.chunks_mut(self.passes).map(|passes| quantile(passes, 0.5)).collect()
        };
        let total = each(&mut self.groups).iter().sum();
        let mut singles = each(&mut self.singles);
        Times { total, median: quantile(&mut singles, 0.5), p99: quantile(&mut singles, 0.99) }
    }
}

/// Lets every rival make every move, twice in every pass.
pub fn race<const N: usize>(moves: usize, passes: usize, rivals: [&mut dyn FnMut(usize); N]) -> [Times; N] {
    let mut entries = rivals.map(|rival| (Samples::new(moves, passes), rival));
    for pass in 0..passes {
        for first in (0..moves).step_by(BLOCK) {
            let block = first..(first + BLOCK).min(moves);
            for turn in 0..N {
                // Nobody always comes after the same rival, who left the caches as they are.
                let (samples, rival) = &mut entries[if pass % 2 == 0 { turn } else { N - 1 - turn }];
                samples.run(pass, block.clone(), &mut **rival);
            }
        }
    }
    entries.map(|(samples, _)| samples.times())
}

/// Microseconds since `start`.
pub fn micros(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}

/// The value that the fraction `q` of `values` stay below; sorts them. NaN without any.
pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    values.get((last * q).round() as usize).copied().unwrap_or(f64::NAN)
}
