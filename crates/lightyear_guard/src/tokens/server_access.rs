//! Server access control: key, protocol id and public addresses of a server.

use core::{net::SocketAddr, time::Duration};

use bevy::prelude::*;
use lightyear::{
    netcode::NetcodeServer,
    prelude::server::{NetcodeConfig, Started},
};

use super::{
    JoinRefusal, ServerKey, ServerKeys,
    netcode_packets::{ConnectionRequest, PrivateTokenData},
    replay_protection::SeenTokens,
    token_request::{MAX_LIFETIME, TokenData, milliseconds},
};
use crate::{
    clock::{self, Instant, SystemTime},
    log_lines::SERVER,
};

/// Access control of a server. Spawn [`server`](Self::server) with the transport's components and trigger
/// lightyear's `Start`:
///
/// ```
/// use bevy::prelude::*;
/// use lightyear_guard::{ServerAccess, ServerKey, ServerUdp};
/// use lightyear::prelude::{LocalAddr, server::Start};
///
/// fn listen(mut commands: Commands) -> Result {
///     let access = ServerAccess::new(ServerKey::from_env("GAME_KEY")?, 0xF00D);
///     let address = LocalAddr("0.0.0.0:5000".parse()?);
///     let entity = commands.spawn((access.server(), address, ServerUdp::default())).id();
///     commands.trigger(Start { entity });
///     Ok(())
/// }
/// ```
///
/// In the book: *Tokens, keys and matchmaking*, `book/src/operations/access.md`.
#[doc(alias = "NetcodeServer")]
#[derive(Clone, Debug)]
pub struct ServerAccess {
    /// The secrets shared with the matchmaker. [`RotateKeys`](crate::RotateKeys) replaces them while the server
    /// runs.
    pub keys: ServerKeys,
    /// Id of the game; include the version if clients of another version must not join.
    pub protocol_id: u64,
    /// Public addresses of this server: only tokens for one of them are accepted. Default empty: then a token
    /// is known by `server_id`; without that, its port must be the bound one, and its host too, unless the
    /// server listens on all of its addresses. Behind address translation (NAT) set one of the two.
    pub addresses: Vec<SocketAddr>,
    /// Name of this server within its fleet, at most 63 bytes: only tokens for it are accepted, even if another
    /// server has the same key or address. Default `None`: not compared.
    pub server_id: Option<String>,
    /// Name of the match that this server plays, at most 63 bytes: only tokens for it are accepted. Default `None`:
    /// not compared. [`AssignMatch`](crate::AssignMatch) changes it while the server runs.
    pub match_id: Option<String>,
    /// Maximum number of clients, netcode's own limit. Default 256.
    pub max_clients: usize,
}

impl ServerAccess {
    /// Creates an access configuration with the defaults.
    #[must_use]
    pub fn new(keys: impl Into<ServerKeys>, protocol_id: u64) -> Self {
        Self {
            keys: keys.into(),
            protocol_id,
            addresses: Vec::new(),
            server_id: None,
            match_id: None,
            max_clients: 256,
        }
    }

    /// Development mode, for examples and tests: anybody may join as anybody; see [`ServerKey::development`].
    #[must_use]
    pub fn development(protocol_id: u64) -> Self {
        Self::new(ServerKey::development(), protocol_id)
    }

    /// Returns netcode's server with the newest key. Tokens issued before this call are refused.
    #[must_use]
    pub fn server(&self) -> impl Bundle {
        let config = NetcodeConfig {
            // [`TokenValidator`] compares addresses: the one that a client dials is often not the bound one.
            server_addr_check: false,
            ..NetcodeConfig::default()
                .with_max_clients(self.max_clients)
                .with_protocol_id(self.protocol_id)
                .with_key(self.keys.newest().bytes())
        };
        let gate = TokenValidator {
            access: self.clone(),
            netcode_key: self.keys.newest().clone(),
            started: (clock::monotonic(), milliseconds(clock::wall())),
            seen_tokens: SeenTokens::default(),
            // netcode starts at 2^23 for denials and at 2^62 for sessions: no sequence number is used twice.
            sequence: 1 << 61,
            listeners: Vec::new(),
        };
        (NetcodeServer::new(config), gate)
    }
}

