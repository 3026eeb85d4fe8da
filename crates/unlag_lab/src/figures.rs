//! Measured numbers with their names.

/// One measured number.
pub struct Figure {
    /// Its name, the same in every run.
    pub key: &'static str,
    /// The number; always finite.
    pub value: f64,
    /// What it means, with its unit and over how much data.
    pub meaning: String,
}

/// The numbers of one topic, in order.
#[derive(Default)]
pub struct Figures(Vec<Figure>);

impl Figures {
    /// Adds a number. One that is not finite says that nothing was measured, and becomes -1.
    pub fn add(&mut self, key: &'static str, value: f64, meaning: impl Into<String>) {
        let value = if value.is_finite() { value } else { -1.0 };
        self.0.push(Figure { key, value, meaning: meaning.into() });
    }

    /// The numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Figure> {
        self.0.iter()
    }
}
