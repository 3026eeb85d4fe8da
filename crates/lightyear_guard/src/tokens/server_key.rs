//! Secret key shared by a server and its matchmaker.

use core::{fmt, str::FromStr};
use std::{
    io::{ErrorKind, Read},
    path::Path,
};

use checked_ron::{OneLine, decode_text, read_file, read_to_limit};
use derive_more::Display;
use hkdf::Hkdf;
use lightyear::netcode::try_generate_key;
use sha2::Sha256;

use crate::hexadecimal;

/// The public development key; anybody who reads this source knows it.
const DEVELOPMENT: [u8; 32] = *b"bevy_unlag development, public!!";
/// Largest key file in bytes: as many keys as are accepted, as UTF-16 with white space around them.
const MAX_FILE_BYTES: usize = 1_024;
/// Purpose of derived keys, the first part of HKDF's `info`. The id of the server follows.
const DERIVATION: &[u8] = b"bevy_unlag server key 1\0";

/// Secret key with which a matchmaker issues connect tokens and a server reads them: 32 bytes. Anyone with
/// the key can join as any player, so it must never leave those two. `Debug` hides it, and an all-zero key cannot be
/// constructed.
///
/// ```
/// use lightyear_guard::{KeyError, ServerKey};
///
/// let fleet = ServerKey::random()?;
/// // Each server gets a key of its own, and the matchmaker derives it from its name.
/// let server = fleet.for_server("frankfurt-3");
/// assert_ne!(server, fleet);
/// assert_eq!(server.to_hex().parse(), Ok(server.clone()));
/// assert_eq!(format!("{server:?}"), "ServerKey(hidden)");
/// assert_eq!(ServerKey::from_bytes([0; 32]), Err(KeyError::Zero));
/// # Ok::<(), KeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ServerKey([u8; 32]);

/// Error of reading or creating a [`ServerKey`]. `Display` says in one line what to do.
#[derive(Clone, PartialEq, Eq, Debug, Display)]
pub enum KeyError {
    /// All bytes are zero: netcode's default, with which anybody can forge tokens.
    #[display("the server's key is all zeros, so anybody could forge tokens; make one: openssl rand -hex 32")]
    Zero,
    /// Not 64 hexadecimal digits.
    #[display("a server's key must be 64 hexadecimal digits; make one: openssl rand -hex 32")]
    Text,
    /// A line of a file with several keys is wrong; contains its number, from 1, and the error.
    #[display("line {_0}: {_1}")]
    Line(usize, Box<Self>),
    /// More keys than [`ServerKeys::MAX`](crate::ServerKeys::MAX); contains their number.
    #[display("a server accepts 4 keys at most, the newest first, not {_0}; remove the oldest")]
    TooMany(usize),
    /// The published development key is among several keys: anybody could join with it.
    #[display("the public development key is among the keys, so anybody could join; remove it")]
    Development,
    /// There is no such file; contains its path and the error.
    #[display("cannot read the key file {_0} ({_1}); make one: openssl rand -hex 32 > {_0}")]
    File(String, String),
    /// The file is there, but it cannot be read, is a device, or is too long for a key; contains its path and the
    /// error.
    #[display("cannot read {_0} as a key file: {_1}")]
    Unreadable(String, String),
    /// The environment variable is not set; contains its name.
    #[display("the environment variable {_0} is not set; make a key: openssl rand -hex 32")]
    Missing(String),
    /// The operating system provides no random bytes.
    #[display("the operating system provides no random bytes for a key")]
    Random,
}

impl ServerKey {
    /// Generates a key from the operating system's random bytes.
    ///
    /// # Errors
    /// [`KeyError::Random`].
    pub fn random() -> Result<Self, KeyError> {
        try_generate_key().map_err(|_| KeyError::Random).and_then(Self::from_bytes)
    }

    /// Creates a key from 32 bytes.
    ///
    /// # Errors
    /// [`KeyError::Zero`].
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, KeyError> {
        if bytes == [0; 32] { Err(KeyError::Zero) } else { Ok(Self(bytes)) }
    }

