//! Interleaved timing of several implementations over the same moves.

use core::ops::Range;

use crate::prelude::*;

/// Moves of one implementation before the next takes its turn, so that machine noise hits all alike.
const BLOCK: usize = 500;
/// Moves between two reads of the clock for the totals, so that the clock's cost does not count. A block is a
/// whole number of groups.
const GROUP: usize = 20;

/// Timings of one implementation in microseconds.
#[derive(Clone, Copy, Default, Debug)]
pub struct Times {
    /// All moves together, timed in groups of 20.
    pub total: f64,
    /// Median of single moves, each including one read of the clock.
    pub median: f64,
    /// 99th percentile of single moves.
    pub p99: f64,
}

/// Raw timings of one implementation: for each timed item, one value per pass.
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

    /// Takes the median over the passes first, so that an interrupt in one pass does not count as a slow
    /// move.
    fn times(mut self) -> Times {
        let each = |times: &mut [f64]| -> Vec<f64> { times.chunks_mut(self.passes).map(median).collect() };
        let total = each(&mut self.groups).iter().sum();
        let mut singles = each(&mut self.singles);
        Times { total, median: median(&mut singles), p99: quantile(&mut singles, 0.99) }
    }
}

/// Times every implementation on every move, twice per pass.
pub fn race<const N: usize>(moves: usize, passes: usize, rivals: [&mut dyn FnMut(usize); N]) -> [Times; N] {
    let mut entries = rivals.map(|rival| (Samples::new(moves, passes), rival));
    for pass in 0..passes {
        for first in (0..moves).step_by(BLOCK) {
            let block = first..(first + BLOCK).min(moves);
            for turn in 0..N {
                // The order alternates, because each implementation inherits the caches of its predecessor.
                let (samples, rival) = &mut entries[if pass % 2 == 0 { turn } else { N - 1 - turn }];
                samples.run(pass, block.clone(), &mut **rival);
            }
        }
    }
    entries.map(|(samples, _)| samples.times())
}
