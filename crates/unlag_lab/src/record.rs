//! Recordings of matches: their cost on the server, their size, what a reader makes of whole, cut and long files,
//! and the cost of spectators.

mod cost;
mod cuts;
mod played;
mod poses;
mod seeks;
mod spectators;
mod verdicts;

pub use played::temporary_file;

use crate::prelude::*;

pub fn measure(options: &Options) -> Result<Figures, String> {
    let mut figures = Figures::default();
    cost::measure(options, &mut figures)?;
    spectators::measure(options, &mut figures)?;
    let played = played::play(options)?;
    played.add_size(&mut figures)?;
    cuts::measure(options, &played, &mut figures)?;
    seeks::measure(&played, &mut figures)?;
    poses::measure(&played, &mut figures)?;
    verdicts::measure(&played, &mut figures)?;
    Ok(figures)
}
