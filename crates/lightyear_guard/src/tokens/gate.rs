//! Looks at every token before netcode does.

use std::time::SystemTime;

use bevy::prelude::*;
use lightyear::{
    connection::{client_of::SkipNetcode, host::HostClient},
    link::Link,
    netcode::NetcodeServer,
    prelude::{Connected, LinkOf, LocalAddr, PeerId, RemoteId},
};

use super::{
    JoinRefusal, WallClock,
    access::{Now, TokenGate},
    hang_up::SessionKeys,
    issue::milliseconds,
    sealed::{self, DENIED, Private, Request},
};
use crate::ingress::{Kick, KickReason};

/// For how many seconds whoever comes too late is told so.
const TOLD: u64 = 300;

/// How many tokens were shown to this app's servers. Who is not connected yet shows its own ten times a second.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TokenStats {
    /// Requests that netcode was given.
    pub passed: u64,
    /// Requests that our key did not make: junk, or another server's. Those that a
    /// [`ServerUdp`](crate::ServerUdp) drops at the door are counted there, as
    /// [`Refusal::Foreign`](crate::Refusal::Foreign).
    pub foreign: u64,
    /// Requests on servers that were made without [`ServerAccess`](crate::ServerAccess) and whose key is all
    /// zeros. Nobody joins such a server.
    pub zero_key: u64,
    refused: [u64; JoinRefusal::ALL.len()],
}

impl TokenStats {
    /// How often somebody was refused for this.
    #[must_use]
    pub fn refused(&self, refusal: JoinRefusal) -> u64 {
        self.refused[refusal as usize]
    }
}

/// The token that a link joins with, and as whom.
#[derive(Component)]
pub(super) struct ShownToken {
    name: [u8; 16],
    peer: PeerId,
}

/// A denial that leaves with this frame.
#[derive(Component)]
pub(super) struct Denial(Vec<u8>);

/// What becomes of a request.
#[expect(clippy::large_enum_variant, reason = "one at a time, on the stack")]
enum Verdict {
    Pass(Private),
    Drop,
    Deny(Vec<u8>),
}

type Served = (With<LinkOf>, Without<HostClient>, Without<SkipNetcode>);

pub(super) fn check(
    clock: Res<WallClock>,
    mut servers: Query<(Option<&mut TokenGate>, Option<&LocalAddr>), With<NetcodeServer>>,
    mut links: Query<(Entity, &mut Link, &LinkOf, Option<&ShownToken>, Has<Connected>), Served>,
    joining: Query<(Entity, &LinkOf, &ShownToken), Without<Connected>>,
    there: Query<(), With<LinkOf>>,
    clients: Query<(Entity, &LinkOf, &RemoteId), With<Connected>>,
    mut stats: ResMut<TokenStats>,
    mut commands: Commands,
) {
    // Who began to join in this frame, where.
    let mut fresh: Vec<(Entity, PeerId)> = Vec::new();
    for (entity, mut link, of, token, is_connected) in &mut links {
        let mut shows = token.map(|token| token.name);
        for _ in 0..link.recv.len() {
            let Some(datagram) = link.recv.pop() else { break };
            let Some(request) = sealed::request(&datagram) else {
                // Nearly always.
                link.recv.push_raw(datagram);
                continue;
            };
            let Ok((mut gate, local)) = servers.get_mut(of.server) else {
                link.recv.push_raw(datagram);
                continue;
            };
            let name = request.name();
            if is_connected && shows == Some(name) {
                // Sent before it knew.
                continue;
            }
            if !is_connected && shows.is_some_and(|shown| shown != name) {
                // netcode would put the second into the place of the first, and mix up who is who.
                continue;
            }
            let Some(gate) = gate.as_deref_mut() else {
                // Made without us. What can be seen of its key is whether tokens of a zero key are shown to it.
                if request.open(&[0; 32]).is_some() {
                    stats.zero_key += 1;
                } else {
                    link.recv.push_raw(datagram);
                }
                continue;
            };
            let now = gate.now((clock.0)());
            let verdict =
                gate.judge(&request, entity, local.map(|l| l.0), now, |e| there.contains(e), &mut stats);
            let private = match verdict {
                Verdict::Pass(private) => private,
                Verdict::Drop => continue,
                Verdict::Deny(packet) => {
                    commands.entity(entity).try_insert(Denial(packet));
                    continue;
                }
            };
            let peer = PeerId::Netcode(private.client_id);
            if let Some((old, ..)) = clients.iter().find(|(_, l, id)| l.server == of.server && id.0 == peer) {
                if gate.shown.is_used(&name) {
                    // In development mode a token is good again and again, but what was still under way of a
                    // connection that has ended does not end the next one.
                    continue;
                }
                // It has lost its end and comes again; netcode would keep it waiting until the old one times out.
                commands.trigger(Kick { entity: old, reason: KickReason::Replaced });
            } else if !is_connected && !fresh.contains(&(of.server, peer)) {
                stats.passed += 1;
                if shows.is_none() {
                    // netcode has one place for each player, so it joins on one link: the newest.
                    let others = joining.iter().filter(|(_, l, o)| l.server == of.server && o.peer == peer);
                    others.for_each(|(other, ..)| commands.entity(other).try_despawn());
                    fresh.push((of.server, peer));
                    shows = Some(name);
                    let shown = (ShownToken { name, peer }, SessionKeys::new(request.protocol, &private));
                    commands.entity(entity).try_insert(shown);
                }
                link.recv.push_raw(datagram);
            }
        }
    }
}

