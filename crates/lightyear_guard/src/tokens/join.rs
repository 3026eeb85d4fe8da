//! Joining with a token: what a client does.

use core::{fmt, net::SocketAddr, time::Duration};
use std::time::{SystemTime, UNIX_EPOCH};

use bevy::prelude::*;
use lightyear::{
    connection::client::{Connected, Disconnected},
    link::Link,
    netcode::{ConnectToken, NetcodeClient},
    prelude::{Authentication, client::NetcodeConfig},
};

use super::{
    ConnectTokenRequest, JoinRefusal, ServerKey,
    sealed::{self, DENIED, PacketKey},
};

/// How wrong a player's clock may be: a token that looks older than this was left over from another day. Whether a
/// younger one is still good the server says.
const CLOCK_ERROR: Duration = Duration::from_secs(3_600);

/// Why there is no token, or nothing to join with. `Display` says in one line what to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenError {
    /// A token has 2048 bytes; these are so many.
    Length(usize),
    /// The bytes are no connect token.
    Malformed,
    /// The token's time was over more than an hour ago, by this machine's clock.
    Expired,
    /// No token can be made of this request, and why.
    Request(&'static str),
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(length) => {
                write!(f, "a connect token has 2048 bytes and not {length}; ask for it again")
            }
            Self::Malformed => f.write_str("this is no connect token, or a damaged one; ask for it again"),
            Self::Expired => f.write_str("the connect token's time is over; ask for a new one"),
            Self::Request(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for TokenError {}

/// netcode's client for one token. Spawn it with lightyear's `Client` and the transport's components, and trigger
/// `Connect`.
#[derive(Bundle)]
pub struct TokenClient {
    netcode: NetcodeClient,
    ticket: Ticket,
}

/// What a client knows of the server that it joins.
#[derive(Component)]
pub(super) struct Ticket {
    key: PacketKey,
    refusal: Option<JoinRefusal>,
}

/// On a client: the server does not let us in. Written once, when netcode has given up.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct JoinRefused(pub JoinRefusal);

impl TokenClient {
    /// Reads a token as [`ConnectTokenRequest::issue`] made it.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn new(token: &[u8]) -> Result<Self, TokenError> {
        Self::at(token, SystemTime::now())
    }

    fn at(token: &[u8], now: SystemTime) -> Result<Self, TokenError> {
        if token.len() != 2_048 {
            return Err(TokenError::Length(token.len()));
        }
        let key = sealed::key_to_client(token).ok_or(TokenError::Malformed)?;
        let token = ConnectToken::try_from_bytes(token).map_err(|_| TokenError::Malformed)?;
        let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if token.expire_timestamp().saturating_add(CLOCK_ERROR.as_secs()) < now {
            return Err(TokenError::Expired);
        }
        let netcode = NetcodeClient::new(Authentication::Token(token), NetcodeConfig::default())
            .map_err(|_| TokenError::Malformed)?;
        Ok(Self { netcode, ticket: Ticket { key, refusal: None } })
    }

    /// Joins a server in [development mode](ServerKey::development) as anybody.
    ///
    /// # Errors
    /// [`TokenError::Request`] when this machine can make no token.
    pub fn development(client_id: u64, server: SocketAddr, protocol_id: u64) -> Result<Self, TokenError> {
        let request = ConnectTokenRequest::new(client_id, server, protocol_id);
        Self::new(&request.issue(&ServerKey::development())?)
    }

    /// The address of the server; of a token by another hand with several, the first.
    #[must_use]
    pub fn server(&self) -> SocketAddr {
        self.netcode.inner.server_addr()
    }
}

/// Before netcode reads: it drops a client's denials with nothing but a line in the log.
pub(super) fn hear_denial(mut links: Query<(&mut Link, &mut Ticket), Without<Connected>>) {
    for (mut link, mut ticket) in &mut links {
        for _ in 0..link.recv.len() {
            let Some(datagram) = link.recv.pop() else { break };
            let mut room = PacketKey::room();
            if let Some(body) = ticket.key.open(DENIED, &datagram, &mut room) {
                ticket.refusal = Some(JoinRefusal::of_denial(body));
            }
            link.recv.push_raw(datagram);
        }
    }
}

/// Whoever is in was not refused in the end.
pub(super) fn forget_refusal(connected: On<Add, Connected>, mut tickets: Query<&mut Ticket>) {
    if let Ok(mut ticket) = tickets.get_mut(connected.entity) {
        ticket.refusal = None;
    }
}

pub(super) fn tell_refusal(
    ended: On<Insert, Disconnected>,
    mut tickets: Query<&mut Ticket>,
    mut refused: MessageWriter<JoinRefused>,
) {
    if let Ok(mut ticket) = tickets.get_mut(ended.entity)
        && let Some(refusal) = ticket.refusal.take()
    {
        warn!("cannot join: {refusal}");
        refused.write(JoinRefused(refusal));
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
    fn a_good_token_is_read_and_others_are_explained() {
        let good = token();
        assert_eq!(TokenClient::new(&good).map(|client| client.server().port()).ok(), Some(7));
        assert_eq!(error(&[]), Some(TokenError::Length(0)));
        assert_eq!(error(&good[..2_047]), Some(TokenError::Length(2_047)));
        assert_eq!(error(&[0; 2_048]), Some(TokenError::Malformed));
        let mut version = good.clone();
        version[8] ^= 1;
        assert_eq!(error(&version), Some(TokenError::Malformed));
        let later = |seconds| SystemTime::now() + Duration::from_secs(seconds);
        assert_eq!(TokenClient::at(&good, later(3_700)).err(), Some(TokenError::Expired));
        assert_eq!(TokenClient::at(&good, later(3_600)).err(), None, "that clock may be wrong");
    }

    #[test]
    fn no_bytes_panic() {
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
            let _ = error(&junk);
            let _ = error(&junk[..rng.random_range(0..junk.len())]);
        }
    }
}