/// On a server entity that validates connect tokens.
#[derive(Component)]
pub(crate) struct TokenValidator {
    pub(super) access: ServerAccess,
    /// The key that netcode got at the start and keeps. Tokens of other keys are encrypted with it before netcode
    /// sees them.
    pub(super) netcode_key: ServerKey,
    /// Start of the server on the monotonic clock, and on the wall clock in milliseconds since 1970.
    pub(super) started: (Instant, u64),
    pub(super) seen_tokens: SeenTokens,
    pub(super) sequence: u64,
    /// Addresses of listeners beside the server's own.
    pub(super) listeners: Vec<SocketAddr>,
}

/// Current time on both clocks.
#[derive(Clone, Copy)]
pub(super) struct ClockReading {
    /// Wall clock, in milliseconds since 1970.
    pub wall: u64,
    /// Time since the server started, on the monotonic clock.
    pub uptime: Duration,
    /// Start of the server on the wall clock as it was set then.
    pub started: u64,
}

impl ClockReading {
    /// Milliseconds by which both clocks may differ without the wall clock having been set.
    const DRIFT: u64 = 1_000;

    /// Returns the server's start on the wall clock as it is set now: when the clock is set, the start moves
    /// with it.
    fn start(&self) -> u64 {
        let moved = self.wall.saturating_sub(self.uptime.as_millis() as u64);
        if moved.abs_diff(self.started) < Self::DRIFT { self.started } else { moved }
    }
}

impl TokenValidator {
    /// Sets the addresses at which the server listens beside its own: tokens for them are accepted, too.
    #[cfg(all(feature = "sessions", not(target_family = "wasm")))]
    pub(crate) fn set_listeners(&mut self, addresses: Vec<SocketAddr>) {
        self.listeners = addresses;
    }

    pub(super) fn now(&self, wall: SystemTime) -> ClockReading {
        ClockReading { wall: milliseconds(wall), uptime: self.started.0.elapsed(), started: self.started.1 }
    }
}

impl ServerAccess {
    /// Validates a token that was issued with `key`, except for its single use. `local` has the addresses at which the
    /// server listens, as far as they are known. Returns its remaining lifetime.
    ///
    /// # Errors
    /// The reason for refusing it.
    pub(super) fn validate(
        &self,
        key: &ServerKey,
        request: &ConnectionRequest<'_>,
        private: &PrivateTokenData,
        local: &[SocketAddr],
        now: ClockReading,
    ) -> Result<Duration, JoinRefusal> {
        if request.protocol != self.protocol_id {
            return Err(JoinRefusal::OtherGame);
        }
        // netcode compares whole seconds.
        let left = request.expires.saturating_sub(now.wall / 1_000);
        if left == 0 {
            return Err(JoinRefusal::Expired);
        }
        let left = Duration::from_secs(left);
        if key.is_development() {
            return Ok(left);
        }
        // A server with an id is compared by it below: behind address translation, as in a container, clients dial
        // another port than the bound one.
        let is_known_by_id = self.addresses.is_empty() && self.server_id.is_some();
        if !is_known_by_id && !private.servers.iter().flatten().any(|server| self.is_ours(*server, local)) {
            return Err(JoinRefusal::OtherServer);
        }
        let token = TokenData::read(&private.user_data).ok_or(JoinRefusal::Unreadable)?;
        let is_for = |own: Option<&str>, named: &[u8]| own.is_none_or(|own| own.as_bytes() == named);
        if !is_for(self.server_id.as_deref(), token.server_id) {
            return Err(JoinRefusal::OtherServer);
        }
        if !is_for(self.match_id.as_deref(), token.match_id) {
            return Err(JoinRefusal::OtherMatch);
        }
        // A longer-lived token would be forgotten before it expires. A clock that was set back adds to the
        // lifetime.
        if left > MAX_LIFETIME * 2 {
            return Err(JoinRefusal::Unreadable);
        }
        if token.issued < now.start() { Err(JoinRefusal::BeforeStart) } else { Ok(left) }
    }

