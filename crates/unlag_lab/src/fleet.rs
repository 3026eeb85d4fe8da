//! Servers that are operated by the hundred: their sockets under load, the cost of strangers, the use of one token at
//! several servers, the number of servers on a core, and a day of many cores.

mod day;
mod density;
mod half_open;
mod stall;
mod token_reuse;

use crate::prelude::*;

pub use density::{FleetServerArgs, serve_fleet};
pub use stall::{StallArgs, serve_stalling};

pub fn measure(options: &Options) -> Result<Figures, String> {
    let mut figures = Figures::default();
    stall::measure(options, &mut figures)?;
    half_open::measure(options, &mut figures)?;
    token_reuse::measure(options, &mut figures)?;
    let needs = density::measure(options, &mut figures)?;
    day::measure(options, needs, &mut figures)?;
    Ok(figures)
}
