//! Rate of the drawn time.

use super::LinkResult;
use crate::prelude::*;

/// Rates of the drawn time on all links.
#[derive(Default)]
pub struct TimeRates {
    /// Slowest and fastest rate, and the link.
    rates: Vec<(f64, f64, String)>,
    backward: usize,
    frames: usize,
    jumps: u64,
}

impl TimeRates {
    /// Adds the runs on a link. Runs in which a clock jumped over an outage do not count for the rates.
    pub fn add_runs(&mut self, watched: &LinkResult, link: &str) {
        self.jumps += watched.jumps;
        self.backward += watched.runs.sum(|v| v.backward);
        self.frames += watched.runs.sum(|v| v.frames);
        if watched.jumps == 0 {
            let (slow, fast) = (-watched.runs.worst(|v| -v.speed.0), watched.runs.worst(|v| v.speed.1));
            self.rates.push((slow, fast, link.to_owned()));
        }
    }

    /// Adds the slowest and the fastest rate.
    ///
    /// # Errors
    /// Returns a message if nothing was drawn.
    pub fn add(self, figures: &mut Figures) -> Result<(), String> {
        let Self { rates, backward, frames, jumps } = self;
        let slowest = rates.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let fastest = rates.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        let ((low, _, slow), (_, high, fast)) =
            slowest.zip(fastest).ok_or("the clocks jumped on every link")?;
        figures.add(
            "time_speed_min",
            *low,
            format!(
                "of real time over 100 ms, slowest of all links without clock jumps ({jumps} jumps on the \
             others), on {slow}; goal 0.92; {backward} of {frames} frames go back in time"
            ),
        )?;
        figures.add("time_speed_max", *high, format!("the same, fastest, on {fast}; goal 1.03"))
    }
}