    fn is_ours(&self, server: SocketAddr, local: &[SocketAddr]) -> bool {
        if !self.addresses.is_empty() {
            return self.addresses.contains(&server);
        }
        local.is_empty()
            || local.iter().any(|local| {
                local.port() == server.port() && (local.ip().is_unspecified() || local.ip() == server.ip())
            })
    }
}

/// Logs a warning at each start in development mode.
pub(super) fn warn_development_mode(started: On<Insert, Started>, gates: Query<&TokenValidator>) {
    if gates.get(started.entity).is_ok_and(|gate| gate.access.keys.is_development()) {
        log_development_mode();
    }
}

/// Logs the warning of development mode.
pub(super) fn log_development_mode() {
    warn!(
        target: SERVER,
        "bevy_unlag: development mode: anybody can join as anybody. For a server on the internet, use \
         a secret ServerKey"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{
        ConnectTokenRequest,
        netcode_packets::{request, tests::request_of},
    };

    const GAME: u64 = 3;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([203, 0, 113, 7], port))
    }

    /// Validates a token on a server that has been up for `uptime` milliseconds, with the wall clock `ahead`
    /// by some milliseconds.
    fn validate(access: &ServerAccess, token: &[u8], ahead: i64, uptime: u64) -> Result<(), JoinRefusal> {
        let datagram = request_of(token);
        let request = request(&datagram).expect("a request");
        let key = access.keys.iter().find(|key| request.open(&key.bytes()).is_some()).expect("our key");
        let private = request.open(&key.bytes()).expect("its key");
        let wall = milliseconds(clock::wall()).saturating_add_signed(ahead);
        let now = ClockReading { wall, uptime: Duration::from_millis(uptime), started: wall - uptime };
        let local = [SocketAddr::from(([0, 0, 0, 0], 5_000))];
        access.validate(key, &request, &private, &local, now).map(drop)
    }

    fn token(access: &ServerAccess, change: impl FnOnce(&mut ConnectTokenRequest)) -> Vec<u8> {
        let mut request = ConnectTokenRequest::new(1, address(5_000), GAME);
        change(&mut request);
        request.issue(access.keys.newest()).expect("a token")
    }

    #[test]
    fn token_is_valid_for_one_game_and_server_until_it_expires() {
        let access = ServerAccess::new(ServerKey::random().expect("random bytes"), GAME);
        let good = token(&access, |_| ());
        assert_eq!(validate(&access, &good, 0, 600_000), Ok(()));
        assert_eq!(validate(&access, &good, 29_990, 600_000), Ok(()));
        assert_eq!(validate(&access, &good, 31_000, 600_000), Err(JoinRefusal::Expired));
        let other = token(&access, |request| request.protocol_id += 1);
        assert_eq!(validate(&access, &other, 0, 600_000), Err(JoinRefusal::OtherGame));
        let other = token(&access, |request| request.server = address(5_001));
        assert_eq!(validate(&access, &other, 0, 600_000), Err(JoinRefusal::OtherServer));
        let known = ServerAccess { addresses: vec![address(5_001)], ..access.clone() };
        assert_eq!(validate(&known, &other, 0, 600_000), Ok(()), "a public address");
        assert_eq!(validate(&known, &good, 0, 600_000), Err(JoinRefusal::OtherServer));
        let by_hand =
            lightyear::netcode::ConnectToken::build(address(5_000), GAME, 1, access.keys.newest().bytes())
                .generate()
                .and_then(|token| Ok(token.try_into_bytes()?))
                .expect("a token");
        assert_eq!(validate(&access, &by_hand, 0, 600_000), Err(JoinRefusal::Unreadable));
    }

    #[test]
    fn token_for_another_server_or_match_is_refused_by_servers_that_have_an_id() {
        let key = ServerKey::random().expect("random bytes");
        let access = |server: Option<&str>, of_match: Option<&str>| ServerAccess {
            server_id: server.map(str::to_owned),
            match_id: of_match.map(str::to_owned),
            ..ServerAccess::new(key.clone(), GAME)
        };
        let (named, unnamed) = (access(Some("eu-1"), Some("match-9")), access(None, None));
        let verdict = |access: &ServerAccess, server: Option<&str>, of_match: Option<&str>| {
            let token = token(access, |request| {
                request.server_id = server.map(str::to_owned);
                request.match_id = of_match.map(str::to_owned);
            });
            validate(access, &token, 0, 600_000)
        };
        assert_eq!(verdict(&named, Some("eu-1"), Some("match-9")), Ok(()));
        for other in [None, Some("eu-2"), Some("eu-"), Some("eu-12"), Some("match-9")] {
            assert_eq!(verdict(&named, other, Some("match-9")), Err(JoinRefusal::OtherServer), "{other:?}");
        }
        for other in [None, Some("match-8"), Some("eu-1")] {
            assert_eq!(verdict(&named, Some("eu-1"), other), Err(JoinRefusal::OtherMatch), "{other:?}");
        }
        assert_eq!(
            verdict(&access(Some("eu-1"), None), Some("eu-1"), Some("match-8")),
            Ok(()),
            "not assigned yet"
        );
        assert_eq!(verdict(&unnamed, Some("eu-2"), Some("match-8")), Ok(()));
        assert_eq!(verdict(&unnamed, None, None), Ok(()));

        // Behind address translation: the token's port is not the bound one.
        let translated = |server: &str| {
            let token = token(&named, |request| {
                request.server.set_port(7_216);
                request.server_id = Some(server.to_owned());
                request.match_id = Some("match-9".to_owned());
            });
            validate(&named, &token, 0, 600_000)
        };
        assert_eq!(translated("eu-1"), Ok(()));
        assert_eq!(translated("eu-2"), Err(JoinRefusal::OtherServer));
    }

    #[test]
    fn tokens_issued_before_the_start_are_refused_even_if_the_clock_was_set() {
        let access = ServerAccess::new(ServerKey::random().expect("random bytes"), GAME);
        let old = token(&access, |request| request.lifetime = Duration::from_secs(3_600));
        assert_eq!(validate(&access, &old, 5_000, 4_000), Err(JoinRefusal::BeforeStart));
        assert_eq!(validate(&access, &old, 5_000, 6_000), Ok(()));
        // Two clocks of one machine that drift apart a little.
        let now = ClockReading { wall: 100_000, uptime: Duration::from_millis(9_950), started: 90_000 };
        assert_eq!(now.start(), 90_000);
        // The wall clock of server and matchmaker was set by an hour after the server's start: a token issued
        // now is valid. netcode takes the expiry from the unset clock, so it is overwritten here.
        let hour = Duration::from_secs(3_600);
        for wall in [clock::wall() + hour, clock::wall() - hour] {
            let fresh =
                ConnectTokenRequest::new(1, address(5_000), GAME).issue_at(access.keys.newest(), wall);
            let datagram = request_of(&fresh.expect("a token"));
            let request = request(&datagram).expect("a request");
            let private = request.open(&access.keys.newest().bytes()).expect("our key");
            let issued = TokenData::read(&private.user_data).expect("ours").issued;
            let started = milliseconds(clock::wall()) - 60_000;
            let now = ClockReading { wall: issued + 10, uptime: Duration::from_secs(60), started };
            let set = ConnectionRequest { expires: now.wall / 1_000 + 30, ..request };
            assert_eq!(
                access.validate(access.keys.newest(), &set, &private, &[], now),
                Ok(Duration::from_secs(30))
            );
        }
    }

    #[test]
    fn development_mode_accepts_every_unexpired_token() {
        let access = ServerAccess::development(GAME);
        let by_hand =
            lightyear::netcode::ConnectToken::build(address(1), GAME, 1, access.keys.newest().bytes())
                .generate()
                .and_then(|token| Ok(token.try_into_bytes()?))
                .expect("a token");
        assert_eq!(validate(&access, &by_hand, 0, 0), Ok(()));
        assert_eq!(validate(&access, &by_hand, 31_000, 0), Err(JoinRefusal::Expired));
    }
}
