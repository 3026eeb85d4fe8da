//! Foreign text within a line of a terminal or a log.

use core::fmt::{self, Write};
use std::{borrow::Cow, path::Path};

/// Foreign text for one line of a terminal or a log: a name, a path, a message. Characters that would break the line,
/// clear the terminal or turn the direction of writing are escaped, and a text longer than its limit loses its middle.
///
/// ```
/// # use checked_ron::OneLine;
/// assert_eq!(OneLine::name("a\u{1b}[2J\nb").to_string(), "a\\u{1b}[2J\\nb");
/// assert_eq!(OneLine::new("0123456789", 4).to_string(), "01...89");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OneLine<'a> {
    text: Cow<'a, str>,
    most: usize,
}

impl<'a> OneLine<'a> {
    /// Shows a text, of which at most `most` characters are kept.
    #[must_use]
    pub fn new(text: &'a str, most: usize) -> Self {
        Self { text: Cow::Borrowed(text), most }
    }

    /// Shows a name; 64 of its characters are kept.
    #[must_use]
    pub fn name(text: &'a str) -> Self {
        Self::new(text, 64)
    }

    /// Shows a path; 256 of its characters are kept.
    #[must_use]
    pub fn path(path: &'a Path) -> Self {
        Self { text: path.to_string_lossy(), most: 256 }
    }
}

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.text.chars().count();
        if length <= self.most {
            return escape(f, self.text.chars());
        }
        let end = self.most / 2;
        escape(f, self.text.chars().take(self.most - end))?;
        f.write_str("...")?;
        escape(f, self.text.chars().skip(length - end))
    }
}

fn escape(f: &mut fmt::Formatter<'_>, mut letters: impl Iterator<Item = char>) -> fmt::Result {
    letters.try_for_each(|letter| match letter {
        // Invisible characters, separators of lines, and changes of the direction of writing.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
            write!(f, "{}", letter.escape_unicode())
        }
        _ if letter.is_control() => write!(f, "{}", letter.escape_debug()),
        _ => f.write_char(letter),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_letters_are_not() {
        assert_eq!(OneLine::name("a\u{1b}]0;x\u{7}\r\nb").to_string(), "a\\u{1b}]0;x\\u{7}\\r\\nb");
        assert_eq!(OneLine::name("a\u{9b}2J\u{202e}b\u{feff}").to_string(), "a\\u{9b}2J\\u{202e}b\\u{feff}");
        assert_eq!(OneLine::name("Büro \"é\" 東").to_string(), "Büro \"é\" 東");
    }

    #[test]
    fn long_text_keeps_its_beginning_and_its_end() {
        let name = format!("begin{}end", "x".repeat(100_000));
        let shown = OneLine::name(&name).to_string();
        assert!(shown.starts_with("beginx") && shown.ends_with("xend"), "{shown}");
        assert_eq!(shown.chars().count(), 64 + 3);
        assert_eq!(OneLine::new("äöüß!", 3).to_string(), "äö...!");
        assert_eq!(OneLine::new("abc", 3).to_string(), "abc");
    }

    #[test]
    fn path_is_shown_on_one_line() {
        assert_eq!(OneLine::path(Path::new("a\u{1b}b/c.ron")).to_string(), "a\\u{1b}b/c.ron");
    }
}
