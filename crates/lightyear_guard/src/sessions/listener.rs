//! Listeners of a server, and the links of their sessions.

use core::{fmt, net::SocketAddr, time::Duration};
use std::io;

use bevy::prelude::*;
use lightyear::{
    connection::ConnectionSystems,
    link::{Link, LinkMtu, LinkStart, LinkSystems, Linked, Linking, Unlink, Unlinked},
    prelude::{Connected, LinkOf, PeerAddr, server::Server},
};

use super::{
    ServerCertificate,
    certificate::ReloadCertificates,
    half_open::HalfOpenBounds,
    listener_thread::{ListenerShared, ListenerThread, NewSession},
    pipe::AppEnd,
};
use crate::{
    clock::{self, Instant},
    ingress::{
        DatagramForm, IngressLimits, IngressRefusal, IngressStats, PendingLink, TokenBucket,
        client_datagram_form, forget_pending_links,
    },
    log_lines::SERVER,
    system_sets::GuardSystems,
    tokens::{CloseSession, TokenValidator, WallClock},
};

/// Transport of a session.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
pub enum SessionTransport {
    /// Datagrams of QUIC, with the feature `webtransport`.
    WebTransport,
    /// Binary messages over TCP, with the feature `websocket`.
    WebSocket,
}

impl fmt::Display for SessionTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WebTransport => "WebTransport",
            Self::WebSocket => "WebSocket",
        })
    }
}

/// Listeners for WebTransport and WebSocket, on a server entity beside its [`ServerUdp`](crate::ServerUdp) or alone.
/// They open with lightyear's `Start`. [`IngressLimits`] has their limits: sessions without a connection count like
/// pending addresses.
///
/// Each listener has a thread. A session costs some 10 kB, at most 0.5 MB while its peer floods it or takes nothing.
///
/// WebSocket behind a proxy: all players have the proxy's address, and share the limits of one host; bans of hosts and
/// the logs name the proxy.
///
/// ```
/// # #[cfg(all(feature = "webtransport", feature = "websocket"))] {
/// use lightyear_guard::{ServerCertificate, SessionListeners};
///
/// let certificate = ServerCertificate::self_signed(["localhost", "127.0.0.1"])?;
/// println!("clients need the digest {}", certificate.digest());
/// let listeners = SessionListeners::default()
///     .web_transport("[::]:5001".parse()?, certificate.clone())
///     .web_socket("[::]:5001".parse()?, Some(certificate));
/// # let _ = listeners;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Component, Default, Reflect)]
#[reflect(Component, Default)]
#[require(Server)]
pub struct SessionListeners {
    // Sockets, threads and certificates have no values to show.
    #[reflect(ignore)]
    configs: Vec<ListenerConfig>,
    #[reflect(ignore)]
    open: Vec<OpenListener>,
    #[reflect(ignore)]
    shared: ListenerShared,
    #[reflect(ignore)]
    strangers: Vec<Stranger>,
    // Full by default.
    #[reflect(ignore)]
    connection_requests: TokenBucket,
}

#[derive(Clone)]
struct ListenerConfig {
    transport: SessionTransport,
    address: SocketAddr,
    certificate: Option<ServerCertificate>,
}

struct OpenListener {
    transport: SessionTransport,
    address: SocketAddr,
    thread: ListenerThread,
}

/// A session that has not shown a connect token.
struct Stranger {
    session: NewSession,
    since: Instant,
}

/// Session of a link. Despawning the link ends it.
#[derive(Component)]
struct SessionLink {
    pipe: AppEnd,
}

impl SessionListeners {
    /// Listens for WebTransport at a UDP address, which must be another one than that of the bare datagrams. Port 0
    /// takes any free port, and `[::]` is IPv6 and IPv4, where the system has both.
    #[cfg(feature = "webtransport")]
    #[must_use]
    pub fn web_transport(self, address: SocketAddr, certificate: ServerCertificate) -> Self {
        self.with(SessionTransport::WebTransport, address, Some(certificate))
    }

