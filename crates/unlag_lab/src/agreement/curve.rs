//! Plot of agreement over the round trip in the shooter example, with and without rewind.

use std::path::Path;

use super::Cell;
use crate::prelude::*;

/// Draws `agreement.svg`.
///
/// # Errors
/// Returns a message if a client cannot join or the file cannot be written.
pub fn plot(options: &Options, folder: &Path) -> Result<(), String> {
    let curve = |rewind| {
        [0_u32, 50, 100, 150, 200, 300].into_iter().map(move |rtt| {
            let conditions = Cell { rtt, jitter: 0, loss: 0 }.conditions();
            let report = super::fight(options, 4, rewind, conditions, options.extent(4.0, 30.0))?;
            Ok((f64::from(rtt), report.total().confirmed_of_drawn().unwrap_or(0.0)))
        })
    };
    Chart {
        file: "agreement.svg",
        caption: "P(confirmed | drawn) over the round trip",
        x: "round trip, ms",
        y: "%",
        curves: &[
            ("rewind on", curve(RewindMode::On).collect::<Result<_, String>>()?),
            ("rewind off", curve(RewindMode::Off).collect::<Result<_, String>>()?),
        ],
        ..default()
    }
    .draw(folder)
}
