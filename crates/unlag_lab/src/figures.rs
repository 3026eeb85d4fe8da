//! Measured numbers with their names.

/// One measured number.
pub struct Figure {
    /// Its name, the same in every run.
    pub key: String,
    /// The number; always finite.
    pub value: f64,
    /// What it means, with its unit and over how much data.
    pub meaning: String,
}

/// The numbers of one topic, in order.
#[derive(Default)]
pub struct Figures(Vec<Figure>);

impl Figures {
    /// Adds a number.
    ///
    /// # Errors
    /// One line when it is none: nothing was measured.
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

    /// The numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Figure> {
        self.0.iter()
    }

    /// A line for each.
    pub fn table(&self) -> String {
        let width = self.iter().map(|f| f.key.len()).max().unwrap_or(0);
        self.iter().map(|f| format!("{:<width$}  {:>12.4}  {}\n", f.key, f.value, f.meaning)).collect()
    }

    /// One flat JSON object of numbers.
    pub fn json(&self) -> String {
        let pairs: Vec<_> = self.iter().map(|f| format!("\"{}\": {}", f.key, f.value)).collect();
        format!("{{{}}}\n", pairs.join(", "))
    }
}