    /// Listens for WebSocket at a TCP address. Without a certificate it speaks `ws://`, for development and behind a
    /// proxy that ends TLS. netcode encrypts packets in any case.
    #[cfg(feature = "websocket")]
    #[must_use]
    pub fn web_socket(self, address: SocketAddr, certificate: Option<ServerCertificate>) -> Self {
        self.with(SessionTransport::WebSocket, address, certificate)
    }

    #[cfg_attr(
        not(any(feature = "webtransport", feature = "websocket")),
        expect(dead_code, reason = "no transport")
    )]
    fn with(
        mut self,
        transport: SessionTransport,
        address: SocketAddr,
        certificate: Option<ServerCertificate>,
    ) -> Self {
        self.configs.push(ListenerConfig { transport, address, certificate });
        self
    }

    /// Returns the addresses at which it listens. A listener that could not be opened is missing.
    pub fn addresses(&self) -> impl Iterator<Item = (SessionTransport, SocketAddr)> + '_ {
        self.open.iter().map(|listener| (listener.transport, listener.address))
    }

    /// Returns whether a listener could not be opened, or has failed. The log says why.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.open.len() < self.configs.len()
    }

    /// Returns the number of sessions without a connection.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.shared.half_open.len()
    }
}

pub(crate) fn plugin(app: &mut App) {
    app.add_observer(open)
        .add_observer(close)
        .add_observer(reload)
        .add_systems(PreUpdate, receive.in_set(LinkSystems::Receive))
        .add_systems(
            PreUpdate,
            count_pending
                .run_if(|limits: Res<IngressLimits>| limits.enabled)
                .after(forget_pending_links)
                .in_set(GuardSystems::Datagrams),
        )
        .add_systems(PostUpdate, send.in_set(LinkSystems::Send).after(ConnectionSystems::Send));
}

fn open(
    start: On<LinkStart>,
    mut servers: Query<
        (&mut SessionListeners, Option<&mut TokenValidator>),
        (Without<Linking>, Without<Linked>),
    >,
    limits: Res<IngressLimits>,
    mut commands: Commands,
) {
    let Ok((mut listeners, gate)) = servers.get_mut(start.entity) else { return };
    let listeners = &mut *listeners;
    listeners.shared.half_open.set_bounds(limits.as_ref().into());
    for config in &listeners.configs {
        let ListenerConfig { transport, address, .. } = config;
        match open_listener(config, &listeners.shared) {
            Ok(listener) => {
                info!(target: SERVER, address = %listener.address, "listening for {transport}");
                listeners.open.push(listener);
            }
            Err(error) => error!(
                target: SERVER,
                "cannot listen for {transport} at {address}: {error}; choose another address or port"
            ),
        }
    }
    if let Some(mut gate) = gate {
        gate.set_listeners(listeners.open.iter().map(|listener| listener.address).collect());
    }
    if !listeners.open.is_empty() {
        commands.entity(start.entity).insert(Linked);
    }
}

#[cfg_attr(
    not(any(feature = "webtransport", feature = "websocket")),
    expect(unused_variables, reason = "no transport is left")
)]
fn open_listener(config: &ListenerConfig, shared: &ListenerShared) -> io::Result<OpenListener> {
    let transport = config.transport;
    let (thread, address) = match transport {
        #[cfg(feature = "webtransport")]
        SessionTransport::WebTransport => open_web_transport(config, shared)?,
        #[cfg(feature = "websocket")]
        SessionTransport::WebSocket => open_web_socket(config, shared)?,
        #[cfg(not(all(feature = "webtransport", feature = "websocket")))]
        _ => return Err(io::ErrorKind::Unsupported.into()),
    };
    Ok(OpenListener { transport, address, thread })
}

