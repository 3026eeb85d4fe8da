//! Named figures and their output as table and JSON.

use serde::{Serialize, Serializer};

/// A named measurement.
pub struct Figure {
    /// JSON key, the same in every run.
    pub key: String,
    /// Measured value, always finite.
    pub value: f64,
    /// Meaning, unit and sample size.
    pub meaning: String,
}

/// Ordered figures of one topic, in JSON one flat object of numbers.
#[derive(Default)]
pub struct Figures(Vec<Figure>);

/// Figure that still lacks its [`text`](Self::text).
#[must_use]
pub struct NewFigure<'a>(&'a mut Figures, Figure);

impl Figures {
    /// Begins a figure with its JSON key and its value.
    pub fn add(&mut self, key: impl Into<String>, value: f64) -> NewFigure<'_> {
        NewFigure(self, Figure { key: key.into(), value, meaning: String::new() })
    }

    /// Iterates over the figures in order.
    pub fn iter(&self) -> impl Iterator<Item = &Figure> {
        self.0.iter()
    }

    /// Returns a text table with one line per figure, or with `json` one flat JSON object with one line per figure.
    ///
    /// # Errors
    /// Returns a message if the figures cannot be written as JSON.
    pub fn output(&self, json: bool) -> Result<String, String> {
        if json {
            let text = serde_json::to_string_pretty(self).map(|text| text + "\n");
            return text.map_err(|e| format!("cannot write the figures: {e}"));
        }
        let width = self.iter().map(|f| f.key.len()).max().unwrap_or(0);
        Ok(self.iter().map(|f| format!("{:<width$}  {:>12.4}  {}\n", f.key, f.value, f.meaning)).collect())
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|figure| (&figure.key, figure.value)))
    }
}

impl NewFigure<'_> {
    /// Completes the figure with its meaning, unit and sample size.
    ///
    /// # Errors
    /// Returns a message if the value is not finite, that is, if nothing was measured.
    pub fn text(self, meaning: impl Into<String>) -> Result<(), String> {
        let Self(figures, figure) = self;
        let (key, meaning) = (&figure.key, meaning.into());
        if !figure.value.is_finite() {
            return Err(format!("nothing was measured for {key} ({meaning}); measure longer"));
        }
        figures.0.push(Figure { meaning, ..figure });
        Ok(())
    }
}
