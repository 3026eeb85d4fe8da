//! Smoothness of remote pawns: drawn poses against ground truth.

mod discontinuities;
mod drawing_cost;
mod error_metrics;
mod extrapolation;
mod headless_client;
mod ideal_link;
mod interpolation;
mod link;
mod lost_update;
mod playout;
mod replicated;
mod rider;
mod server_clock_accuracy;
mod server_time;
mod truth;
mod update_bytes;

use std::path::PathBuf;

use crate::prelude::*;

/// Extent of the measurements.
struct Plan {
    /// Seeds of links, players and clocks, disjoint from the seeds 1 to 5 with which the library was tuned.
    seeds: Vec<u64>,
    /// Seconds per path.
    seconds: f64,
    /// Folder for plots.
    plot: Option<PathBuf>,
}

pub fn measure(options: &Options) -> Result<Figures, String> {
    let first = 100 + options.seed;
    let (seeds, seconds) = options.extent((2, 30.0), (5, 60.0));
    let plan = Plan { seeds: (first..first + seeds).collect(), seconds, plot: options.plot.clone() };
    let mut figures = Figures::default();

    // Timings first, before the other measurements heat up the machine.
    drawing_cost::add(&mut figures, &plan)?;
    interpolation::add(&mut figures, &plan)?;
    lost_update::add(&mut figures, &plan)?;
    playout::add(&mut figures, &plan)?;
    extrapolation::add(&mut figures, &plan)?;
    discontinuities::add(&mut figures, &plan)?;
    rider::add(&mut figures, &plan)?;
    replicated::add(&mut figures, &plan)?;
    server_clock_accuracy::add(&mut figures, &plan)?;
    server_time::add(&mut figures, &plan)?;
    update_bytes::add(&mut figures, &plan)?;
    Ok(figures)
}
