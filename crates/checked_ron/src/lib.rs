//! Bounded reading of hand-written RON files, with readable errors.
//!
//! ```text
//!  file, bytes ─► size ─► decode_text ─► nesting ─► parse ─► the type's own checks ─► value
//!                  │           │            │         │                │
//!                  └───────────┴────────────┴─────────┴────────────────┴─► RonError, one line
//! ```
//!
//! A type that is stored as RON implements [`RonFile`]: its name, its parser and its checks. In return it
//! gets
//!
//! * [`RonFile::from_ron`] for text and [`RonFile::from_bytes`] for bytes with or without a byte order mark,
//! * [`RonFile::read`] for a file on disk, whose size is checked before it is read,
//! * with the feature `bevy`, `RonAssetLoader` for Bevy's asset server,
//!
//! and one error type, [`RonError`], whose text is a single line: what is wrong, where, and what to do.
//! Control characters of the file are escaped in it, and long names are cut.
//!
//! The parts are there for other files as well: [`read_file`] and [`read_to_limit`] read up to a limit, [`decode_text`]
//! understands byte order marks, and [`OneLine`] shows a foreign text within a line.
//!
//! # Example
//!
//! ```
//! use checked_ron::{RonError, RonFile, parse};
//!
//! #[derive(serde::Deserialize, Debug)]
//! struct Level {
//!     name: String,
//!     players: u8,
//! }
//!
//! impl RonFile for Level {
//!     const CONTENT: &'static str = "level";
//!     const EXTENSIONS: &'static [&'static str] = &["level.ron"];
//!
//!     fn from_ron(text: &str) -> Result<Self, RonError> {
//!         let level: Self = parse(text)?;
//!         if level.players == 0 {
//!             return Err(RonError::at("players", "must be at least 1"));
//!         }
//!         Ok(level)
//!     }
//! }
//!
//! let error = Level::from_ron(r#"(name: "docks", players: 0)"#).expect_err("no place for anybody");
//! assert_eq!(error.to_string(), "players: must be at least 1");
//! ```
//!
//! # Features
//!
//! | Feature | Default | Effect |
//! | --- | --- | --- |
//! | `bevy` | no | `RonAssetLoader`, for every [`RonFile`] that is a Bevy asset. |

mod bounded_read;
#[doc(hidden)]
pub mod broken_text;
mod error;
mod file;
#[cfg(feature = "bevy")]
mod loader;
mod one_line;
mod text_encoding;

pub use bounded_read::{read_file, read_to_limit};
pub use error::RonError;
pub use file::{RonFile, parse, to_text};
#[cfg(feature = "bevy")]
pub use loader::RonAssetLoader;
pub use one_line::OneLine;
pub use text_encoding::decode_text;
