//! Servers that are operated by the hundred: their sockets under load, and what strangers cost them.

mod half_open;
mod stall;

use crate::prelude::*;

pub use stall::{StallArgs, serve_stalling};

pub fn measure(options: &Options) -> Result<Figures, String> {
    let mut figures = Figures::default();
    stall::measure(options, &mut figures)?;
    half_open::measure(options, &mut figures)?;
    Ok(figures)
}
