//! Named figures and their output as table and JSON.

use serde::{Serialize, Serializer};

/// A named measurement.
pub struct Figure {
    /// JSON key, the same in every run.
    pub key: String,
    /// Measured value, always finite.
    pub value: f64,
    /// Sample sizes and related numbers for the table; the key names quantity and unit.
    pub note: String,
}

/// Ordered figures of one topic, in JSON one flat object of numbers.
#[derive(Default)]
pub struct Figures(pub Vec<Figure>);

impl Figures {
    /// Adds a figure with its JSON key and its value.
    ///
    /// # Errors
    /// Returns a message if the value is not finite, that is, if nothing was measured.
    pub fn add(&mut self, key: impl Into<String>, value: f64) -> Result<(), String> {
        self.add_noted(key, value, String::new())
    }

    /// Adds a figure with sample sizes or related numbers for the table.
    ///
    /// # Errors
    /// Returns a message if the value is not finite, that is, if nothing was measured.
    pub fn add_noted(&mut self, key: impl Into<String>, value: f64, note: String) -> Result<(), String> {
        let key = key.into();
        if !value.is_finite() {
            return Err(format!("nothing was measured for {key}; measure longer"));
        }
        self.0.push(Figure { key, value, note });
        Ok(())
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
        let width = self.0.iter().map(|f| f.key.len()).max().unwrap_or(0);
        Ok(self.0.iter().map(|f| format!("{:<width$}  {:>12.4}  {}\n", f.key, f.value, f.note)).collect())
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|figure| (&figure.key, figure.value)))
    }
}
