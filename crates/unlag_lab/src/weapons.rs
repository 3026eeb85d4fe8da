//! Cost and reliability of firing weapons.

mod blackout_tours;
mod blackouts;
mod hard_link;
mod projectiles;
mod rockets;
mod shot_bytes;
mod verdict;

use crate::prelude::*;

pub fn measure(options: &Options) -> Result<Figures, String> {
    let mut figures = Figures::default();
    verdict::measure(options, &mut figures)?;
    shot_bytes::measure(options, &mut figures)?;
    hard_link::measure(options, &mut figures)?;
    projectiles::measure(options, &mut figures)?;
    blackouts::measure(options, &mut figures)?;
    blackout_tours::measure(options, &mut figures)?;
    rockets::measure(options, &mut figures)?;
    Ok(figures)
}
