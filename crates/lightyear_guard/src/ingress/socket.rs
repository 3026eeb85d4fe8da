//! UDP socket of a server that filters unknown addresses.
//!
//! lightyear's own socket spawns an entity for the first datagram of every address, whatever it contains,
//! remembers the address for ever, and reads for as long as datagrams arrive: 50 µs and some kilobytes per
//! junk datagram of a flood. This socket checks datagrams of unknown addresses first. Only a client that holds a
//! valid token and answers a challenge gets a link: [`unconnected_addresses`]. Requests are limited per second and per
//! host, and an address is forgotten together with its link.
//!
//! Datagrams that arrive while the app stands still wait in a bounded queue, in which players have a share of their
//! own: [`receive_queue`], [`receive_thread`].

mod bound_socket;
mod receive_queue;
mod receive_thread;
mod unconnected_addresses;

use core::time::Duration;
use std::{net::SocketAddr, sync::Arc};

use bevy::{platform::collections::HashMap, prelude::*};
use lightyear::{
    connection::ConnectionSystems,
    link::{Link, LinkStart, LinkSystems, Linked, Linking, Unlink, Unlinked},
    prelude::{LinkOf, LocalAddr, PeerAddr, server::Server},
};

#[cfg(all(feature = "sessions", not(target_family = "wasm")))]
pub(crate) use self::bound_socket::unmapped;
#[cfg(all(feature = "websocket", not(target_family = "wasm")))]
pub(crate) use self::bound_socket::{bind_or_ipv4, is_any_ipv6};
use self::{
    bound_socket::{BoundSocket, mapped},
    receive_queue::Datagram,
    receive_thread::{ReceiveThread, SocketReader},
    unconnected_addresses::{Admission, Strangers},
};
use super::{
    IngressLimits, IngressRefusal, IngressStats, pending_links::PendingLink, token_bucket::TokenBucket,
};
use crate::{
    counted_delta::counted_delta,
    log_lines::SERVER,
    tokens::{TokenValidator, WallClock},
};

/// Longest datagram that is kept; longer ones are cut, which the filters then refuse.
const MAX_DATAGRAM: usize = 1_472;

/// UDP server transport. Insert it on a server entity with lightyear's `LocalAddr`, instead of lightyear's
/// `ServerUdpIo`. Port 0 binds any free port, and `LocalAddr` is updated with it. The address `[::]` takes clients over
/// IPv6 and IPv4, and over IPv4 only on systems without IPv6. [`IngressLimits`] contains its limits.
///
/// The app reads it in its frames. While the app stands still, a thread reads in its place, so that nothing of the
/// players is lost until the queue is full ([`IngressLimits::queued_datagrams`]). A new client answers a challenge
/// before it gets a link, so its join takes one frame longer than with lightyear's socket.
///
/// It serves netcode. Without the filters ([`IngressLimits::enabled`]) every address gets a link.
#[doc(alias = "ServerUdpIo")]
#[derive(Component, Default, Reflect)]
#[reflect(Component, Default)]
#[require(Server)]
pub struct ServerUdp {
    // A socket and its buffers have no values to show.
    #[reflect(ignore)]
    io: Option<SocketIo>,
    #[reflect(ignore)]
    links: HashMap<SocketAddr, Entity>,
    #[reflect(ignore)]
    strangers: Strangers,
    // Full by default.
    #[reflect(ignore)]
    connection_requests: TokenBucket,
    #[reflect(ignore)]
    batch: Vec<Datagram>,
    #[reflect(ignore)]
    in_frames_only: bool,
}

impl ServerUdp {
    /// Creates a socket that is read in the app's frames only, with the system's own receive buffer: datagrams that
    /// arrive while the app stands still are lost once that is full. For measurements.
    #[must_use]
    pub fn in_frames_only() -> Self {
        Self { in_frames_only: true, ..Self::default() }
    }

    /// Returns the number of addresses that have a link.
    #[must_use]
    pub fn known(&self) -> usize {
        self.links.len()
    }

    /// Returns the number of addresses that have asked to join and have not answered the challenge.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.strangers.len()
    }

    /// Returns the size of the system's receive buffer in bytes, as the system counts it: Linux counts the memory of
    /// a datagram, 0.8 kB for a small one. `None` while the socket is closed, and 0 where the size is unknown.
    #[must_use]
    pub fn receive_buffer(&self) -> Option<usize> {
        self.io.as_ref().map(|io| io.receive_buffer)
    }
}

/// An open socket.
struct SocketIo {
    reader: Arc<SocketReader>,
    thread: Option<ReceiveThread>,
    is_ipv6: bool,
    receive_buffer: usize,
}

impl SocketIo {
    fn new(bound: BoundSocket, in_frames_only: bool, limits: &IngressLimits) -> Self {
        let (is_ipv6, receive_buffer) = (bound.address.is_ipv6(), bound.receive_buffer);
        let reader = Arc::new(SocketReader::new(bound.socket, limits.into()));
        let thread = (!in_frames_only).then(|| ReceiveThread::start(reader.clone()));
        let thread = thread.and_then(|thread| thread.inspect_err(|error| log_missing_thread(error)).ok());
        Self { reader, thread, is_ipv6, receive_buffer }
    }

    /// Reads the socket, and moves up to as many datagrams as the app takes in a frame to `batch`.
    fn read(&mut self, limits: &IngressLimits, stats: &mut IngressStats, batch: &mut Vec<Datagram>) {
        if self.thread.as_ref().is_some_and(ReceiveThread::has_failed) {
            self.thread = None;
            log_missing_thread(&"it panicked");
        }
        let mut state = self.reader.read_in_app(limits.datagrams_per_frame, limits.into());
        state.queue.take(limits.datagrams_per_frame, batch);
        let (linked, strangers) = state.queue.take_dropped();
        stats.refused.count_many(IngressRefusal::Queue, linked);
        stats.refused.count_many(IngressRefusal::StrangerQueue, strangers);
        stats.queued += state.queue.len();
    }

