//! Joining with a connect token, for a client.

use core::{
    fmt,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use bevy::prelude::*;
use derive_more::Display;
use lightyear::{
    connection::client::{Connected, Disconnected},
    link::Link,
    netcode::{CONNECT_TOKEN_BYTES, ConnectToken, NetcodeClient},
    prelude::{Authentication, client::NetcodeConfig},
};

use super::{
    ConnectTokenRequest, JoinRefusal, ServerKey,
    netcode_packets::{self, DENIED, PacketKey},
};
use crate::{
    clock::{self, SystemTime, UNIX_EPOCH},
    ingress::retain_received,
};

/// Tolerated error of a player's clock. A token that looks expired for longer is stale; whether a younger one
/// is still valid is the server's decision.
const CLOCK_ERROR: Duration = Duration::from_secs(3_600);

/// Error of issuing or using a token. `Display` says in one line what to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Display)]
pub enum TokenError {
    /// Not 2048 bytes; contains the actual length.
    #[display("a connect token has 2048 bytes, not {_0}; request it again")]
    Length(usize),
    /// Not a connect token.
    #[display("the connect token is malformed; request it again")]
    Malformed,
    /// Expired more than an hour ago, by this machine's clock.
    #[display("the connect token has expired; request a new one")]
    Expired,
    /// The request is invalid; contains the reason.
    #[display("{_0}")]
    Request(&'static str),
}

impl core::error::Error for TokenError {}

/// netcode client for one connect token. Spawn it with lightyear's `Client` and the transport's components,
/// and trigger `Connect`.
///
/// ```
/// use bevy::prelude::*;
/// use lightyear::prelude::{Client, Connect, LocalAddr, UdpIo};
/// use lightyear_guard::{TokenClient, TokenError};
///
/// /// Joins the server that a token names, with the bytes that the matchmaker has sent.
/// fn join(world: &mut World, token: &[u8]) -> Result<(), TokenError> {
///     let client = TokenClient::new(token)?;
///     let local = LocalAddr(client.local_address());
///     world.spawn((Client, client, UdpIo::default(), local)).trigger(|entity| Connect { entity });
///     Ok(())
/// }
/// ```
///
/// In the book: *Tokens, keys and matchmaking*, `book/src/operations/access.md`.
#[doc(alias = "NetcodeClient")]
#[doc(alias = "Authentication")]
#[derive(Bundle)]
pub struct TokenClient {
    netcode: NetcodeClient,
    ticket: DenialState,
}

/// On a client's link: the key for the server's denials, and the content of the last one.
#[derive(Component)]
pub(super) struct DenialState {
    key: PacketKey,
    refusal: Option<JoinRefused>,
}

/// On a client: the server has refused the connection. Written once, when netcode gives up. `Display` is a sentence for
/// the player.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct JoinRefused {
    /// Reason.
    pub reason: JoinRefusal,
    /// Number of clients that the server takes, if it is full and says so.
    pub places: Option<u16>,
}

impl fmt::Display for JoinRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.places {
            Some(places) if self.reason == JoinRefusal::Full => {
                write!(f, "the server is full ({places} of {places}); try again later")
            }
            _ => write!(f, "{}", self.reason),
        }
    }
}

impl TokenClient {
    /// Reads a token made by [`ConnectTokenRequest::issue`].
    ///
    /// # Errors
    /// A [`TokenError`] if the token is malformed or long expired.
    pub fn new(token: &[u8]) -> Result<Self, TokenError> {
        Self::at(token, clock::wall())
    }

    fn at(token: &[u8], now: SystemTime) -> Result<Self, TokenError> {
        if token.len() != CONNECT_TOKEN_BYTES {
            return Err(TokenError::Length(token.len()));
        }
        let key = netcode_packets::key_to_client(token).ok_or(TokenError::Malformed)?;
        let token = ConnectToken::try_from_bytes(token).map_err(|_| TokenError::Malformed)?;
        let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if token.expire_timestamp().saturating_add(CLOCK_ERROR.as_secs()) < now {
            return Err(TokenError::Expired);
        }
        let netcode = NetcodeClient::new(Authentication::Token(token), NetcodeConfig::default())
            .map_err(|_| TokenError::Malformed)?;
        Ok(Self { netcode, ticket: DenialState { key, refusal: None } })
    }

    /// Joins a server in [development mode](ServerKey::development) under any client id.
    ///
    /// # Errors
    /// [`TokenError::Request`] if no token can be issued on this machine.
    pub fn development(client_id: u64, server: SocketAddr, protocol_id: u64) -> Result<Self, TokenError> {
        let request = ConnectTokenRequest::new(client_id, server, protocol_id);
        Self::new(&request.issue(&ServerKey::development())?)
    }

