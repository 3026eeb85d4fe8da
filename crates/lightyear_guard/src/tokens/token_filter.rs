//! Token filter: validates connect tokens before netcode reads them.

use core::{net::IpAddr, time::Duration};

use bevy::prelude::*;
use lightyear::{
    connection::{client_of::SkipNetcode, host::HostClient},
    link::Link,
    netcode::NetcodeServer,
    prelude::{Connected, LinkOf, LocalAddr, PeerAddr, PeerId, RemoteId},
};

use super::{
    BanList, JoinRefusal, WallClock,
    netcode_packets::{self, ConnectionRequest, DENIED, PRIVATE, PrivateTokenData},
    places::{LinkToken, Newcomer, Places},
    refused_joins::{LoggedRefusal, log_refused_join},
    server_access::{ClockReading, TokenValidator},
    session_close::{CloseSession, SessionKeys},
    token_request::milliseconds,
};
use crate::{
    clock::SystemTime,
    ingress::{Kick, KickReason, LinkTraffic, host, retain_received},
    log_lines::{self, LogConfig},
};

/// Seconds after its expiry during which a token still gets a denial with the reason.
const DENIAL_SECONDS: u64 = 300;

/// Silence after which a client is assumed to have lost its connection. A living one sends at least ten times a second.
const LOST_AFTER: Duration = Duration::from_millis(500);

/// Counters of the connection requests to this app's servers. A client repeats its request ten times a second
/// until it is connected.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct TokenStats {
    /// Requests that were passed on to netcode.
    pub passed: u64,
    /// Requests whose token was not issued with the server's key: junk, or another server's token. Those that
    /// a [`ServerUdp`](crate::ServerUdp) drops are counted as
    /// [`IngressRefusal::ForeignToken`](crate::IngressRefusal::ForeignToken) instead.
    pub foreign: u64,
    /// Requests to servers that were built without [`ServerAccess`](crate::ServerAccess) and whose key is all
    /// zeros. No client can join such a server; the first such request is logged.
    pub zero_key: u64,
    refused: [u64; JoinRefusal::ALL.len()],
}

impl TokenStats {
    /// Returns how many requests were refused for this reason.
    #[must_use]
    pub fn refused(&self, refusal: JoinRefusal) -> u64 {
        self.refused[refusal as usize]
    }

    pub(crate) fn count(&mut self, refusal: JoinRefusal) {
        self.refused[refusal as usize] += 1;
    }
}

/// A denial packet that is sent at the end of this frame.
#[derive(Component)]
pub(super) struct Denial(Vec<u8>);

/// Outcome of a connection request.
#[expect(clippy::large_enum_variant, reason = "one at a time, on the stack")]
enum TokenDecision {
    /// With the private part for netcode, if netcode does not have the token's key.
    Pass(PrivateTokenData, Option<[u8; PRIVATE]>),
    Drop,
    Deny {
        packet: Vec<u8>,
        refusal: JoinRefusal,
        client: u64,
    },
}

type Served = (With<LinkOf>, Without<HostClient>, Without<SkipNetcode>);

