//! Plot of the comparison with rapier's character controller.

use std::path::Path;

use plotters::prelude::*;

use crate::chart::{Drawn, Root, builder, save};

/// Draws one pair of bars per entry (name, our median, rapier's median), in microseconds.
///
/// # Errors
/// Returns a message if the file cannot be written.
pub fn draw(folder: &Path, medians: &[(&'static str, f64, f64)]) -> Result<(), String> {
    save(folder, "movement.svg", (720, 420), |root| bars(root, medians))
}

fn bars(root: &Root<'_>, medians: &[(&'static str, f64, f64)]) -> Drawn {
    let highest = medians.iter().map(|(_, ours, theirs)| ours.max(*theirs)).fold(1.0, f64::max);
    let mut chart = builder(root, "Median time of a move")
        .build_cartesian_2d(-0.5..medians.len() as f64 - 0.5, 0.0..highest * 1.1)?;
    let name = |x: &f64| medians.get(x.round() as usize).map_or("", |bar| bar.0).to_owned();
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh().x_labels(medians.len()).x_label_formatter(&name).y_desc("µs").draw()?;
    for (colour, label, side) in [(&BLUE, "bevy_unlag", -0.35), (&RED, "rapier's controller", 0.0)] {
        let bars = (0_i32..).zip(medians).map(|(i, (_, ours, theirs))| {
            let left = f64::from(i) + side;
            let height = if side < 0.0 { *ours } else { *theirs };
            Rectangle::new([(left, 0.0), (left + 0.35, height)], colour.filled())
        });
        let legend = |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled());
        chart.draw_series(bars)?.label(label).legend(legend);
    }
    let mut labels = chart.configure_series_labels();
    labels
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    Ok(())
}
