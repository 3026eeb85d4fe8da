//! Plots as SVG files.

use core::error::Error;
use std::path::Path;

use plotters::{
    coord::{
        Shift,
        ranged1d::{AsRangedCoord, ValueFormatter},
    },
    prelude::*,
};

/// Drawing area of a plot.
pub type Root<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// Outcome of drawing.
pub type Drawn = Result<(), Box<dyn Error>>;
/// Line of a chart: its name in the legend and its points.
pub type Curve = (&'static str, Vec<(f64, f64)>);

/// Chart of several lines with its captions.
#[derive(Default)]
pub struct Chart<'a> {
    /// File name.
    pub file: &'a str,
    /// Title above the chart.
    pub caption: &'a str,
    /// Caption of the x axis.
    pub x: &'a str,
    /// Caption of the y axis.
    pub y: &'a str,
    /// Lines; a single one has no legend.
    pub curves: &'a [Curve],
    /// Limit drawn as a horizontal line, if any.
    pub goal: Option<f64>,
    /// Whether both axes are logarithmic.
    pub log: bool,
}

const COLOURS: [RGBColor; 4] = [RED, BLUE, RGBColor(0, 130, 60), RGBColor(150, 90, 0)];

/// Colours in SVG files that dark pages replace: background, text and axes, and [`COLOURS`].
const DARK_COLOURS: [(&str, &str); 6] = [
    ("#FFFFFF", "#0D1117"),
    ("#000000", "#E6EDF3"),
    ("#FF0000", "#FF7B72"),
    ("#0000FF", "#6CB6FF"),
    ("#00823C", "#56D364"),
    ("#965A00", "#E3B341"),
];
/// Fills of the cells of a heat map, on which dark pages have light text: green, yellow and the shades of red.
const CELL_FILLS: &str = r##"[fill="#9CD696"], [fill="#EEE68C"], [fill^="#F0"]"##;

/// Draws an SVG file of a size in pixels into a folder.
///
/// # Errors
/// Returns a message if the file cannot be written.
pub fn save(
    folder: &Path,
    file: &str,
    size: (u32, u32),
    draw: impl FnOnce(&Root<'_>) -> Drawn,
) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let path = folder.join(file);
    let mut svg = String::new();
    let paint = || -> Drawn {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        draw(&root)?;
        Ok(root.present()?)
    };
    paint().map_err(|e| format!("cannot draw {}: {e}", path.display()))?;
    std::fs::write(&path, with_dark_style(&svg)).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// Returns an SVG document with a style for dark pages, which follows its opening tag.
fn with_dark_style(svg: &str) -> String {
    let Some((opening, content)) = svg.split_once('>') else { return svg.to_owned() };
    let colours = DARK_COLOURS.map(|(light, dark)| {
        format!("[fill=\"{light}\"] {{ fill: {dark} }}\n[stroke=\"{light}\"] {{ stroke: {dark} }}\n")
    });
    let rules = format!("{}{CELL_FILLS} {{ fill-opacity: 0.35 }}\n", colours.concat());
    format!("{opening}>\n<style>\n@media (prefers-color-scheme: dark) {{\n{rules}}}\n</style>{content}")
}

/// Returns a builder of a chart with a title and room for the labels of its axes.
pub fn builder<'a, 'b>(root: &'a Root<'b>, caption: &str) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut builder = ChartBuilder::on(root);
    builder.caption(caption, ("sans-serif", 20)).margin(16).x_label_area_size(40).y_label_area_size(60);
    builder
}

impl Chart<'_> {
    /// Draws the chart into a folder.
    ///
    /// # Errors
    /// Returns a message if the file cannot be written.
    pub fn draw(&self, folder: &Path) -> Result<(), String> {
        let points = || self.curves.iter().flat_map(|curve| &curve.1);
        let x =
            points().map(|p| p.0).fold(f64::INFINITY, f64::min)..points().map(|p| p.0).fold(1e-9, f64::max);
        let high = points().map(|p| p.1).chain(self.goal).fold(1e-9, f64::max);
        save(folder, self.file, (720, 420), |root| {
            if !self.log {
                return self.lines(root, x, 0.0..high * 1.1);
            }
            let low = points().map(|p| p.1).filter(|y| *y > 0.0).fold(high, f64::min);
            self.lines(root, x.log_scale(), (low * 0.7..high * 1.4).log_scale())
        })
    }

    fn lines<X, Y>(&self, root: &Root<'_>, x: X, y: Y) -> Drawn
    where
        X: AsRangedCoord<Value = f64, CoordDescType: ValueFormatter<f64>>,
        Y: AsRangedCoord<Value = f64, CoordDescType: ValueFormatter<f64>>,
    {
        let mut chart = builder(root, self.caption).build_cartesian_2d(x, y)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(self.x).y_desc(self.y).x_labels(8).y_labels(8).light_line_style(TRANSPARENT).draw()?;
        for ((name, points), colour) in self.curves.iter().zip(COLOURS) {
            chart
                .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        }
        if let Some(goal) = self.goal {
            let ends = self.curves.iter().flat_map(|curve| &curve.1).map(|point| (point.0, goal));
            chart.draw_series(LineSeries::new(ends, BLACK.stroke_width(1)))?;
        }
        if self.curves.len() > 1 {
            chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK).draw()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SVG: &str = "<svg width=\"1\">\n<rect fill=\"#FFFFFF\"/>\n</svg>\n";

    #[test]
    fn dark_style_follows_the_opening_tag_and_has_every_colour_of_a_chart() {
        let svg = with_dark_style(SVG);
        let start = "<svg width=\"1\">\n<style>\n@media (prefers-color-scheme: dark) {\n";
        assert!(
            svg.starts_with(start) && svg.ends_with("}\n</style>\n<rect fill=\"#FFFFFF\"/>\n</svg>\n"),
            "{svg}"
        );
        for RGBColor(red, green, blue) in [WHITE, BLACK].into_iter().chain(COLOURS) {
            let rule = format!("[stroke=\"#{red:02X}{green:02X}{blue:02X}\"] {{ stroke: #");
            assert!(svg.contains(&rule), "{rule} in {svg}");
        }
    }

    #[test]
    fn plots_of_the_documentation_have_the_dark_style() {
        let svg = with_dark_style(SVG);
        let (style, _) = svg.split_once("\n<rect").expect("a rectangle");
        let style = style.split_once('\n').map(|(_, style)| style).expect("an opening tag");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
        let plots: Vec<_> = files.filter(|file| file.extension().is_some_and(|kind| kind == "svg")).collect();
        assert!(plots.len() >= 8, "{plots:?}");
        for plot in plots {
            let text = fs::read_to_string(&plot).expect("text");
            assert_eq!(text.matches(style).count(), 1, "{}", plot.display());
        }
    }
}
