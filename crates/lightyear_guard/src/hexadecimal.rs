//! Hexadecimal text of keys and digests.

/// Returns the 32 bytes of 64 hexadecimal digits, if it is these and nothing else.
pub(crate) fn parse_32(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        for digit in pair {
            *byte = *byte << 4 | (*digit as char).to_digit(16)? as u8;
        }
    }
    Some(bytes)
}
