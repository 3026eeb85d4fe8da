//! Errors of RON files.

use core::fmt;

/// Problem with a RON file. Its text is one line: what is wrong, where, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RonError {
    /// The file cannot be opened or read.
    Io {
        /// The operating system's message.
        problem: String,
    },
    /// The text is not RON, or not of the expected form.
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Description of the mistake.
        problem: String,
    },
    /// The text is well-formed, but a value in it is not allowed.
    Value {
        /// Place: `weapon 2 ("shotgun"), interval`. Empty for the file as a whole.
        place: String,
        /// Description of the mistake, and what to do.
        problem: String,
    },
}

impl RonError {
    /// Returns an error of the file as a whole.
    #[must_use]
    pub fn whole(problem: impl Into<String>) -> Self {
        Self::at("", problem)
    }

    /// Returns an error at a place, such as `weapon 2 ("shotgun"), interval`.
    #[must_use]
    pub fn at(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Value { place: place.into(), problem: problem.into() }
    }
}

impl fmt::Display for RonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { problem } => write!(f, "{}", OneLine(problem)),
            Self::Syntax { line, column, problem } => {
                write!(f, "line {line}, column {column}: {}", OneLine(problem))
            }
            Self::Value { place, problem } if place.is_empty() => write!(f, "{}", OneLine(problem)),
            Self::Value { place, problem } => write!(f, "{}: {}", OneLine(place), OneLine(problem)),
        }
    }
}

impl core::error::Error for RonError {}

/// Text with its control characters escaped: a file cannot break lines of a log or clear a terminal.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| {
            if letter.is_control() { write!(f, "{}", letter.escape_debug()) } else { write!(f, "{letter}") }
        })
    }
}