#[cfg(feature = "webtransport")]
fn open_web_transport(
    config: &ListenerConfig,
    shared: &ListenerShared,
) -> io::Result<(ListenerThread, SocketAddr)> {
    use super::web_transport;
    use crate::ingress::open_socket;

    let certificate = config.certificate.clone().ok_or(io::ErrorKind::InvalidInput)?;
    let (socket, address) = open_socket(config.address)?;
    let shared = shared.clone();
    let thread = ListenerThread::start("WebTransport", Some(certificate.clone()), move |stop| {
        let endpoint = web_transport::open(socket, &certificate)?;
        Ok(web_transport::listen(endpoint, shared, stop))
    })?;
    Ok((thread, address))
}

#[cfg(feature = "websocket")]
fn open_web_socket(
    config: &ListenerConfig,
    shared: &ListenerShared,
) -> io::Result<(ListenerThread, SocketAddr)> {
    use std::sync::Arc;

    use tokio_rustls::TlsAcceptor;

    use super::{tls, web_socket};

    let bound = bind_tcp(config.address)?;
    let address = bound.local_addr()?;
    let acceptor = match &config.certificate {
        Some(certificate) => Some(TlsAcceptor::from(Arc::new(tls::server(certificate, &[])?))),
        None => None,
    };
    let shared = shared.clone();
    let thread = ListenerThread::start("WebSocket", config.certificate.clone(), move |stop| {
        let listener = tokio::net::TcpListener::from_std(bound)?;
        Ok(web_socket::listen(listener, acceptor, shared, stop))
    })?;
    Ok((thread, address))
}

/// Binds a TCP listener. `[::]` is both address families, and IPv4 only on systems without IPv6.
#[cfg(feature = "websocket")]
fn bind_tcp(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    use socket2::{Domain, Protocol, Socket, Type};

    use crate::ingress::{bind_or_ipv4, is_any_ipv6};

    const BACKLOG: i32 = 128;
    let bind = |address: SocketAddr| {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        if is_any_ipv6(address) {
            socket.set_only_v6(false)?;
        }
        // Connections of a server that has just ended keep its port for a minute. On Windows the option would let two
        // servers have the same port.
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(std::net::TcpListener::from(socket))
    };
    bind_or_ipv4(address, bind).map(|(bound, _)| bound)
}

fn close(
    unlink: On<Unlink>,
    mut servers: Query<(&mut SessionListeners, Option<&mut TokenValidator>), Without<Unlinked>>,
) {
    let Ok((mut listeners, gate)) = servers.get_mut(unlink.entity) else { return };
    // Waits for the threads, a tenth of a second at most.
    listeners.open.clear();
    listeners.strangers.clear();
    listeners.shared.take();
    if let Some(mut gate) = gate {
        gate.set_listeners(Vec::new());
    }
}

fn reload(_: On<ReloadCertificates>, servers: Query<&SessionListeners>) {
    for listeners in &servers {
        for (index, config) in listeners.configs.iter().enumerate() {
            let Some(certificate) = &config.certificate else { continue };
            let is_shared =
                |other: &ListenerConfig| other.certificate.as_ref().is_some_and(|c| c.is_same(certificate));
            if !listeners.configs.iter().take(index).any(is_shared) {
                certificate.reload_and_log();
            }
        }
    }
}

/// Adds the sessions without a link to the pending addresses.
fn count_pending(servers: Query<&SessionListeners>, mut stats: ResMut<IngressStats>) {
    stats.pending += servers.iter().map(SessionListeners::pending).sum::<usize>();
}

