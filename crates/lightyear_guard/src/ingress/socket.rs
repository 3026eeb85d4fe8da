//! UDP socket of a server that filters unknown addresses.
//!
//! lightyear's own socket spawns an entity for the first datagram of every address, whatever it contains,
//! remembers the address for ever, and reads for as long as datagrams arrive: 50 µs and some kilobytes per
//! junk datagram of a flood. This socket checks datagrams of unknown addresses first. Only a connection
//! request creates a link; where the server's key is known, only one whose token was issued with it. Requests
//! are limited per second and per host, and an address is forgotten together with its link.

use std::{
    io::ErrorKind,
    net::{IpAddr, SocketAddr, UdpSocket},
};

use bevy::{platform::collections::HashMap, prelude::*};
use lightyear::{
    connection::ConnectionSystems,
    link::{Link, LinkStart, LinkSystems, Linked, Linking, RecvPayload, Unlink, Unlinked},
    prelude::{LinkOf, LocalAddr, PeerAddr, server::Server},
};

use super::{
    IngressLimits, IngressRefusal, IngressStats,
    datagram_filter::{DatagramForm, client_datagram_form},
    pending_links::PendingLink,
    token_bucket::TokenBucket,
};
use crate::{
    log_lines::SERVER,
    tokens::{TokenValidator, WallClock},
};

/// Longest datagram that is read; the socket truncates longer ones, which the filters then refuse.
const MAX_DATAGRAM: usize = 1_472;

/// UDP server transport. Insert it on a server entity with lightyear's `LocalAddr`, instead of lightyear's
/// `ServerUdpIo`. Port 0 binds any free port, and `LocalAddr` is updated with it. [`IngressLimits`] contains
/// its limits.
///
/// It serves netcode. Without the filters ([`IngressLimits::enabled`]) every address gets a link.
#[doc(alias = "ServerUdpIo")]
#[derive(Component, Reflect)]
#[reflect(Component, Default)]
#[require(Server)]
pub struct ServerUdp {
    // A socket and its buffers have no values to show.
    #[reflect(ignore)]
    socket: Option<UdpSocket>,
    #[reflect(ignore)]
    links: HashMap<SocketAddr, Entity>,
    #[reflect(ignore)]
    connection_requests: TokenBucket,
    #[reflect(ignore)]
    buffer: [u8; MAX_DATAGRAM],
}

impl Default for ServerUdp {
    fn default() -> Self {
        Self {
            socket: None,
            links: HashMap::default(),
            connection_requests: TokenBucket::FULL,
            buffer: [0; MAX_DATAGRAM],
        }
    }
}

impl ServerUdp {
    /// Returns the number of addresses that have a link.
    #[must_use]
    pub fn known(&self) -> usize {
        self.links.len()
    }
}

/// The link of an address, on the link entity.
#[derive(Component, Clone, Copy)]
struct UdpLink {
    server: Entity,
    address: SocketAddr,
}

pub(super) fn plugin(app: &mut App) {
    app.add_observer(bind)
        .add_observer(close)
        .add_observer(forget)
        .add_systems(PreUpdate, receive.in_set(LinkSystems::Receive))
        .add_systems(PostUpdate, send.in_set(LinkSystems::Send).after(ConnectionSystems::Send));
}

fn bind(
    start: On<LinkStart>,
    mut servers: Query<(&mut ServerUdp, Option<&mut LocalAddr>), (Without<Linking>, Without<Linked>)>,
    mut commands: Commands,
) {
    let Ok((mut udp, address)) = servers.get_mut(start.entity) else { return };
    let Some(mut address) = address else {
        error!(target: SERVER, "a ServerUdp has no LocalAddr: insert one with the address to listen on");
        return;
    };
    let bound = UdpSocket::bind(address.0).and_then(|socket| {
        socket.set_nonblocking(true)?;
        Ok((socket.local_addr()?, socket))
    });
    match bound {
        Ok((bound, socket)) => {
            address.0 = bound;
            udp.socket = Some(socket);
            commands.entity(start.entity).insert(Linked);
            info!(target: SERVER, address = %bound, "listening on UDP");
        }
        Err(error) => {
            error!(target: SERVER, "cannot listen on UDP {}: {error}; choose another address or port", address.0);
        }
    }
}

fn close(unlink: On<Unlink>, mut servers: Query<&mut ServerUdp, Without<Unlinked>>) {
    if let Ok(mut udp) = servers.get_mut(unlink.entity) {
        udp.socket = None;
    }
}