    /// Reads a key from a file with the text of [`to_hex`](Self::to_hex); a byte order mark and surrounding white space
    /// are ignored. At most 1 KiB is read.
    ///
    /// # Errors
    /// [`KeyError::File`], [`KeyError::Unreadable`], [`KeyError::Text`] or [`KeyError::Zero`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        parse_file(path.as_ref())
    }

    /// Reads a key from an environment variable with the text of [`to_hex`](Self::to_hex).
    ///
    /// # Errors
    /// [`KeyError::Missing`], [`KeyError::Text`] or [`KeyError::Zero`].
    pub fn from_env(name: &str) -> Result<Self, KeyError> {
        std::env::var(name).map_err(|_| KeyError::Missing(name.to_owned()))?.parse()
    }

    /// Derives the key of one server of a fleet from this key, the fleet's: HKDF-SHA256 without salt, whose `info`
    /// is `bevy_unlag server key 1`, a zero byte and the id. A matchmaker then keeps one secret for all servers,
    /// and each server gets its own key, which says nothing about the fleet's or another server's.
    ///
    /// It cannot fail, whatever the id: HKDF fails only for an output of more than 8,160 bytes, and a key has 32.
    #[expect(clippy::missing_panics_doc, reason = "the length that is expanded is constant and valid")]
    #[must_use]
    pub fn for_server(&self, server_id: &str) -> Self {
        let mut key = [0; 32];
        Hkdf::<Sha256>::new(None, &self.0)
            .expand_multi_info(&[DERIVATION, server_id.as_bytes()], &mut key)
            .expect("HKDF gives up to 8,160 bytes");
        Self(key)
    }

    /// The public key of development mode, for examples and tests: a server with it lets anybody join as
    /// anybody, accepts tokens repeatedly, and logs a warning at each start.
    #[must_use]
    pub const fn development() -> Self {
        Self(DEVELOPMENT)
    }

    /// Whether this is the public development key.
    #[must_use]
    pub fn is_development(&self) -> bool {
        self.0 == DEVELOPMENT
    }

    /// Returns the key as 64 hexadecimal digits, for a file or a matchmaker in another language. Keep them
    /// secret.
    #[must_use]
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(super) fn bytes(&self) -> [u8; 32] {
        self.0
    }
}

/// Reads a key file.
///
/// # Errors
/// [`KeyError::File`] or [`KeyError::Unreadable`], and those of the text.
pub(super) fn parse_file<T: FromStr<Err = KeyError>>(path: &Path) -> Result<T, KeyError> {
    let bytes = read_file(path, MAX_FILE_BYTES).map_err(|error| {
        let shown = OneLine::path(path).to_string();
        match error.kind() {
            ErrorKind::NotFound => KeyError::File(shown, error.to_string()),
            _ => KeyError::Unreadable(shown, error.to_string()),
        }
    })?;
    parse_bytes(&bytes)
}

/// Reads text from a source with this name, such as standard input, and parses it.
pub(super) fn parse_source<T: FromStr<Err = KeyError>>(source: impl Read, name: &str) -> Result<T, KeyError> {
    let bytes = read_to_limit(source, MAX_FILE_BYTES)
        .map_err(|error| KeyError::Unreadable(name.to_owned(), error.to_string()))?;
    parse_bytes(&bytes)
}

fn parse_bytes<T: FromStr<Err = KeyError>>(bytes: &[u8]) -> Result<T, KeyError> {
    decode_text(bytes).map_err(|_| KeyError::Text)?.parse()
}

impl FromStr for ServerKey {
    type Err = KeyError;

    /// Parses 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        Self::from_bytes(hexadecimal::parse_32(text.trim()).ok_or(KeyError::Text)?)
    }
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_development() { "ServerKey(development)" } else { "ServerKey(hidden)" })
    }
}

