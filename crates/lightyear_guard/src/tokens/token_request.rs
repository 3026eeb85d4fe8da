//! Issuing connect tokens, for a matchmaker.

use core::{net::SocketAddr, time::Duration};

use lightyear::netcode::{ConnectToken, TokenUserData};

use super::{ServerKey, TokenError, netcode_packets::USER_DATA};
use crate::clock::{self, SystemTime, UNIX_EPOCH};

/// Magic bytes in the user data of the suite's tokens, with their version.
const MAGIC: [u8; 4] = *b"ULG1";
/// Longest lifetime that a server accepts.
pub(super) const MAX_LIFETIME: Duration = Duration::from_secs(3_600);

/// Permission for one client to join one server. [`issue`](Self::issue) makes the token; it needs no app.
///
/// ```
/// use lightyear_guard::{ConnectTokenRequest, ServerKey};
///
/// let key = ServerKey::random()?;
/// let server = "203.0.113.7:5000".parse().expect("an address");
/// let request = ConnectTokenRequest { data: b"team blue".to_vec(), ..ConnectTokenRequest::new(42, server, 0xF00D) };
/// let token: Vec<u8> = request.issue(&key)?;
/// assert_eq!(token.len(), 2_048);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[doc(alias = "ConnectToken")]
#[doc(alias = "ConnectTokenBuilder")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectTokenRequest {
    /// Account number of the client. The client cannot join under another id, and each id has at most one
    /// connection.
    pub client_id: u64,
    /// Public address of the server, which the client dials.
    pub server: SocketAddr,
    /// Id of the game, the same as [`ServerAccess::protocol_id`](crate::ServerAccess::protocol_id).
    pub protocol_id: u64,
    /// Time during which the client may use the token to join; established connections are not affected.
    /// Default 30 s, 1 s to an hour. Raising it gives a thief as much more time.
    pub lifetime: Duration,
    /// Time without a packet after which either side considers the other gone. Default 3 s, 1 s to an hour.
    /// Raising it tolerates longer outages, and leaves the pawn of a vanished player standing for longer.
    pub timeout: Duration,
    /// Application data for the server, at most 243 bytes, read with [`token_data`]. The client can neither
    /// read nor change it. Default empty.
    pub data: Vec<u8>,
}

impl ConnectTokenRequest {
    /// Maximum length of [`data`](Self::data), in bytes.
    pub const MAX_DATA: usize = USER_DATA - 13;

    /// Creates a request with the defaults.
    #[must_use]
    pub fn new(client_id: u64, server: SocketAddr, protocol_id: u64) -> Self {
        Self {
            client_id,
            server,
            protocol_id,
            lifetime: Duration::from_secs(30),
            timeout: Duration::from_secs(3),
            data: Vec::new(),
        }
    }

    /// Issues the token: 2048 bytes for the client. Send them over an encrypted channel: they suffice to
    /// join.
    ///
    /// # Errors
    /// [`TokenError::Request`] if a field is out of range.
    pub fn issue(&self, key: &ServerKey) -> Result<Vec<u8>, TokenError> {
        self.issue_at(key, clock::wall())
    }

    pub(super) fn issue_at(&self, key: &ServerKey, now: SystemTime) -> Result<Vec<u8>, TokenError> {
        let wrong = TokenError::Request;
        if self.lifetime < Duration::from_secs(1) || self.lifetime > MAX_LIFETIME {
            return Err(wrong("the lifetime of a token must be from 1 s to an hour"));
        }
        if self.timeout < Duration::from_secs(1) || self.timeout > MAX_LIFETIME {
            return Err(wrong("the timeout of a token must be from 1 s to an hour"));
        }
        let user_data = user_data(&self.data, now).ok_or(wrong("token data may have 243 bytes at most"))?;
        let whole = |time: Duration| time.as_secs() as i32 + i32::from(time.subsec_nanos() > 0);
        // netcode counts whole seconds of the wall clock, the first of which has begun.
        let lifetime = whole(self.lifetime) + 1;
        let token = ConnectToken::build(self.server, self.protocol_id, self.client_id, key.bytes())
            .expire_seconds(lifetime)
            .timeout_seconds(whole(self.timeout))
            .user_data(user_data)
            .generate()
            .map_err(|_| wrong("the system clock is before 1970, or no random bytes are available"))?;
        token
            .try_into_bytes()
            .map(|bytes| bytes.to_vec())
            .map_err(|_| wrong("the token does not fit 2048 bytes"))
    }
}

/// Returns milliseconds since 1970, 0 for earlier times.
pub(super) fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Encodes the user data: magic bytes, time of issue, length of the data, data.
fn user_data(data: &[u8], now: SystemTime) -> Option<[u8; USER_DATA]> {
    let mut bytes = [0; USER_DATA];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4..12].copy_from_slice(&milliseconds(now).to_be_bytes());
    bytes[12] = u8::try_from(data.len()).ok()?;
    bytes[13..].get_mut(..data.len())?.copy_from_slice(data);
    Some(bytes)
}

/// Decodes the user data of a token, if the suite issued it.
pub(super) fn issue_time(bytes: &[u8; USER_DATA]) -> Option<u64> {
    let issued = bytes.strip_prefix(&MAGIC)?.first_chunk()?;
    Some(u64::from_be_bytes(*issued))
}

/// Returns the matchmaker's data about a client: [`ConnectTokenRequest::data`]. `TokenUserData` is on the
/// server's end of a link as soon as it is connected. Empty for tokens that were not issued by
/// [`ConnectTokenRequest`].
#[must_use]
pub fn token_data(token: &TokenUserData) -> &[u8] {
    if issue_time(&token.0).is_none() {
        return &[];
    }
    token.0[13..].get(..usize::from(token.0[12])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ConnectTokenRequest {
        ConnectTokenRequest::new(7, SocketAddr::from(([127, 0, 0, 1], 1)), 3)
    }

    #[test]
    fn token_data_survives_a_round_trip() {
        for data in [&b""[..], b"team blue", &[255; ConnectTokenRequest::MAX_DATA]] {
            let bytes = user_data(data, clock::wall()).expect("it fits");
            assert_eq!(token_data(&TokenUserData(bytes)), data);
        }
        assert_eq!(token_data(&TokenUserData([0; USER_DATA])), b"");
        let mut long = user_data(b"x", clock::wall()).expect("it fits");
        long[12] = 255;
        assert_eq!(token_data(&TokenUserData(long)), b"", "a length beyond the end");
    }

    #[test]
    fn request_with_a_value_out_of_range_is_an_error() {
        let key = ServerKey::development();
        assert!(request().issue(&key).is_ok());
        let wrong = [
            ConnectTokenRequest { lifetime: Duration::ZERO, ..request() },
            ConnectTokenRequest { lifetime: Duration::MAX, ..request() },
            ConnectTokenRequest { timeout: Duration::ZERO, ..request() },
            ConnectTokenRequest { data: vec![0; ConnectTokenRequest::MAX_DATA + 1], ..request() },
        ];
        for request in wrong {
            assert!(matches!(request.issue(&key), Err(TokenError::Request(_))), "{request:?}");
        }
    }
}