    fn send(&self, packet: &[u8], to: SocketAddr) {
        if let Err(error) = self.reader.socket.send_to(packet, mapped(to, self.is_ipv6)) {
            debug!("cannot send to {to}: {error}");
        }
    }
}

fn log_missing_thread(error: &dyn core::fmt::Display) {
    error!(
        target: SERVER,
        "the UDP socket has no receive thread ({error}): packets are lost while the server stands still"
    );
}

/// Opens a socket of its own for a listener of sessions.
///
/// # Errors
/// The system's error if the address cannot be bound.
#[cfg(all(feature = "webtransport", not(target_family = "wasm")))]
pub(crate) fn open_socket(address: SocketAddr) -> std::io::Result<(std::net::UdpSocket, SocketAddr)> {
    let bound = bound_socket::open(address, true)?;
    Ok((bound.socket, bound.address))
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
    limits: Res<IngressLimits>,
    mut commands: Commands,
) {
    let Ok((mut udp, address)) = servers.get_mut(start.entity) else { return };
    let Some(mut address) = address else {
        error!(target: SERVER, "a ServerUdp has no LocalAddr: insert one with the address to listen on");
        return;
    };
    match bound_socket::open(address.0, !udp.in_frames_only) {
        Ok(bound) => {
            address.0 = bound.address;
            if let Some(error) = &bound.without_ipv6 {
                warn!(target: SERVER, %error, "this system has no IPv6: listening on IPv4 only");
            }
            let receive_buffer = bound.receive_buffer;
            udp.io = Some(SocketIo::new(bound, udp.in_frames_only, &limits));
            commands.entity(start.entity).insert(Linked);
            info!(target: SERVER, address = %address.0, receive_buffer, "listening on UDP");
        }
        Err(error) => {
            error!(target: SERVER, "cannot listen on UDP {}: {error}; choose another address or port", address.0);
        }
    }
}

fn close(unlink: On<Unlink>, mut servers: Query<&mut ServerUdp, Without<Unlinked>>) {
    if let Ok(mut udp) = servers.get_mut(unlink.entity) {
        // Waits for the thread, which is done with what it has begun within a millisecond.
        udp.io = None;
        udp.strangers = Strangers::default();
    }
}

fn forget(gone: On<Remove, UdpLink>, links: Query<&UdpLink>, mut servers: Query<&mut ServerUdp>) {
    let Ok(link) = links.get(gone.entity) else { return };
    if let Ok(mut udp) = servers.get_mut(link.server)
        && udp.links.get(&link.address) == Some(&gone.entity)
    {
        udp.links.remove(&link.address);
        if let Some(io) = &udp.io {
            io.reader.lock().queue.unlink(&link.address);
        }
    }
}

fn receive(
    (time, clock): (Res<Time<Real>>, Res<WallClock>),
    limits: Res<IngressLimits>,
    mut servers: Query<(Entity, &mut ServerUdp, Option<&mut TokenValidator>), With<Linked>>,
    mut links: Query<&mut Link>,
    pending: Query<&UdpLink, With<PendingLink>>,
    mut stats: ResMut<IngressStats>,
    mut commands: Commands,
) {
    (stats.queued, stats.queue_wait) = (0, Duration::ZERO);
    for (server, mut udp, mut gate) in &mut servers {
        let ServerUdp { io: Some(io), links: known, strangers, connection_requests, batch, .. } = &mut *udp
        else {
            continue;
        };
        connection_requests.fill(limits.connection_requests_per_second, limits.burst, time.delta());
        stats.forgotten += strangers.age(&limits, counted_delta(&time), time.delta());
        io.read(&limits, &mut stats, batch);
        for Datagram { address, bytes, arrived } in batch.drain(..) {
            stats.queue_wait = stats.queue_wait.max(arrived.elapsed());
            if let Some(link) = known.get(&address) {
                // The first datagram is in the link that is being spawned; netcode clients repeat the others.
                if let Ok(mut link) = links.get_mut(*link) {
                    link.recv.push_raw(bytes);
                }
                continue;
            }
            let admission = if limits.enabled {
                let gate = (gate.as_deref_mut(), (clock.0)());
                let pending = pending.iter().map(|link| link.address);
                strangers.admit(address, &bytes, gate, &limits, connection_requests, pending)
            } else {
                Admission::Link(bytes, None)
            };
            match admission {
                Admission::Refuse(refusal) => stats.refused.count(refusal),
                Admission::Challenge(packet) => io.send(packet, address),
                Admission::Link(first, proof) => {
                    let mut link = Link::default();
                    link.recv.push_raw(first);
                    let peer = (LinkOf { server }, link, Linked, PeerAddr(address), PendingLink::default());
                    let link = commands.spawn((peer, UdpLink { server, address })).id();
                    if let Some(proof) = proof {
                        commands.entity(link).insert(proof);
                    }
                    known.insert(address, link);
                    io.reader.lock().queue.link(address);
                }
            }
        }
    }
}

fn send(
    servers: Query<(&ServerUdp, &Server), With<Linked>>,
    mut links: Query<(&mut Link, &PeerAddr), With<UdpLink>>,
) {
    for (udp, server) in &servers {
        let Some(io) = &udp.io else { continue };
        for entity in server.iter() {
            let Ok((mut link, peer)) = links.get_mut(entity) else { continue };
            for packet in link.send.drain() {
                io.send(&packet, peer.0);
            }
        }
    }
}
