//! Errors of reading a file.

use std::io;

use crate::setup::RecordDifference;

/// Reason why a file, or a part of it, cannot be read.
#[derive(Debug)]
pub enum RecordError {
    /// Reading failed.
    Io(io::Error),
    /// The file is not a recording: it begins with other bytes.
    NotARecording,
    /// The file has another version of the format.
    OtherFormat {
        /// Version of the file.
        file: u16,
    },
    /// The file begins as a recording, but its setup is cut off or damaged.
    NoSetup,
    /// The file was recorded with something else than this build has.
    OtherBuild(RecordDifference),
    /// The file has more chunks than a reader keeps track of.
    TooLong,
    /// A segment is cut off or damaged.
    Damaged {
        /// Position of its header in the file, in bytes.
        offset: u64,
    },
    /// The file has no segment that can be read.
    Empty,
}

impl core::fmt::Display for RecordError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the recording cannot be read: {error}"),
            Self::NotARecording => f.write_str("the file is not a recording of a match"),
            Self::OtherFormat { file } => write!(
                f,
                "the recording has version {file} of the format and this build reads version {}: use the build that \
                 recorded it",
                crate::FORMAT_VERSION
            ),
            Self::NoSetup => f.write_str("the recording is cut off or damaged before its setup ends"),
            Self::OtherBuild(difference) => difference.fmt(f),
            Self::TooLong => f.write_str("the recording has more chunks than can be read"),
            Self::Damaged { offset } => {
                write!(f, "the part of the recording at byte {offset} is cut off or damaged")
            }
            Self::Empty => f.write_str("the recording has no part that can be read"),
        }
    }
}

impl core::error::Error for RecordError {}

impl From<io::Error> for RecordError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
