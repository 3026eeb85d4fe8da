//! Plot of agreement over the round trip in the shooter example, with and without rewind.

use core::time::Duration;
use std::path::Path;

use bevy_unlag::{link_conditioner::LinkConditions, rewind::RewindMode};
use plotters::prelude::*;
use unlag_examples::{
    app::ServerOptions,
    stepped_match::{self, MatchOptions},
};

use crate::Options;

/// Draws `agreement.svg`.
///
/// # Errors
/// Returns a message if a client cannot join or the file cannot be written.
pub fn plot(options: &Options, folder: &Path) -> Result<(), String> {
    let seconds = if options.quick { 4.0 } else { 30.0 };
    let mut curves = Vec::new();
    for rewind in [RewindMode::On, RewindMode::Off] {
        let mut curve = Vec::new();
        for rtt in [0_u32, 50, 100, 150, 200, 300] {
            let latency = Duration::from_millis(u64::from(rtt) / 2);
            let report = stepped_match::play(&MatchOptions {
                seconds,
                conditions: LinkConditions { latency, ..LinkConditions::PERFECT },
                seed: options.seed,
                server: ServerOptions { rewind, ..ServerOptions::default() },
                ..MatchOptions::default()
            })?;
            curve.push((f64::from(rtt), report.total().confirmed_of_drawn().unwrap_or(0.0)));
        }
        curves.push((rewind, curve));
    }
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let path = folder.join("agreement.svg");
    draw(&path, &curves).map_err(|e| format!("cannot draw {}: {e}", path.display()))
}

type Curve = (RewindMode, Vec<(f64, f64)>);

fn draw(path: &Path, curves: &[Curve]) -> Result<(), Box<dyn core::error::Error>> {
    let root = SVGBackend::new(path, (720, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption("P(confirmed | drawn) over the round trip", ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..300.0, 0.0..105.0)?;
    chart.configure_mesh().x_desc("round trip, ms").y_desc("%").draw()?;
    for (rewind, curve) in curves {
        let (colour, name) = match rewind {
            RewindMode::On => (&BLUE, "rewind on"),
            RewindMode::Off => (&RED, "rewind off"),
        };
        chart
            .draw_series(LineSeries::new(curve.iter().copied(), colour.stroke_width(2)))?
            .label(name)
            .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK).draw()?;
    root.present()?;
    Ok(())
}
