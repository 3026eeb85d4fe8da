//! Line charts of the prediction measurements.

use std::path::Path;

use plotters::prelude::*;

/// Line chart with its captions.
pub struct Chart<'a> {
    /// File name.
    pub file: &'a str,
    /// Title above the chart.
    pub caption: &'a str,
    /// Caption of the x axis.
    pub x: &'a str,
    /// Caption of the y axis.
    pub y: &'a str,
    /// Data points.
    pub points: &'a [(f64, f64)],
    /// Limit drawn as a horizontal line, if any.
    pub goal: Option<f64>,
}

impl Chart<'_> {
    /// Draws the chart into a folder.
    ///
    /// # Errors
    /// Returns a message if the file cannot be written.
    pub fn draw(&self, folder: &Path) -> Result<(), String> {
        std::fs::create_dir_all(folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
        let path = folder.join(self.file);
        self.line(&path).map_err(|e| format!("cannot draw {}: {e}", path.display()))
    }

    fn line(&self, path: &Path) -> Result<(), Box<dyn core::error::Error>> {
        let root = SVGBackend::new(path, (720, 420)).into_drawing_area();
        root.fill(&WHITE)?;
        let right = self.points.iter().map(|point| point.0).fold(1e-9, f64::max);
        let high = self.points.iter().map(|point| point.1).chain(self.goal).fold(1e-9, f64::max);
        let mut chart = ChartBuilder::on(&root)
            .caption(self.caption, ("sans-serif", 20))
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d(0.0..right, 0.0..high * 1.1)?;
        chart.configure_mesh().x_desc(self.x).y_desc(self.y).draw()?;
        chart.draw_series(LineSeries::new(self.points.iter().copied(), BLUE.stroke_width(2)))?;
        if let Some(goal) = self.goal {
            chart.draw_series(LineSeries::new([(0.0, goal), (right, goal)], RED.stroke_width(1)))?;
        }
        root.present()?;
        Ok(())
    }
}