impl TokenGate {
    /// Whether this is a request with a token that our key has made and that may still be good: one of last year would
    /// open the door to whoever found it.
    pub(crate) fn may_open(&self, datagram: &[u8], wall: SystemTime) -> bool {
        let Some(request) = sealed::request(datagram) else { return false };
        // Whose time is over is told so, but not for ever.
        let late = request.expires.saturating_add(TOLD) < milliseconds(wall) / 1_000;
        !late && request.open(&self.access.key.bytes()).is_some()
    }

    fn judge(
        &mut self,
        request: &Request<'_>,
        link: Entity,
        local: Option<core::net::SocketAddr>,
        now: Now,
        is_there: impl Fn(Entity) -> bool,
        stats: &mut TokenStats,
    ) -> Verdict {
        let Some(private) = request.open(&self.access.key.bytes()) else {
            stats.foreign += 1;
            return Verdict::Drop;
        };
        let good = self.access.judge(request, &private, local, now).map_err(Some).and_then(|left| {
            let shown = self.shown.show(request.name(), link, left, now.uptime, is_there);
            if self.access.key.is_development() { Ok(()) } else { shown }
        });
        match good {
            Ok(()) => Verdict::Pass(private),
            Err(None) => Verdict::Drop,
            Err(Some(refusal)) => {
                stats.refused[refusal as usize] += 1;
                self.sequence += 1;
                let key = SessionKeys::new(request.protocol, &private).to_client;
                key.seal(DENIED, self.sequence, &refusal.denial()).map_or(Verdict::Drop, Verdict::Deny)
            }
        }
    }
}

/// Whoever joins has used its token.
pub(super) fn use_up(
    connected: On<Add, Connected>,
    links: Query<(&LinkOf, &ShownToken)>,
    mut servers: Query<&mut TokenGate>,
) {
    if let Ok((of, token)) = links.get(connected.entity)
        && let Ok(mut gate) = servers.get_mut(of.server)
    {
        gate.shown.use_up(&token.name);
    }
}

/// After netcode, which lets nobody else write to a link without a connection.
pub(super) fn deny(mut links: Query<(Entity, &mut Link, &mut Denial)>, mut commands: Commands) {
    for (entity, mut link, mut denial) in &mut links {
        link.send.push(core::mem::take(&mut denial.0).into());
        commands.entity(entity).try_remove::<Denial>();
    }
}
