//! Line charts of the smoothing measurements.

use std::path::Path;

use plotters::{
    coord::ranged1d::{AsRangedCoord, ValueFormatter},
    prelude::*,
};

/// Line of a chart.
pub struct Curve {
    /// Name in the legend.
    pub name: &'static str,
    /// Data points.
    pub points: Vec<(f64, f64)>,
}

/// Chart of several lines with its captions.
pub struct Chart<'a> {
    /// File name.
    pub file: &'a str,
    /// Title above the chart.
    pub caption: &'a str,
    /// Caption of the x axis.
    pub x: &'a str,
    /// Caption of the y axis.
    pub y: &'a str,
    /// Lines.
    pub curves: &'a [Curve],
}

const COLOURS: [RGBColor; 4] = [RED, BLUE, RGBColor(0, 130, 60), RGBColor(150, 90, 0)];

impl Chart<'_> {
    /// Draws the chart into a folder; with `log` both axes are logarithmic.
    ///
    /// # Errors
    /// Returns a message if the file cannot be written.
    pub fn draw(&self, folder: &Path, log: bool) -> Result<(), String> {
        std::fs::create_dir_all(folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
        let path = folder.join(self.file);
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let fold = |of: fn(&(f64, f64)) -> f64, start: f64, by: fn(f64, f64) -> f64| {
            points().map(of).fold(start, by)
        };
        let x = fold(|p| p.0, f64::INFINITY, f64::min)..fold(|p| p.0, 1e-9, f64::max);
        let high = fold(|p| p.1, 1e-9, f64::max);
        let drawn = if log {
            let low = points().map(|p| p.1).filter(|y| *y > 0.0).fold(high, f64::min);
            self.lines(&path, x.log_scale(), (low * 0.7..high * 1.4).log_scale())
        } else {
            self.lines(&path, x, 0.0..high * 1.1)
        };
        drawn.map_err(|e| format!("cannot draw {}: {e}", path.display()))
    }

    fn lines<X, Y>(&self, path: &Path, x: X, y: Y) -> Result<(), Box<dyn core::error::Error>>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let root = SVGBackend::new(path, (720, 420)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(self.caption, ("sans-serif", 20))
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            .x_labels(8)
            .y_labels(8)
            .light_line_style(TRANSPARENT)
            .draw()?;
        for (curve, colour) in self.curves.iter().zip(COLOURS) {
            chart
                .draw_series(LineSeries::new(curve.points.iter().copied(), colour.stroke_width(2)))?
                .label(curve.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        root.present()?;
        Ok(())
    }
}