pub(super) fn check(
    (clock, log, bans): (Res<WallClock>, Res<LogConfig>, Res<BanList>),
    mut servers: Query<(Option<&mut TokenValidator>, Option<&LocalAddr>), With<NetcodeServer>>,
    mut links: Query<
        (
            Entity,
            &mut Link,
            &LinkOf,
            Option<&LinkToken>,
            Has<Connected>,
            (Option<&PeerAddr>, Has<LoggedRefusal>),
        ),
        Served,
    >,
    joining: Query<(Entity, &LinkOf, &LinkToken), Without<Connected>>,
    there: Query<(), With<LinkOf>>,
    clients: Query<(Entity, &LinkOf, &RemoteId, Option<&LinkTraffic>, Has<CloseSession>), With<Connected>>,
    places: Places,
    mut is_number_shared: Local<bool>,
    mut stats: ResMut<TokenStats>,
    mut commands: Commands,
) {
    // Server and client, and server and host, of the joins that began in this frame.
    let mut fresh: Vec<(Entity, PeerId)> = Vec::new();
    let mut fresh_hosts: Vec<(Entity, IpAddr)> = Vec::new();
    for (entity, mut link, of, token, is_connected, (address, mut is_logged)) in &mut links {
        let mut shows = token.map(|token| token.name);
        retain_received(&mut link, |datagram| {
            let Some(request) = netcode_packets::request(datagram) else {
                // Nearly every datagram.
                return true;
            };
            let Ok((mut gate, local)) = servers.get_mut(of.server) else { return true };
            let name = request.name();
            if is_connected && shows == Some(name) {
                // A repetition that was sent before the client knew that it is connected.
                return false;
            }
            if !is_connected && shows.is_some_and(|shown| shown != name) {
                // netcode would replace the first client by the second and confuse their ids.
                return false;
            }
            let Some(gate) = gate.as_deref_mut() else {
                // Built without `ServerAccess`. A zero key shows in that it opens the token.
                let has_zero_key = request.open(&[0; 32]).is_some();
                if has_zero_key {
                    stats.zero_key += 1;
                    warn_once!(
                        target: log_lines::SERVER,
                        "this server's key is all zeros, with which anybody could forge tokens, so every client \
                         is refused: build the server with ServerAccess and a ServerKey instead of \
                         NetcodeServer::new"
                    );
                }
                return !has_zero_key;
            };
            let now = gate.now((clock.0)());
            let local = local.map(|local| local.0);
            let is_banned = |client| bans.is_banned(client, address.map(|address| address.0.ip()));
            let verdict =
                gate.validate(&request, entity, local, now, is_banned, |e| there.contains(e), &mut stats);
            let verdict = match verdict {
                TokenDecision::Pass(private, resealed) if !is_connected && shows.is_none() => {
                    let (peer, server) = (PeerId::Netcode(private.client_id), of.server);
                    let address = address.map(|address| address.0);
                    let newcomer = Newcomer { link: entity, server, peer, address };
                    match places.refusal(&newcomer, gate.access.max_clients, &fresh_hosts) {
                        Some(refusal) => gate.deny(&request, &private, refusal, &mut stats),
                        None => TokenDecision::Pass(private, resealed),
                    }
                }
                verdict => verdict,
            };
            let (private, resealed) = match verdict {
                TokenDecision::Pass(private, resealed) => (private, resealed),
                TokenDecision::Drop => return false,
                TokenDecision::Deny { packet, refusal, client } => {
                    if !is_logged {
                        log_refused_join(PeerId::Netcode(client), log.address(address), refusal);
                        is_logged = true;
                    }
                    commands.entity(entity).try_insert((Denial(packet), LoggedRefusal));
                    return false;
                }
            };
            let peer = PeerId::Netcode(private.client_id);
            let old = clients.iter().find(|(_, l, id, ..)| l.server == of.server && id.0 == peer);
            if let Some((old, .., traffic, is_closing)) = old {
                // In development mode tokens may be reused, but delayed requests of a connection that has ended must
                // not end the next one. One that closes is gone when the client repeats its request.
                if gate.seen_tokens.is_used(&name) || is_closing {
                    return false;
                }
                let is_alive = traffic.is_some_and(|traffic| traffic.silence < LOST_AFTER);
                if is_alive && gate.access.keys.is_development() && !*is_number_shared {
                    *is_number_shared = true;
                    warn!(
                        "client {} joins while a connection of the same number is alive, and takes its place: give \
                         each client its own number, the first argument of TokenClient::development",
                        private.client_id
                    );
                }
                // The client has lost its end and joins again; netcode would keep it waiting until the old
                // connection times out.
                commands.trigger(Kick { entity: old, reason: KickReason::Replaced });
                false
            } else if !is_connected && !fresh.contains(&(of.server, peer)) {
                stats.passed += 1;
                if shows.is_none() {
                    // netcode has one slot per client id, so a client joins on one link: the newest.
                    let others = joining.iter().filter(|(_, l, o)| l.server == of.server && o.peer == peer);
                    others.for_each(|(other, ..)| commands.entity(other).try_despawn());
                    fresh.push((of.server, peer));
                    fresh_hosts.extend(address.map(|address| (of.server, host(address.0))));
                    shows = Some(name);
                    let shown = (LinkToken { name, peer }, SessionKeys::new(request.protocol, &private));
                    commands.entity(entity).try_insert(shown);
                }
                if let Some(resealed) = resealed {
                    netcode_packets::replace_private(datagram, &resealed);
                }
                true
            } else {
                false
            }
        });
    }
}

