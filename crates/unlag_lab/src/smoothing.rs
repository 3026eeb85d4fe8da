//! Whether remote players glide: what is drawn, against the truth.

mod bytes;
mod chart;
mod clocks;
mod cost;
mod interpolation;
mod judge;
mod link;
mod perfect;
mod playout;
mod present;
mod replicated;
mod rider;
mod snaps;
mod stage;
mod truth;

use std::path::PathBuf;

use crate::{Options, figures::Figures};

/// How much is measured.
struct Plan {
    /// Of links, players and clocks. The library was tuned on seeds 1 to 5.
    seeds: Vec<u64>,
    /// Seconds of each path.
    seconds: f64,
    /// Where to draw.
    plot: Option<PathBuf>,
}

pub fn measure(options: &Options) -> Result<Figures, String> {
    let first = 100 + options.seed;
    let (seeds, seconds) = if options.quick { (3, 30.0) } else { (5, 60.0) };
    let plan = Plan { seeds: (first..first + seeds).collect(), seconds, plot: options.plot.clone() };
    let mut figures = Figures::default();

    // Times first, while nothing else has warmed the machine.
    cost::add(&mut figures, &plan)?;
    interpolation::add(&mut figures, &plan)?;
    playout::add(&mut figures, &plan)?;
    present::add(&mut figures, &plan)?;
    snaps::add(&mut figures, &plan)?;
    rider::add(&mut figures, &plan)?;
    replicated::add(&mut figures, &plan)?;
    clocks::add(&mut figures, &plan)?;
    bytes::add(&mut figures, &plan)?;
    Ok(figures)
}
