//! Encodings of text files.

use std::borrow::Cow;

use crate::error::RonError;

/// Decodes the bytes of a text file: UTF-8 with or without a byte order mark, or UTF-16 with one, as Windows
/// PowerShell writes for `>`. The mark is no part of the text.
///
/// # Errors
/// The bytes are text in neither encoding.
pub fn decode_text(bytes: &[u8]) -> Result<Cow<'_, str>, RonError> {
    match bytes {
        [0xFF, 0xFE, units @ ..] => utf16(units, u16::from_le_bytes).map(Cow::Owned),
        [0xFE, 0xFF, units @ ..] => utf16(units, u16::from_be_bytes).map(Cow::Owned),
        _ => {
            let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
            str::from_utf8(text).map(Cow::Borrowed).map_err(|error| {
                RonError::whole(format!("the file is not UTF-8 text ({error}); save it as UTF-8"))
            })
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, RonError> {
    let (units, odd) = bytes.as_chunks::<2>();
    char::decode_utf16(units.iter().map(|pair| unit(*pair)))
        .collect::<Result<String, _>>()
        .ok()
        .filter(|_| odd.is_empty())
        .ok_or_else(|| RonError::whole("the file begins like UTF-16 text and is none; save it as UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_decoded_with_every_byte_order_mark() {
        for bytes in [&b"[1]"[..], b"\xEF\xBB\xBF[1]", b"\xFF\xFE[\x001\x00]\x00", b"\xFE\xFF\x00[\x001\x00]"]
        {
            assert_eq!(decode_text(bytes).as_deref(), Ok("[1]"), "{bytes:?}");
        }
        assert_eq!(decode_text(b"").as_deref(), Ok(""));
    }

    #[test]
    fn bytes_in_neither_encoding_are_an_error() {
        for bytes in [&b"\xE4"[..], b"\xFF\xFE1", b"\xFF\xFE\x00\xD8", b"\xEF\xBB\xBF\xE4"] {
            let error = decode_text(bytes).expect_err("no text").to_string();
            assert!(error.contains("save it as UTF-8"), "{error}");
        }
    }
}
