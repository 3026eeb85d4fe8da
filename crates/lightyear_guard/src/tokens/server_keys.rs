//! Keys that a server accepts while they are being replaced.

use core::{iter, str::FromStr};
use std::{io::Read, path::Path};

use bevy::prelude::*;

use super::{
    KeyError, ServerKey,
    server_key::{parse_file, parse_source},
};

/// One to four keys that a server accepts, the newest first. A matchmaker issues tokens with the newest; a key is
/// removed from the list once no token of it is in use any more. `Debug` hides them.
///
/// To replace a key without refusing anybody: put the new one before the old one in the servers' lists, then in the
/// matchmaker's, and remove the old one a minute later. [`RotateKeys`](crate::RotateKeys) gives a running server
/// its new list.
///
/// ```
/// use bevy::prelude::*;
/// use lightyear_guard::{RotateKeys, ServerKey, ServerKeys};
///
/// let (new, old) = (ServerKey::random()?, ServerKey::random()?);
/// let keys: ServerKeys = format!("{}\n{}\n", new.to_hex(), old.to_hex()).parse()?;
/// assert_eq!(keys.newest(), &new);
/// assert_eq!(keys.iter().count(), 2);
///
/// /// On a server that runs.
/// fn rotate(entity: Entity, keys: ServerKeys, mut commands: Commands) {
///     commands.trigger(RotateKeys { entity, keys });
/// }
/// # Ok::<(), lightyear_guard::KeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Reflect)]
#[reflect(opaque)]
#[reflect(Debug)]
pub struct ServerKeys {
    newest: ServerKey,
    older: Vec<ServerKey>,
}

impl ServerKeys {
    /// Maximum number of keys. Each costs a server some 2 µs for a request that none of them has made.
    pub const MAX: usize = 4;

    /// Reads a file with a key a line, the newest first; empty lines are skipped. Otherwise like
    /// [`ServerKey::from_file`].
    ///
    /// # Errors
    /// The errors of [`ServerKey::from_file`], [`KeyError::Line`], [`KeyError::TooMany`] or
    /// [`KeyError::Development`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        parse_file(path.as_ref())
    }

    /// Reads the text of such a file until the end of a source, such as standard input, whose `name` is for errors.
    ///
    /// # Errors
    /// The errors of [`from_file`](Self::from_file), without [`KeyError::File`].
    pub fn from_reader(source: impl Read, name: &str) -> Result<Self, KeyError> {
        parse_source(source, name)
    }

    /// Returns the key with which tokens are issued.
    #[must_use]
    pub fn newest(&self) -> &ServerKey {
        &self.newest
    }

    /// Returns all keys, the newest first.
    pub fn iter(&self) -> impl Iterator<Item = &ServerKey> {
        iter::once(&self.newest).chain(&self.older)
    }

    /// Derives the keys of one server from these, the fleet's; see [`ServerKey::for_server`]. It cannot fail either.
    #[must_use]
    pub fn for_server(&self, server_id: &str) -> Self {
        Self {
            newest: self.newest.for_server(server_id),
            older: self.older.iter().map(|key| key.for_server(server_id)).collect(),
        }
    }

    /// Whether the only key is the public one of [development mode](ServerKey::development).
    #[must_use]
    pub fn is_development(&self) -> bool {
        self.newest.is_development()
    }
}

impl From<ServerKey> for ServerKeys {
    fn from(key: ServerKey) -> Self {
        Self { newest: key, older: Vec::new() }
    }
}

impl FromStr for ServerKeys {
    type Err = KeyError;

    /// Parses a key a line.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let lines: Vec<(usize, &str)> =
            text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
        let [(_, newest), older @ ..] = &lines[..] else { return Err(KeyError::Text) };
        if older.is_empty() {
            return newest.parse::<ServerKey>().map(Self::from);
        }
        if lines.len() > Self::MAX {
            return Err(KeyError::TooMany(lines.len()));
        }
        let keys = lines.iter().map(|(number, line)| {
            let key: ServerKey = line.parse().map_err(|error| KeyError::Line(number + 1, Box::new(error)))?;
            if key.is_development() { Err(KeyError::Development) } else { Ok(key) }
        });
        let mut keys = keys.collect::<Result<Vec<_>, _>>()?;
        let newest = keys.remove(0);
        Ok(Self { newest, older: keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{}\n", format!("{byte:02x}").repeat(32))).collect()
    }

    #[test]
    fn source_is_read_with_a_byte_order_mark_and_up_to_the_limit_of_a_file() {
        let text = keys(&[3, 1]);
        let wide: Vec<u8> =
            [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        for bytes in [text.as_bytes(), &wide] {
            assert_eq!(ServerKeys::from_reader(bytes, "standard input"), text.parse::<ServerKeys>());
        }
        let endless = ServerKeys::from_reader(std::io::repeat(b'a'), "standard input");
        assert!(
            matches!(&endless, Err(KeyError::Unreadable(name, _)) if name == "standard input"),
            "{endless:?}"
        );
        assert_eq!(ServerKeys::from_reader(&b""[..], "standard input"), Err(KeyError::Text));
    }

    #[test]
    fn list_keeps_the_order_of_its_lines_and_skips_empty_ones() {
        let list: ServerKeys = format!("\n{}\r\n\n", keys(&[3, 1, 2])).parse().expect("three keys");
        let bytes: Vec<u8> = list.iter().map(|key| key.bytes()[0]).collect();
        assert_eq!((bytes, list.newest().bytes()[0]), (vec![3, 1, 2], 3));
        assert!(!list.is_development() && !format!("{list:?}").contains("0303"), "{list:?}");
        let derived = list.for_server("a");
        let expected: Vec<_> = list.iter().map(|key| key.for_server("a")).collect();
        assert_eq!(derived.iter().cloned().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn wrong_line_is_named_and_a_list_that_lets_anybody_in_is_refused() {
        let error = |text: String| text.parse::<ServerKeys>().expect_err("no key list");
        assert_eq!(error(String::new()), KeyError::Text);
        assert_eq!(error(format!("{}junk", keys(&[1]))), KeyError::Line(2, Box::new(KeyError::Text)));
        assert_eq!(error(keys(&[1, 2, 0])), KeyError::Line(3, Box::new(KeyError::Zero)));
        let line = error(keys(&[1, 2, 0])).to_string();
        assert!(line.starts_with("line 3: ") && !line.contains('\n'), "{line}");
        assert_eq!(error(keys(&[1, 2, 3, 4, 5])), KeyError::TooMany(5));
        assert!(KeyError::TooMany(5).to_string().contains(&format!("{} keys", ServerKeys::MAX)));
        let development = ServerKey::development().to_hex();
        assert_eq!(error(format!("{}{development}", keys(&[1]))), KeyError::Development);
        assert_eq!(development.parse::<ServerKeys>().map(|keys| keys.is_development()), Ok(true));
    }
}
