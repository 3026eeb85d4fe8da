//! Parsing with bounds on size and nesting.

use std::path::Path;

use ron::{extensions::Extensions, ser::PrettyConfig};
use serde::{Serialize, de::DeserializeOwned};

use crate::{bounded_read::read_file, error::RonError, text_encoding::decode_text};

/// Largest file in bytes. It bounds the memory that parsing takes.
pub(crate) const MAX_BYTES: usize = 256 * 1_024;
/// Deepest nesting of brackets. It bounds the stack that parsing takes; real files need 4 to 6.
const MAX_DEPTH: usize = 16;

/// Type that is stored as a RON file.
pub trait RonFile: Sized {
    /// Content of the file, for error texts: "weapons".
    const CONTENT: &'static str;
    /// File name endings for Bevy's asset server, without the first dot: `["weapons.ron"]`.
    const EXTENSIONS: &'static [&'static str];

    /// Parses text, usually with [`parse`], and checks every value. Nothing in the text is trusted.
    ///
    /// # Errors
    /// Returns a [`RonError`] that says what is wrong, where, and what to do.
    fn from_ron(text: &str) -> Result<Self, RonError>;

    /// Parses bytes: UTF-8, with or without a byte order mark, or UTF-16 with one.
    ///
    /// # Errors
    /// Those of [`from_ron`](Self::from_ron), and that the bytes are not text.
    fn from_bytes(bytes: &[u8]) -> Result<Self, RonError> {
        Self::from_ron(&decode_text(bytes)?)
    }

    /// Reads a file. Its size is checked before it is read, so a device or a huge file costs nothing.
    ///
    /// # Errors
    /// Those of [`from_bytes`](Self::from_bytes), and that the file cannot be read.
    fn read(path: impl AsRef<Path>) -> Result<Self, RonError> {
        let bytes =
            read_file(path, MAX_BYTES).map_err(|error| RonError::Io { problem: error.to_string() })?;
        Self::from_bytes(&bytes)
    }
}

fn check_size(bytes: u64) -> Result<(), RonError> {
    if bytes > MAX_BYTES as u64 {
        return Err(RonError::whole(format!("the file has {bytes} bytes; it may have {MAX_BYTES}")));
    }
    Ok(())
}

/// Parses RON text of at most 256 KiB, with brackets at most 16 deep. A byte order mark is skipped, and
/// optional values may be written without `Some`.
///
/// # Errors
/// The text is too long, or a [`RonError::Syntax`] with its place.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, RonError> {
    check_size(text.len() as u64)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let options = ron::Options::default()
        .with_recursion_limit(MAX_DEPTH)
        .with_default_extension(Extensions::IMPLICIT_SOME);
    options.from_str(text).map_err(|error| {
        let start = error.span.start;
        RonError::Syntax { line: start.line, column: start.col, problem: error.code.to_string() }
    })
}

/// Writes RON text that [`parse`] reads. Structures deeper than `depth` go on one line.
///
/// # Errors
/// A value that cannot be written.
pub fn to_text(value: &impl Serialize, depth: usize) -> Result<String, RonError> {
    let pretty = PrettyConfig::new().depth_limit(depth).separate_tuple_members(false).new_line("\n");
    ron::ser::to_string_pretty(value, pretty)
        .map(|text| text + "\n")
        .map_err(|error| RonError::whole(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Numbers(Vec<u8>);

    impl RonFile for Numbers {
        const CONTENT: &'static str = "numbers";
        const EXTENSIONS: &'static [&'static str] = &["numbers.ron"];

        fn from_ron(text: &str) -> Result<Self, RonError> {
            parse(text).map(Self)
        }
    }

    fn read(name: &str, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let path = std::env::temp_dir().join(format!("checked_ron_{}_{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("a file");
        let read = Numbers::read(&path);
        std::fs::remove_file(&path).expect("it goes");
        read.map(|numbers| numbers.0).map_err(|error| error.to_string())
    }

    #[test]
    fn files_with_and_without_a_byte_order_mark_are_read() {
        assert_eq!(read("plain", b"[1, 2]"), Ok(vec![1, 2]));
        assert_eq!(read("utf8_mark", b"\xEF\xBB\xBF[1, 2]"), Ok(vec![1, 2]));
        assert_eq!(read("utf16", b"\xFF\xFE[\x001\x00]\x00"), Ok(vec![1]));
        assert!(read("latin1", b"[1] // \xE4").is_err_and(|error| error.contains("not UTF-8")));
    }

    #[test]
    fn size_is_checked_before_reading() {
        assert!(read("large", &vec![b' '; MAX_BYTES + 1]).is_err_and(|error| error.contains("262145 bytes")));
        assert!(read("just_fits", &[&vec![b' '; MAX_BYTES - 3][..], b"[9]"].concat()).is_ok());
        let endless = Path::new("/dev/zero");
        if endless.exists() {
            assert!(Numbers::read(endless).is_err(), "a device is refused");
        }
        let error = Numbers::read("no/such/file.ron").expect_err("no such file").to_string();
        assert!(!error.is_empty());
    }

    #[test]
    fn control_characters_of_a_file_are_escaped_in_errors() {
        let error = RonError::at("weapon 0 (\"a\u{1b}[2J\nb\")", "is\r\nodd").to_string();
        assert_eq!(error, "weapon 0 (\"a\\u{1b}[2J\\nb\"): is\\r\\nodd");
        assert!(!Numbers::from_ron("[\u{1b}]").expect_err("no number").to_string().contains('\u{1b}'));
    }

    #[test]
    fn long_texts_of_a_file_are_cut_in_errors() {
        let long = "x".repeat(100_000);
        let error = RonError::at(format!("weapon 0 (\"{long}\"), range"), "is odd").to_string();
        assert!(error.len() < 200 && error.ends_with("x\"), range: is odd"), "{error}");
        let error = Numbers::from_ron(&format!("[{long}]")).expect_err("no number").to_string();
        assert!(error.len() < 1_200, "{error}");
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        assert!(Numbers::from_ron(&"[".repeat(100_000)).is_err());
    }
}