fn receive(
    (time, clock): (Res<Time<Real>>, Res<WallClock>),
    limits: Res<IngressLimits>,
    mut servers: Query<(Entity, &mut SessionListeners, Option<&TokenValidator>), With<Linked>>,
    mut links: Query<(Entity, &mut Link, &SessionLink, Has<Connected>)>,
    mut stats: ResMut<IngressStats>,
    mut commands: Commands,
) {
    for (entity, mut link, session, is_connected) in &mut links {
        let has_ended = session.pipe.has_ended();
        let dropped = session.pipe.take(limits.as_ref().into(), |packet| link.recv.push_raw(packet));
        stats.refused.count_many(IngressRefusal::Queue, dropped);
        if has_ended && is_connected {
            // Nothing more can come: a closed tab, for instance. It may come back in a new session.
            commands.entity(entity).try_insert_if_new(CloseSession::ByClient);
        } else if has_ended {
            commands.entity(entity).try_despawn();
        }
    }
    let now = clock::monotonic();
    for (server, mut listeners, gate) in &mut servers {
        let SessionListeners { open, shared, strangers, connection_requests, .. } = &mut *listeners;
        open.retain(|listener| {
            let has_failed = listener.thread.has_failed();
            if has_failed {
                let OpenListener { transport, address, .. } = listener;
                error!(target: SERVER, "the listener for {transport} at {address} has failed: restart the server");
            }
            !has_failed
        });
        connection_requests.fill(limits.connection_requests_per_second, limits.burst, time.delta());
        shared.half_open.set_bounds(HalfOpenBounds::from(limits.as_ref()));
        let (refused, displaced) = shared.half_open.take_counts();
        stats.refused.count_many(IngressRefusal::ConnectionRequests, refused);
        stats.forgotten += displaced;
        strangers.extend(shared.take().into_iter().map(|session| Stranger { session, since: now }));
        let mut index = 0;
        while let Some(stranger) = strangers.get(index) {
            let verdict = stranger.judge(&limits, gate.map(|gate| (gate, clock.0)), connection_requests, now);
            match verdict {
                Verdict::Wait => index += 1,
                Verdict::Forget => {
                    stats.forgotten += 1;
                    strangers.swap_remove(index).session.pipe.cut();
                }
                Verdict::Refuse(refusal) => {
                    stats.refused.count(refusal);
                    strangers.swap_remove(index).session.pipe.cut();
                }
                Verdict::Link(first) => {
                    let NewSession { address, pipe, place, mtu } = strangers.swap_remove(index).session;
                    // From here on the limits on pending links hold.
                    drop(place);
                    let mut link = Link::default();
                    if let Some(mtu) = mtu {
                        link = link.with_mtu(LinkMtu::new(mtu));
                    }
                    link.recv.push_raw(first);
                    let session = SessionLink { pipe };
                    let peer = (LinkOf { server }, link, Linked, PeerAddr(address), PendingLink::default());
                    commands.spawn((peer, session));
                }
            }
        }
    }
}

/// Decision about a session without a link.
enum Verdict {
    Wait,
    Forget,
    Refuse(IngressRefusal),
    /// Creates a link that receives this packet first.
    Link(lightyear::link::RecvPayload),
}

impl Stranger {
    fn judge(
        &self,
        limits: &IngressLimits,
        gate: Option<(&TokenValidator, fn() -> clock::SystemTime)>,
        requests: &mut TokenBucket,
        now: Instant,
    ) -> Verdict {
        let pipe = &self.session.pipe;
        let age = now.checked_duration_since(self.since).unwrap_or(Duration::ZERO);
        if pipe.has_ended() || age > limits.pending_timeout {
            return Verdict::Forget;
        }
        // Reading a token costs more than anything else here. What is too much waits, within its time.
        if limits.enabled && pipe.has_packet() && !requests.has(1.0) {
            return Verdict::Wait;
        }
        let Some(first) = pipe.pop() else { return Verdict::Wait };
        // QUIC and TCP have proven the address, so no challenge is needed.
        if !limits.enabled {
            Verdict::Link(first)
        } else if client_datagram_form(&first) != Some(DatagramForm::Request) {
            Verdict::Refuse(IngressRefusal::NotNetcode)
        } else if gate.is_some_and(|(gate, wall)| !gate.may_open(&first, wall())) {
            Verdict::Refuse(IngressRefusal::ForeignToken)
        } else if !requests.take(1.0) {
            Verdict::Refuse(IngressRefusal::ConnectionRequests)
        } else {
            Verdict::Link(first)
        }
    }
}

fn send(mut links: Query<(&mut Link, &SessionLink)>) {
    links.iter_mut().for_each(|(mut link, session)| session.pipe.send_from(&mut link));
}
