//! Text of an operator for players who are disconnected.

use core::fmt;

use bevy::prelude::*;

/// A line of text for players who are disconnected, a kicked one or all of a server that stops: at most 100 bytes,
/// without control characters. Default: empty; its `Display` is "no reason given".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Reflect)]
#[reflect(opaque)]
#[reflect(Debug, PartialEq, Hash, Default)]
pub struct KickText {
    length: u8,
    bytes: [u8; Self::MAX],
}

impl KickText {
    /// Maximum length, in bytes.
    pub const MAX: usize = 100;

    /// Creates a text. Control characters become spaces, spaces around it are dropped, and a longer text is cut.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut line = text.trim().replace(char::is_control, " ");
        line.truncate(line.floor_char_boundary(Self::MAX));
        let line = line.trim();
        let mut bytes = [0; Self::MAX];
        bytes[..line.len()].copy_from_slice(line.as_bytes());
        Self { length: line.len() as u8, bytes }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.bytes.get(..self.length.into()).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// Decodes a text from a server. `None` for bytes that [`new`](Self::new) would not give.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let text = Self::new(str::from_utf8(bytes).ok()?);
        (text.as_str().as_bytes() == bytes).then_some(text)
    }
}

impl Default for KickText {
    fn default() -> Self {
        Self { length: 0, bytes: [0; Self::MAX] }
    }
}

impl fmt::Display for KickText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.length == 0 { "no reason given" } else { self.as_str() })
    }
}

impl fmt::Debug for KickText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_one_line_and_cut_between_characters() {
        for (text, line) in [
            (" be nice \n", "be nice"),
            ("a\u{1b}[2J\nb", "a [2J b"),
            ("é".repeat(80).as_str(), "é".repeat(50).as_str()),
            (format!("{}é", "x".repeat(99)).as_str(), "x".repeat(99).as_str()),
            ("\t", ""),
        ] {
            assert_eq!(KickText::new(text).as_str(), line);
        }
        assert_eq!(KickText::new("").to_string(), "no reason given");
        assert_eq!(format!("{:?}", KickText::new("quote \"")), "\"quote \\\"\"");
    }

    #[test]
    fn bytes_that_are_no_clean_line_are_refused() {
        assert_eq!(KickText::from_bytes("é".as_bytes()), Some(KickText::new("é")));
        for bytes in [&b"\xff"[..], b"\xc3", b" x", b"x\n", &[b'x'; KickText::MAX + 1]] {
            assert_eq!(KickText::from_bytes(bytes), None, "{bytes:?}");
        }
    }
}
