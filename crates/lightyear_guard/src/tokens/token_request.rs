//! Issuing connect tokens, for a matchmaker.

use core::{net::SocketAddr, time::Duration};

use lightyear::netcode::{ConnectToken, TokenUserData};

use super::{ServerKey, TokenError, netcode_packets::USER_DATA};
use crate::clock::{self, SystemTime, UNIX_EPOCH};

/// Magic bytes in the user data of the suite's tokens, with their version.
const MAGIC: [u8; 4] = *b"ULG2";
/// Bytes of the user data before the ids and the data: magic bytes, time of issue, three lengths.
const HEADER: usize = 4 + 8 + 3;
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
    /// Name of the server within its fleet, the same as
    /// [`ServerAccess::server_id`](crate::ServerAccess::server_id): 1 to 63 bytes. Default `None`: for servers without
    /// one.
    pub server_id: Option<String>,
    /// Name of the match, the same as [`ServerAccess::match_id`](crate::ServerAccess::match_id): 1 to 63 bytes.
    /// Default `None`: for servers without one.
    pub match_id: Option<String>,
    /// Id of the game, the same as [`ServerAccess::protocol_id`](crate::ServerAccess::protocol_id).
    pub protocol_id: u64,
    /// Time during which the client may use the token to join; established connections are not affected.
    /// Default 30 s, 1 s to an hour. Raising it gives a thief as much more time.
    pub lifetime: Duration,
    /// Time without a packet after which either side considers the other gone. Default 3 s, 1 s to an hour.
    /// Raising it tolerates longer outages, and leaves the pawn of a vanished player standing for longer.
    pub timeout: Duration,
    /// Application data for the server, at most 241 bytes less those of both ids, read with [`token_data`]. The
    /// client can neither read nor change it. Default empty.
    pub data: Vec<u8>,
}

impl ConnectTokenRequest {
    /// Maximum length of [`data`](Self::data) and both ids together, in bytes.
    pub const MAX_DATA: usize = USER_DATA - HEADER;
    /// Maximum length of an id, in bytes, as for names in Kubernetes.
    pub const MAX_ID: usize = 63;
    /// Default of [`timeout`](Self::timeout).
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3);

    /// Creates a request with the defaults.
    #[must_use]
    pub fn new(client_id: u64, server: SocketAddr, protocol_id: u64) -> Self {
        Self {
            client_id,
            server,
            server_id: None,
            match_id: None,
            protocol_id,
            lifetime: Duration::from_secs(30),
            timeout: Self::DEFAULT_TIMEOUT,
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
        let ids = [&self.server_id, &self.match_id].map(Option::as_deref);
        if ids.iter().flatten().any(|id| id.is_empty() || id.len() > Self::MAX_ID) {
            return Err(wrong("the ids of a server and a match must have 1 to 63 bytes"));
        }
        let user_data = user_data(ids.map(Option::unwrap_or_default), &self.data, now)
            .ok_or(wrong("the data of a token and its ids may have 241 bytes together at most"))?;
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

/// Encodes the user data: magic bytes, time of issue, lengths of what follows, ids of server and match, data.
fn user_data([server, of_match]: [&str; 2], data: &[u8], now: SystemTime) -> Option<[u8; USER_DATA]> {
    let mut bytes = [0; USER_DATA];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4..12].copy_from_slice(&milliseconds(now).to_be_bytes());
    let mut at = HEADER;
    for (number, part) in [server.as_bytes(), of_match.as_bytes(), data].into_iter().enumerate() {
        bytes[12 + number] = u8::try_from(part.len()).ok()?;
        bytes.get_mut(at..at + part.len())?.copy_from_slice(part);
        at += part.len();
    }
    Some(bytes)
}

/// Decoded user data of a token that the suite has issued.
pub(super) struct TokenData<'a> {
    /// Time of issue, in milliseconds since 1970.
    pub issued: u64,
    /// Id of the server; empty for none.
    pub server_id: &'a [u8],
    /// Id of the match; empty for none.
    pub match_id: &'a [u8],
    data: &'a [u8],
}

impl<'a> TokenData<'a> {
    pub fn read(bytes: &'a [u8; USER_DATA]) -> Option<Self> {
        let issued = u64::from_be_bytes(*bytes.strip_prefix(&MAGIC)?.first_chunk()?);
        let mut rest = &bytes[HEADER..];
        let mut part = |length: u8| {
            let (part, after) = rest.split_at_checked(length.into())?;
            rest = after;
            Some(part)
        };
        let (server_id, match_id, data) = (part(bytes[12])?, part(bytes[13])?, part(bytes[14])?);
        Some(Self { issued, server_id, match_id, data })
    }
}

/// Returns the matchmaker's data about a client: [`ConnectTokenRequest::data`]. `TokenUserData` is on the
/// server's end of a link as soon as it is connected. Empty for tokens that were not issued by
/// [`ConnectTokenRequest`].
#[must_use]
pub fn token_data(token: &TokenUserData) -> &[u8] {
    TokenData::read(&token.0).map(|token| token.data).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ConnectTokenRequest {
        ConnectTokenRequest::new(7, SocketAddr::from(([127, 0, 0, 1], 1)), 3)
    }

    #[test]
    fn token_data_survives_a_round_trip() {
        let id = "x".repeat(ConnectTokenRequest::MAX_ID);
        let least = [255; ConnectTokenRequest::MAX_DATA - 2 * ConnectTokenRequest::MAX_ID];
        for (ids, data) in [
            (["", ""], &b""[..]),
            (["", ""], &b"team blue"[..]),
            (["", ""], &[255; ConnectTokenRequest::MAX_DATA][..]),
            (["eu-1", "match 9"], &b"team blue"[..]),
            ([id.as_str(), id.as_str()], &least[..]),
        ] {
            let now = clock::wall();
            let bytes = user_data(ids, data, now).expect("it fits");
            let read = TokenData::read(&bytes).expect("ours");
            assert_eq!(
                (read.issued, [read.server_id, read.match_id]),
                (milliseconds(now), ids.map(str::as_bytes))
            );
            assert_eq!(token_data(&TokenUserData(bytes)), data);
        }
        assert_eq!(token_data(&TokenUserData([0; USER_DATA])), b"");
        for length in 12..HEADER {
            let mut long = user_data(["a", "b"], b"x", clock::wall()).expect("it fits");
            long[length] = 255;
            assert_eq!(token_data(&TokenUserData(long)), b"", "a length beyond the end");
        }
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
            ConnectTokenRequest { server_id: Some(String::new()), ..request() },
            ConnectTokenRequest { match_id: Some("x".repeat(ConnectTokenRequest::MAX_ID + 1)), ..request() },
            ConnectTokenRequest {
                server_id: Some("x".to_owned()),
                data: vec![0; ConnectTokenRequest::MAX_DATA],
                ..request()
            },
        ];
        for request in wrong {
            assert!(matches!(request.issue(&key), Err(TokenError::Request(_))), "{request:?}");
        }
    }
}
