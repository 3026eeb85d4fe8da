//! WebTransport: datagrams of QUIC, which browsers may send.

use core::{
    net::{Ipv6Addr, SocketAddr},
    time::Duration,
};
use std::{io, net::UdpSocket, sync::Arc};

use tokio::sync::Notify;
use wtransport::{
    ClientConfig, Connection, Endpoint, ServerConfig, VarInt,
    config::QuicTransportConfig,
    endpoint::{IncomingSession, endpoint_side::Server},
    proto::WEBTRANSPORT_ALPN,
    quinn::IdleTimeout,
};

use super::{
    CertificateDigest, ServerCertificate, WEB_TRANSPORT_MTU, half_open::HalfOpenPlace,
    listener_thread::ListenerShared, pipe::TaskEnd, tls,
};
use crate::ingress::{open_socket, unmapped};

/// Time without a packet of QUIC after which a session ends. netcode sends several a second.
const IDLE: Duration = Duration::from_secs(15);
/// QUIC connections of a listener beyond those that may be half-open: netcode's largest number of clients, four times.
/// A peer that stops in the middle of its handshake can keep a connection that has no place any more.
const CONNECTIONS: usize = 1_024;
/// Size of QUIC's packets at first: the smallest that every IPv6 network carries.
const INITIAL_MTU: u16 = 1_232;
/// Datagrams in QUIC's own buffers, in bytes. More would only be late.
const DATAGRAM_BUFFER: usize = 32 << 10;
/// Flow control of streams, of which a session needs a handful for its handshake, in bytes.
const STREAM_WINDOW: u32 = 16 << 10;
/// Time for the last packets of a session to leave before it is closed.
pub(super) const LINGER: Duration = Duration::from_millis(100);

/// Returns settings of QUIC that bound what a peer may make this end keep.
fn quic() -> QuicTransportConfig {
    let mut config = QuicTransportConfig::default();
    config
        .max_idle_timeout(IdleTimeout::try_from(IDLE).ok())
        .initial_mtu(INITIAL_MTU)
        .min_mtu(INITIAL_MTU)
        .datagram_receive_buffer_size(Some(DATAGRAM_BUFFER))
        .datagram_send_buffer_size(DATAGRAM_BUFFER)
        .max_concurrent_bidi_streams(4_u8.into())
        .max_concurrent_uni_streams(8_u8.into())
        .stream_receive_window(STREAM_WINDOW.into())
        .receive_window((STREAM_WINDOW * 4).into())
        .send_window(u64::from(STREAM_WINDOW) * 4);
    config
}

/// Opens a listener on a bound socket, within a runtime.
///
/// # Errors
/// The system's error, or that of TLS.
pub(super) fn open(socket: UdpSocket, certificate: &ServerCertificate) -> io::Result<Endpoint<Server>> {
    let tls = tls::server(certificate, &[WEBTRANSPORT_ALPN])?;
    let config = ServerConfig::builder().with_bind_socket(socket).with_custom_tls_and_transport(tls, quic());
    Endpoint::server(config.build())
}

/// Takes sessions until the notification.
pub(super) async fn listen(endpoint: Endpoint<Server>, shared: ListenerShared, stop: Arc<Notify>) {
    loop {
        let incoming = tokio::select! {
            () = stop.notified() => break,
            incoming = endpoint.accept() => incoming,
        };
        if !incoming.remote_address_validated() {
            // A forged address costs no state.
            incoming.retry();
            continue;
        }
        let address = unmapped(incoming.remote_address());
        if endpoint.open_connections() > CONNECTIONS + shared.half_open.most() {
            incoming.refuse();
            continue;
        }
        match shared.half_open.admit(address) {
            Some(place) => {
                tokio::spawn(serve(incoming, address, place, shared.clone()));
            }
            None => incoming.refuse(),
        }
    }
    endpoint.close(VarInt::from_u32(0), b"server stopped");
    let _ = tokio::time::timeout(LINGER, endpoint.wait_idle()).await;
}

async fn serve(incoming: IncomingSession, address: SocketAddr, place: HalfOpenPlace, shared: ListenerShared) {
    let handshake = async { incoming.await.ok()?.accept().await.ok() };
    let of = (address, Some(WEB_TRANSPORT_MTU));
    if let Some((connection, task)) = shared.welcome(of, place, handshake).await {
        carry(connection, task).await;
    }
}

/// Connects to `url`.
///
/// # Errors
/// The reason for which there is no session.
pub(super) async fn connect(url: &str, digest: Option<CertificateDigest>) -> Result<Connection, String> {
    let tls = tls::client(digest, &[WEBTRANSPORT_ALPN]).map_err(|error| error.to_string())?;
    let no_socket = |error: io::Error| format!("this system gives no UDP socket ({error})");
    let (socket, _) = open_socket(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))).map_err(no_socket)?;
    let config = ClientConfig::builder().with_bind_socket(socket).with_custom_tls_and_transport(tls, quic());
    let endpoint = Endpoint::client(config.build()).map_err(no_socket)?;
    endpoint.connect(url).await.map_err(|error| error.to_string())
}

/// Carries packets until either end has enough.
pub(super) async fn carry(connection: Connection, mut task: TaskEnd) {
    let cut = task.cut();
    loop {
        tokio::select! {
            datagram = connection.receive_datagram() => match datagram {
                Ok(datagram) if task.receive(&datagram) => {}
                _ => break,
            },
            packet = task.outgoing.recv() => {
                let Some(packet) = packet else {
                    tokio::time::sleep(LINGER).await;
                    break;
                };
                // Lost if it is longer than the path carries now.
                let _ = connection.send_datagram(packet);
            },
            () = cut.notified() => break,
        }
    }
    connection.close(VarInt::from_u32(0), b"");
}
