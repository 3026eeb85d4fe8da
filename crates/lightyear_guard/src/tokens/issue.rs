//! Making tokens: what a matchmaker does.

use core::{net::SocketAddr, time::Duration};
use std::time::{SystemTime, UNIX_EPOCH};

use lightyear::netcode::{ConnectToken, TokenUserData};

use super::{ServerKey, TokenError, sealed::USER_DATA};

/// Marks the user data of our tokens, and their version.
const MARK: [u8; 4] = *b"ULG1";
/// The longest life that a server accepts.
pub(super) const LONGEST: Duration = Duration::from_secs(3_600);

/// What a token of ours says to the server beside netcode's own fields.
pub(super) struct Stamp {
    /// When it was made, in milliseconds since 1970.
    pub issued: u64,
}

/// Whom a matchmaker lets onto which server. [`issue`](Self::issue) makes the token; it needs no app.
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectTokenRequest {
    /// Who it is: the account's number. Nobody joins as somebody else, and one client has one connection.
    pub client_id: u64,
    /// The public address of the server, which the client dials.
    pub server: SocketAddr,
    /// Names the game, and its version if versions shall not meet; the server's.
    pub protocol_id: u64,
    /// For how long the client may use it to join; what it joined stays. Default 30 s, at most an hour. Raising it
    /// gives a thief as much longer.
    pub lifetime: Duration,
    /// How long either side waits without a packet until it takes the other for gone. Default 3 s. Raising it lets
    /// a player sit out longer outages, and a vanished one stand around for longer.
    pub timeout: Duration,
    /// Anything for the server's game, at most 243 bytes, read by [`token_data`]. The client can neither read nor
    /// change it. Default empty.
    pub data: Vec<u8>,
}

impl ConnectTokenRequest {
    /// Bytes of [`data`](Self::data) that a token has room for.
    pub const MAX_DATA: usize = USER_DATA - 13;

    /// A request with the defaults.
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

    /// Makes the token: 2048 bytes for the client, over a way that nobody listens to: whoever has them can join.
    ///
    /// # Errors
    /// [`TokenError::Request`], with what is wrong with this request.
    pub fn issue(&self, key: &ServerKey) -> Result<Vec<u8>, TokenError> {
        self.issue_at(key, SystemTime::now())
    }

    pub(super) fn issue_at(&self, key: &ServerKey, now: SystemTime) -> Result<Vec<u8>, TokenError> {
        let wrong = TokenError::Request;
        if self.lifetime < Duration::from_secs(1) || self.lifetime > LONGEST {
            return Err(wrong("a token lives for 1 s to an hour"));
        }
        if self.timeout < Duration::from_secs(1) || self.timeout > LONGEST {
            return Err(wrong("a timeout is 1 s to an hour"));
        }
        let user_data = user_data(&self.data, now).ok_or(wrong("a token has room for 243 bytes of data"))?;
        let whole = |time: Duration| time.as_secs() as i32 + i32::from(time.subsec_nanos() > 0);
        // netcode counts whole seconds of the wall clock: the first of them has begun.
        let lifetime = whole(self.lifetime) + 1;
        let token = ConnectToken::build(self.server, self.protocol_id, self.client_id, key.bytes())
            .expire_seconds(lifetime)
            .timeout_seconds(whole(self.timeout))
            .user_data(user_data)
            .generate()
            .map_err(|_| wrong("the machine's clock is before 1970, or its random numbers fail"))?;
        token
            .try_into_bytes()
            .map(|bytes| bytes.to_vec())
            .map_err(|_| wrong("the token does not fit 2048 bytes"))
    }
}

/// Milliseconds since 1970; 0 before.
pub(super) fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// The mark, when it was made, how much data, the data.
fn user_data(data: &[u8], now: SystemTime) -> Option<[u8; USER_DATA]> {
    let mut bytes = [0; USER_DATA];
    bytes[..4].copy_from_slice(&MARK);
    bytes[4..12].copy_from_slice(&milliseconds(now).to_be_bytes());
    bytes[12] = u8::try_from(data.len()).ok()?;
    bytes[13..].get_mut(..data.len())?.copy_from_slice(data);
    Some(bytes)
}

/// What our tokens say, if it is one of ours.
pub(super) fn stamp(bytes: &[u8; USER_DATA]) -> Option<Stamp> {
    let issued = bytes.strip_prefix(&MARK)?.first_chunk()?;
    Some(Stamp { issued: u64::from_be_bytes(*issued) })
}

/// What the matchmaker said about a client: [`ConnectTokenRequest::data`]. `TokenUserData` is on the server's end of
/// its link from the moment it is connected. Empty for tokens that were not made by [`ConnectTokenRequest`].
#[must_use]
pub fn token_data(token: &TokenUserData) -> &[u8] {
    if stamp(&token.0).is_none() {
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
    fn data_arrives_as_it_was_given() {
        for data in [&b""[..], b"team blue", &[255; ConnectTokenRequest::MAX_DATA]] {
            let bytes = user_data(data, SystemTime::now()).expect("it fits");
            assert_eq!(token_data(&TokenUserData(bytes)), data);
        }
        assert_eq!(token_data(&TokenUserData([0; USER_DATA])), b"");
        let mut long = user_data(b"x", SystemTime::now()).expect("it fits");
        long[12] = 255;
        assert_eq!(token_data(&TokenUserData(long)), b"", "a length beyond the end");
    }

    #[test]
    fn a_request_that_makes_no_sense_is_explained() {
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
