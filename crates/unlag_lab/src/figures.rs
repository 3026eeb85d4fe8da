//! Named figures and their output as table and JSON.

/// A named measurement.
pub struct Figure {
    /// JSON key, the same in every run.
    pub key: String,
    /// Measured value, always finite.
    pub value: f64,
    /// Meaning, unit and sample size.
    pub meaning: String,
}

/// Ordered figures of one topic.
#[derive(Default)]
pub struct Figures(Vec<Figure>);

impl Figures {
    /// Adds a figure.
    ///
    /// # Errors
    /// Returns a message if the value is not finite, that is, if nothing was measured.
    pub fn add(
        &mut self,
        key: impl AsRef<str>,
        value: f64,
        meaning: impl Into<String>,
    ) -> Result<(), String> {
        let (key, meaning) = (key.as_ref().to_owned(), meaning.into());
        if !value.is_finite() {
            return Err(format!("nothing was measured for {key} ({meaning}); measure longer"));
        }
        self.0.push(Figure { key, value, meaning });
        Ok(())
    }

    /// Iterates over the figures in order.
    pub fn iter(&self) -> impl Iterator<Item = &Figure> {
        self.0.iter()
    }

    /// Returns a text table with one line per figure.
    pub fn table(&self) -> String {
        let width = self.iter().map(|f| f.key.len()).max().unwrap_or(0);
        self.iter().map(|f| format!("{:<width$}  {:>12.4}  {}\n", f.key, f.value, f.meaning)).collect()
    }

    /// Returns one flat JSON object of numbers.
    pub fn json(&self) -> String {
        let pairs: Vec<_> = self.iter().map(|f| format!("\"{}\": {}", f.key, f.value)).collect();
        format!("{{{}}}\n", pairs.join(", "))
    }
}
