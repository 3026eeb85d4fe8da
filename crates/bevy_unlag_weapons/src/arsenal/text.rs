//! Arsenals as text.

use ron::ser::PrettyConfig;

use super::{Arsenal, ArsenalError};

/// Bytes that a file may have.
const MAX_BYTES: usize = 256 * 1_024;
/// How deep brackets may stand in each other. A file needs 6.
const MAX_DEPTH: usize = 16;

impl Arsenal {
    /// Reads a `*.weapons.ron` file: a list of [`Weapon`](crate::Weapon)s. Nothing that it says is trusted.
    ///
    /// # Errors
    /// What is wrong, where, and what to do.
    pub fn from_ron(text: &str) -> Result<Self, ArsenalError> {
        if text.len() > MAX_BYTES {
            let problem = format!("the file has {} bytes; it may have {MAX_BYTES}", text.len());
            return Err(ArsenalError::Whole { problem });
        }
        let options = ron::Options::default().with_recursion_limit(MAX_DEPTH);
        let weapons = options.from_str(text).map_err(|error| {
            let at = error.span.start;
            ArsenalError::Syntax { line: at.line, column: at.col, problem: error.code.to_string() }
        })?;
        Self::new(weapons)
    }

    /// Writes a file that [`from_ron`](Self::from_ron) reads.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn to_ron(&self) -> Result<String, ArsenalError> {
        let pretty = PrettyConfig::new().depth_limit(3).new_line("\n");
        let text = ron::ser::to_string_pretty(&self.weapons, pretty)
            .map_err(|error| ArsenalError::Whole { problem: error.to_string() })?;
        Ok(text + "\n")
    }
}