impl core::error::Error for KeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_survives_its_hex_text_and_is_hidden_by_debug() {
        let key = ServerKey::random().expect("random bytes");
        assert_eq!(key.to_hex().parse(), Ok(key.clone()));
        assert_eq!(format!(" {}\n", key.to_hex()).parse(), Ok(key.clone()));
        assert_ne!(Ok(key.clone()), ServerKey::random());
        let shown = format!("{key:?}");
        assert!(!shown.contains(&key.to_hex()[..8]) && shown == "ServerKey(hidden)", "{shown}");
    }

    #[test]
    fn derived_key_is_hkdf_sha256_and_differs_by_server_and_fleet() {
        let fleet = ServerKey::from_bytes([7; 32]).expect("no zeros");
        // From Python: hmac.digest(hmac.digest(bytes(32), bytes([7]) * 32, "sha256"), info + b"\x01", "sha256").
        let expected = "0a857280c598f9cbaf60a8199eeb8b64b4ee4eef67b455e394d7795ece05e589";
        assert_eq!(fleet.for_server("eu-1").to_hex(), expected);
        let other = ServerKey::from_bytes([8; 32]).expect("no zeros");
        assert_ne!(fleet.for_server("eu-1"), fleet.for_server("eu-2"));
        assert_ne!(fleet.for_server("eu-1"), other.for_server("eu-1"));
        assert_ne!(fleet.for_server("eu-1"), fleet);
    }

    /// Reads a key from a file with these bytes.
    fn read(name: &str, bytes: &[u8]) -> Result<ServerKey, KeyError> {
        let path = std::env::temp_dir().join(format!("server_key_{}_{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("a file");
        let read = ServerKey::from_file(&path);
        std::fs::remove_file(&path).expect("it goes");
        read
    }

    #[test]
    fn key_file_is_read_with_every_byte_order_mark() {
        let key = ServerKey::random().expect("random bytes");
        let text = format!("{}\r\n", key.to_hex());
        let utf16 = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<_>>();
        let files = [
            ("plain", text.clone().into_bytes()),
            ("utf8", [&b"\xEF\xBB\xBF"[..], text.as_bytes()].concat()),
            ("little", [&b"\xFF\xFE"[..], &utf16(u16::to_le_bytes)].concat()),
            ("big", [&b"\xFE\xFF"[..], &utf16(u16::to_be_bytes)].concat()),
        ];
        for (name, bytes) in files {
            assert_eq!(read(name, &bytes), Ok(key.clone()), "{name}");
        }
        assert_eq!(read("binary", &[0xE4; 64]), Err(KeyError::Text));
    }

    #[test]
    fn file_that_is_no_key_file_is_refused_without_advice_to_overwrite_it() {
        let long = read("long", &[b'a'; MAX_FILE_BYTES + 1]);
        assert!(matches!(long, Err(KeyError::Unreadable(..))), "{long:?}");
        for path in [std::env::temp_dir(), "/dev/zero".into()].into_iter().filter(|path| path.exists()) {
            let error = ServerKey::from_file(&path).expect_err("no key file");
            assert!(matches!(error, KeyError::Unreadable(..)), "{error:?}");
            assert!(!error.to_string().contains("openssl"), "{error}");
        }
        let error = ServerKey::from_file("no/such/\u{1b}[2Jkey").expect_err("no such file").to_string();
        assert!(
            error.contains("no/such/\\u{1b}[2Jkey (") && error.contains("openssl rand -hex 32"),
            "{error}"
        );
    }

    #[test]
    fn invalid_key_is_refused_with_one_line_that_says_what_to_do() {
        for (text, error) in [
            ("0".repeat(64), KeyError::Zero),
            ("0".repeat(63), KeyError::Text),
            ("g".repeat(64), KeyError::Text),
            (format!("{}é", "a".repeat(62)), KeyError::Text),
            (String::new(), KeyError::Text),
        ] {
            assert_eq!(text.parse::<ServerKey>(), Err(error.clone()), "{text}");
            let line = error.to_string();
            assert!(line.contains("openssl rand -hex 32") && !line.contains('\n'), "{line}");
        }
        assert_eq!(ServerKey::from_bytes([0; 32]), Err(KeyError::Zero));
        assert!(matches!(ServerKey::from_file("/no/such/key"), Err(KeyError::File(..))));
        assert!(matches!(ServerKey::from_env("UNLAG_NO_SUCH_KEY"), Err(KeyError::Missing(_))));
    }
}
