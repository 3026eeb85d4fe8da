//! Plot of the comparison with rapier's character controller.

use std::path::Path;

use plotters::prelude::*;

/// Draws one pair of bars per entry (name, our median, rapier's median), in microseconds.
///
/// # Errors
/// Returns a message if the file cannot be written.
pub fn draw(folder: &Path, medians: &[(&'static str, f64, f64)]) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let path = folder.join("movement.svg");
    bars(&path, medians).map_err(|e| format!("cannot draw {}: {e}", path.display()))
}

fn bars(path: &Path, medians: &[(&'static str, f64, f64)]) -> Result<(), Box<dyn core::error::Error>> {
    let root = SVGBackend::new(path, (720, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let highest = medians.iter().map(|(_, ours, theirs)| ours.max(*theirs)).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(&root)
        .caption("Median time of a move", ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d(-0.5..medians.len() as f64 - 0.5, 0.0..highest * 1.1)?;
    let name = |x: &f64| medians.get(x.round() as usize).map_or("", |bar| bar.0).to_owned();
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(medians.len())
        .x_label_formatter(&name)
        .y_desc("µs")
        .draw()?;
    for (colour, label, side) in [(&BLUE, "bevy_unlag", -0.35), (&RED, "rapier's controller", 0.0)] {
        let bars = (0_i32..).zip(medians).map(|(i, (_, ours, theirs))| {
            let left = f64::from(i) + side;
            let height = if side < 0.0 { *ours } else { *theirs };
            Rectangle::new([(left, 0.0), (left + 0.35, height)], colour.filled())
        });
        chart
            .draw_series(bars)?
            .label(label)
            .legend(|(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    root.present()?;
    Ok(())
}