impl TokenValidator {
    /// Whether this is a connection request whose token was issued with our key and has not long expired. An
    /// old token that somebody found must not create links.
    pub(crate) fn may_open(&self, datagram: &[u8], wall: SystemTime) -> bool {
        let Some(request) = netcode_packets::request(datagram) else { return false };
        // Clients with an expired token get the reason, but not for ever.
        let late = request.expires.saturating_add(DENIAL_SECONDS) < milliseconds(wall) / 1_000;
        !late && self.access.keys.iter().any(|key| request.open(&key.bytes()).is_some())
    }

    fn validate(
        &mut self,
        request: &ConnectionRequest<'_>,
        link: Entity,
        local: Option<core::net::SocketAddr>,
        now: ClockReading,
        is_banned: impl Fn(u64) -> bool,
        is_there: impl Fn(Entity) -> bool,
        stats: &mut TokenStats,
    ) -> TokenDecision {
        let keys = &self.access.keys;
        let opened = keys.iter().find_map(|key| Some((key, request.open(&key.bytes())?)));
        let Some((key, private)) = opened else {
            stats.foreign += 1;
            return TokenDecision::Drop;
        };
        let addresses: Vec<_> = local.into_iter().chain(self.listeners.iter().copied()).collect();
        let good =
            self.access.validate(key, request, &private, &addresses, now).map_err(Some).and_then(|left| {
                if is_banned(private.client_id) {
                    return Err(Some(JoinRefusal::Banned));
                }
                let shown = self.seen_tokens.show(request.name(), link, left, now.uptime, is_there);
                if key.is_development() { Ok(()) } else { shown }
            });
        let netcode_key = &self.netcode_key;
        match good {
            Ok(()) if key == netcode_key => TokenDecision::Pass(private, None),
            Ok(()) => {
                let resealed = request.reseal(&key.bytes(), &netcode_key.bytes());
                TokenDecision::Pass(private, resealed)
            }
            Err(None) => TokenDecision::Drop,
            Err(Some(refusal)) => self.deny(request, &private, refusal, stats),
        }
    }

    fn deny(
        &mut self,
        request: &ConnectionRequest<'_>,
        private: &PrivateTokenData,
        refusal: JoinRefusal,
        stats: &mut TokenStats,
    ) -> TokenDecision {
        stats.count(refusal);
        self.sequence += 1;
        let key = SessionKeys::new(request.protocol, private).to_client;
        let (client, body) = (private.client_id, refusal.denial(self.access.max_clients));
        key.seal(DENIED, self.sequence, &body).map_or(TokenDecision::Drop, |packet| TokenDecision::Deny {
            packet,
            refusal,
            client,
        })
    }
}

/// Marks the token of a client that has joined as used.
pub(super) fn mark_used(
    connected: On<Add, Connected>,
    links: Query<(&LinkOf, &LinkToken)>,
    mut servers: Query<&mut TokenValidator>,
) {
    if let Ok((of, token)) = links.get(connected.entity)
        && let Ok(mut gate) = servers.get_mut(of.server)
    {
        gate.seen_tokens.mark_used(&token.name);
    }
}

/// Sends denials. Runs after netcode, the only other writer of a link without a connection.
pub(super) fn deny(mut links: Query<(Entity, &mut Link, &mut Denial)>, mut commands: Commands) {
    for (entity, mut link, mut denial) in &mut links {
        link.send.push(core::mem::take(&mut denial.0).into());
        commands.entity(entity).try_remove::<Denial>();
    }
}
