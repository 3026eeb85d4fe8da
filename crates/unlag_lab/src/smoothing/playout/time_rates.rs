//! Rate of the drawn time.

use super::LinkResult;
use crate::figures::Figures;

/// Extremes of the rate of the drawn time over all links.
#[derive(Default)]
pub struct TimeRates {
    /// Rate and link.
    slowest: Option<(f64, String)>,
    fastest: Option<(f64, String)>,
    backward: usize,
    frames: usize,
    jumps: u64,
}

impl TimeRates {
    /// Adds the runs on a link. Runs in which a clock jumped over an outage do not count for the rates.
    pub fn add_runs(&mut self, watched: &LinkResult, link: &str) {
        self.jumps += watched.jumps;
        self.backward += watched.verdicts.iter().map(|v| v.backward).sum::<usize>();
        self.frames += watched.verdicts.iter().map(|v| v.frames).sum::<usize>();
        if watched.jumps > 0 {
            return;
        }
        let low = watched.verdicts.iter().map(|v| v.speed.0).fold(f64::INFINITY, f64::min);
        let high = watched.of(|v| v.speed.1).worst;
        if self.slowest.as_ref().is_none_or(|(speed, _)| low < *speed) {
            self.slowest = Some((low, link.to_owned()));
        }
        if self.fastest.as_ref().is_none_or(|(speed, _)| high > *speed) {
            self.fastest = Some((high, link.to_owned()));
        }
    }

    /// Adds the slowest and the fastest rate.
    ///
    /// # Errors
    /// Returns a message if nothing was drawn.
    pub fn add(self, figures: &mut Figures) -> Result<(), String> {
        let (low, slow_link) = self.slowest.unwrap_or((f64::NAN, String::new()));
        let (high, fast_link) = self.fastest.unwrap_or((f64::NAN, String::new()));
        figures.add(
            "time_speed_min",
            low,
            format!(
                "of real time over 100 ms, slowest of all links without clock jumps ({} jumps on the \
                 others), on {slow_link}; goal 0.92; {} of {} frames go back in time",
                self.jumps, self.backward, self.frames
            ),
        )?;
        figures.add("time_speed_max", high, format!("the same, fastest, on {fast_link}; goal 1.03"))
    }
}
