//! Arsenals in RON.

use ron::ser::PrettyConfig;

use super::{Arsenal, ArsenalError};

/// Maximum size of a file, in bytes.
const MAX_BYTES: usize = 256 * 1_024;
/// Maximum nesting depth of brackets. A valid file needs 6.
const MAX_DEPTH: usize = 16;

impl Arsenal {
    /// Parses a `*.weapons.ron` file: a list of [`Weapon`](crate::Weapon)s. All values are validated.
    ///
    /// # Errors
    /// Says what is wrong, where, and what to change.
    pub fn from_ron(text: &str) -> Result<Self, ArsenalError> {
        if text.len() > MAX_BYTES {
            let problem =
                format!("the file has {} bytes, but at most {MAX_BYTES} are allowed; shorten it", text.len());
            return Err(ArsenalError::Whole { problem });
        }
        let options = ron::Options::default().with_recursion_limit(MAX_DEPTH);
        let weapons = options.from_str(text).map_err(|error| {
            let at = error.span.start;
            ArsenalError::Syntax { line: at.line, column: at.col, problem: error.code.to_string() }
        })?;
        Self::new(weapons)
    }

    /// Serializes the arsenal as a file that [`from_ron`](Self::from_ron) can parse.
    ///
    /// # Errors
    /// Returns the error of the RON serializer.
    pub fn to_ron(&self) -> Result<String, ArsenalError> {
        let pretty = PrettyConfig::new().depth_limit(3).new_line("\n");
        let text = ron::ser::to_string_pretty(&self.weapons, pretty)
            .map_err(|error| ArsenalError::Whole { problem: error.to_string() })?;
        Ok(text + "\n")
    }
}
