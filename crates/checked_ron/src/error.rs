//! Errors of RON files.

use core::fmt;

use crate::one_line::OneLine;

/// Characters of a place that an error text keeps; it may hold a name from the file.
const MAX_PLACE: usize = 160;
/// Characters of a problem that an error text keeps; a parser lists all fields of a type.
const MAX_PROBLEM: usize = 1_000;

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
            Self::Io { problem } => write!(f, "{}", problem_of(problem)),
            Self::Syntax { line, column, problem } => {
                write!(f, "line {line}, column {column}: {}", problem_of(problem))
            }
            Self::Value { place, problem } if place.is_empty() => write!(f, "{}", problem_of(problem)),
            Self::Value { place, problem } => {
                write!(f, "{}: {}", OneLine::new(place, MAX_PLACE), problem_of(problem))
            }
        }
    }
}

impl core::error::Error for RonError {}

fn problem_of(text: &str) -> OneLine<'_> {
    OneLine::new(text, MAX_PROBLEM)
}