fn forget(gone: On<Remove, UdpLink>, links: Query<&UdpLink>, mut servers: Query<&mut ServerUdp>) {
    let Ok(link) = links.get(gone.entity) else { return };
    if let Ok(mut udp) = servers.get_mut(link.server)
        && udp.links.get(&link.address) == Some(&gone.entity)
    {
        udp.links.remove(&link.address);
    }
}

/// Returns the host of an address: one customer usually has a whole IPv6 /64 network.
fn host(address: SocketAddr) -> IpAddr {
    match address.ip() {
        IpAddr::V6(ip) => IpAddr::from((u128::from(ip) >> 64 << 64).to_be_bytes()),
        ip => ip,
    }
}

fn receive(
    (time, clock): (Res<Time<Real>>, Res<WallClock>),
    limits: Res<IngressLimits>,
    mut servers: Query<(Entity, &mut ServerUdp, Option<&TokenValidator>), With<Linked>>,
    mut links: Query<&mut Link>,
    strangers: Query<&UdpLink, With<PendingLink>>,
    mut stats: ResMut<IngressStats>,
    mut commands: Commands,
) {
    for (server, mut udp, gate) in &mut servers {
        let ServerUdp { socket: Some(socket), links: known, connection_requests, buffer } = &mut *udp else {
            continue;
        };
        connection_requests.fill(limits.connection_requests_per_second, limits.burst, time.delta());
        // Pending addresses per host, counted when the first request arrives.
        let mut hosts: Option<HashMap<IpAddr, usize>> = None;
        for _ in 0..limits.datagrams_per_frame {
            let (length, address) = match socket.recv_from(buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Windows reports this when a previous peer has closed its port.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => continue,
                Err(error) => {
                    debug!("cannot receive: {error}");
                    break;
                }
            };
            let datagram = &buffer[..length];
            if let Some(link) = known.get(&address) {
                // The first datagram is in the link that is being spawned; netcode clients repeat the others.
                if let Ok(mut link) = links.get_mut(*link) {
                    link.recv.push_raw(RecvPayload::from(datagram));
                }
                continue;
            }
            let refusal = if !limits.enabled {
                None
            } else if client_datagram_form(datagram) != Some(DatagramForm::Request) {
                Some(IngressRefusal::NotNetcode)
            } else if gate.is_some_and(|gate| !gate.may_open(datagram, (clock.0)())) {
                Some(IngressRefusal::ForeignToken)
            } else {
                let there = hosts
                    .get_or_insert_with(|| {
                        let mut hosts = HashMap::default();
                        strangers.iter().for_each(|link| *hosts.entry(host(link.address)).or_default() += 1);
                        hosts
                    })
                    .entry(host(address))
                    .or_default();
                // In this order: a host at its limit must not use up the shared budget.
                if *there >= limits.max_pending_per_host || !connection_requests.take(1.0) {
                    Some(IngressRefusal::ConnectionRequests)
                } else {
                    *there += 1;
                    None
                }
            };
            if let Some(refusal) = refusal {
                stats.refused.count(refusal);
                continue;
            }
            let mut link = Link::default();
            link.recv.push_raw(RecvPayload::from(datagram));
            let peer = (LinkOf { server }, link, Linked, PeerAddr(address), PendingLink::default());
            let link = commands.spawn((peer, UdpLink { server, address })).id();
            known.insert(address, link);
        }
    }
}

fn send(
    servers: Query<(&ServerUdp, &Server), With<Linked>>,
    mut links: Query<(&mut Link, &PeerAddr), With<UdpLink>>,
) {
    for (udp, server) in &servers {
        let Some(socket) = &udp.socket else { continue };
        for entity in server.iter() {
            let Ok((mut link, peer)) = links.get_mut(entity) else { continue };
            for packet in link.send.drain() {
                if let Err(error) = socket.send_to(&packet, peer.0) {
                    debug!("cannot send to {}: {error}", peer.0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_ipv6_64_network_are_one_host() {
        let host = |text: &str| host(text.parse().expect("an address"));
        assert_eq!(host("[2001:db8:1:2:3::4]:1"), host("[2001:db8:1:2:ffff::9]:2"));
        assert_ne!(host("[2001:db8:1:2::4]:1"), host("[2001:db8:1:3::4]:1"));
        assert_eq!(host("10.0.0.1:1"), host("10.0.0.1:2"));
        assert_ne!(host("10.0.0.1:1"), host("10.0.0.2:1"));
    }
}
