//! SHA-256 digest of a certificate, by which a client knows a self-signed one.

use core::{fmt, str::FromStr};

use bevy::prelude::*;
use derive_more::Display;

use crate::hexadecimal;

/// SHA-256 digest of a server's certificate. A client that has it trusts this certificate and no other. Its text is 64
/// hexadecimal digits; colons between them are read, too.
///
/// ```
/// use lightyear_guard::CertificateDigest;
///
/// let digest: CertificateDigest = "AB".repeat(32).parse()?;
/// assert_eq!(digest.to_string(), "ab".repeat(32));
/// assert!("ab".parse::<CertificateDigest>().is_err());
/// # Ok::<(), lightyear_guard::InvalidDigest>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
pub struct CertificateDigest(pub [u8; 32]);

/// Text that is no [`CertificateDigest`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Display)]
#[display("a certificate digest has 64 hexadecimal digits; copy the one that the server prints")]
pub struct InvalidDigest;

impl core::error::Error for InvalidDigest {}

impl fmt::Display for CertificateDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for CertificateDigest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        hexadecimal::parse_32(&text.trim().replace(':', "")).map(Self).ok_or(InvalidDigest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_read_as_it_is_written_and_with_colons() {
        let digest = CertificateDigest(core::array::from_fn(|index| index as u8 * 7));
        assert_eq!(digest.to_string().parse(), Ok(digest));
        let colons: Vec<_> = digest.0.iter().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(colons.join(":").parse(), Ok(digest));
        for wrong in ["", "0", &"g".repeat(64), &"0".repeat(63), &"0".repeat(65), &"é".repeat(32)] {
            assert_eq!(wrong.parse::<CertificateDigest>(), Err(InvalidDigest), "{wrong}");
        }
    }
}