    /// Returns the address of the server; the first one if a token of another issuer has several.
    #[must_use]
    pub fn server(&self) -> SocketAddr {
        self.netcode.inner.server_addr()
    }

    /// Returns the local address to connect from, for lightyear's `LocalAddr`: any, of the server's address family.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        match self.server() {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        }
    }
}

/// Records the reason of a denial. Runs before netcode, which only logs and drops denials.
pub(super) fn receive_denial(mut links: Query<(&mut Link, &mut DenialState), Without<Connected>>) {
    for (mut link, mut ticket) in &mut links {
        retain_received(&mut link, |datagram| {
            let mut room = PacketKey::room();
            if let Some(body) = ticket.key.open(DENIED, datagram, &mut room) {
                let places = JoinRefusal::places_of_denial(body);
                ticket.refusal = Some(JoinRefused { reason: JoinRefusal::of_denial(body), places });
            }
            true
        });
    }
}

/// Clears the reason: a client that is connected was not refused after all.
pub(super) fn clear_refusal(connected: On<Add, Connected>, mut tickets: Query<&mut DenialState>) {
    if let Ok(mut ticket) = tickets.get_mut(connected.entity) {
        ticket.refusal = None;
    }
}

pub(super) fn report_refusal(
    ended: On<Insert, Disconnected>,
    mut tickets: Query<&mut DenialState>,
    mut refused: MessageWriter<JoinRefused>,
) {
    if let Ok(mut ticket) = tickets.get_mut(ended.entity)
        && let Some(refusal) = ticket.refusal.take()
    {
        warn!("cannot join: {refusal}");
        refused.write(refusal);
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngCore, SeedableRng, rngs::SmallRng};

    use super::*;

    fn token() -> Vec<u8> {
        let request = ConnectTokenRequest::new(1, SocketAddr::from(([127, 0, 0, 1], 7)), 9);
        request.issue(&ServerKey::development()).expect("a token")
    }

    fn error(token: &[u8]) -> Option<TokenError> {
        TokenClient::new(token).err()
    }

    #[test]
    fn valid_token_is_read_and_invalid_ones_return_their_error() {
        let good = token();
        assert_eq!(TokenClient::new(&good).map(|client| client.server().port()).ok(), Some(7));
        assert_eq!(error(&[]), Some(TokenError::Length(0)));
        assert_eq!(error(&good[..2_047]), Some(TokenError::Length(2_047)));
        assert_eq!(error(&[0; 2_048]), Some(TokenError::Malformed));
        let mut version = good.clone();
        version[8] ^= 1;
        assert_eq!(error(&version), Some(TokenError::Malformed));
        let later = |seconds| clock::wall() + Duration::from_secs(seconds);
        assert_eq!(TokenClient::at(&good, later(3_700)).err(), Some(TokenError::Expired));
        assert_eq!(TokenClient::at(&good, later(3_600)).err(), None, "the player's clock may be wrong");
    }

    #[test]
    fn client_connects_from_an_address_of_the_servers_family() {
        for (server, local) in [("203.0.113.7:5000", "0.0.0.0:0"), ("[2001:db8::1]:5000", "[::]:0")] {
            let client =
                TokenClient::development(1, server.parse().expect("an address"), 9).expect("a token");
            assert_eq!(client.local_address().to_string(), local);
        }
    }

    #[test]
    fn full_server_is_told_with_its_places_if_they_are_known() {
        let text = |reason, places| JoinRefused { reason, places }.to_string();
        assert_eq!(text(JoinRefusal::Full, Some(8)), "the server is full (8 of 8); try again later");
        assert_eq!(text(JoinRefusal::Full, None), JoinRefusal::Full.to_string());
        assert_eq!(text(JoinRefusal::Used, Some(8)), JoinRefusal::Used.to_string());
    }

    #[test]
    fn corrupted_tokens_never_panic() {
        let mut rng = SmallRng::seed_from_u64(5);
        let good = token();
        for _ in 0..2_000 {
            let mut junk = good.clone();
            match rng.random_range(0..3) {
                0 => rng.fill_bytes(&mut junk),
                1 => rng.fill_bytes(&mut junk[13..]),
                _ => {
                    for _ in 0..3 {
                        let at = rng.random_range(0..junk.len());
                        junk[at] = rng.random();
                    }
                }
            }
            // A panic fails the test.
            let _ = error(&junk);
            let _ = error(&junk[..rng.random_range(0..junk.len())]);
        }
    }
}
