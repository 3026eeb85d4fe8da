//! Arsenals in RON.

use checked_ron::{RonError, RonFile, parse, to_text};

use super::Arsenal;

impl RonFile for Arsenal {
    const CONTENT: &'static str = "weapons";
    const EXTENSIONS: &'static [&'static str] = &["weapons.ron"];

    /// Reads a `*.weapons.ron` file: a list of [`Weapon`](crate::Weapon)s. Every value is checked.
    fn from_ron(text: &str) -> Result<Self, RonError> {
        Self::new(parse(text)?)
    }
}

impl Arsenal {
    /// Writes a file that [`from_ron`](RonFile::from_ron) reads.
    ///
    /// # Errors
    /// Returns the value that cannot be written.
    pub fn to_ron(&self) -> Result<String, RonError> {
        to_text(&self.weapons, 3)
    }
}
