//! WebSocket: packets as binary messages over TCP. Loss becomes delay.

use core::{future::poll_fn, net::SocketAddr, pin::Pin, time::Duration};
use std::{io, sync::Arc};

use bytes::Bytes;
use futures_util::{Sink, SinkExt, StreamExt};
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Notify,
};
use tokio_rustls::{TlsAcceptor, TlsConnector, rustls::pki_types::ServerName};
use tokio_tungstenite::{
    WebSocketStream, accept_async_with_config, client_async_with_config,
    tungstenite::{Message, client::IntoClientRequest, http::Uri, protocol::WebSocketConfig},
};

use super::{
    CertificateDigest,
    half_open::HalfOpenPlace,
    listener_thread::ListenerShared,
    pipe::{MAX_PACKET, TaskEnd},
    tls,
};
use crate::ingress::unmapped;

/// Time for a peer to take what is sent, after which its session ends.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// Pings, pongs and the like that a peer may send beside its packets. Browsers send none, proxies two a minute.
const CONTROL_FRAMES: u64 = 32;
/// Buffer of the system for what is sent, in bytes. Linux takes twice as much.
const SEND_BUFFER: usize = 16 << 10;
/// Pause after the system has refused a connection, as it does without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// TCP, with TLS or without.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A session.
pub(super) type Socket = WebSocketStream<Box<dyn Stream>>;

/// Returns settings that bound what a peer may make this end keep.
fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(4 << 10)
        .write_buffer_size(4 << 10)
        .max_write_buffer_size(64 << 10)
        .max_message_size(Some(MAX_PACKET))
        .max_frame_size(Some(MAX_PACKET))
}

/// Takes sessions until the notification, with TLS if there is an acceptor.
pub(super) async fn listen(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    shared: ListenerShared,
    stop: Arc<Notify>,
) {
    loop {
        let accepted = tokio::select! {
            () = stop.notified() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, address)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let address = unmapped(address);
        if let Some(place) = shared.half_open.admit(address) {
            tokio::spawn(serve(stream, address, tls.clone(), place, shared.clone()));
        }
    }
}

async fn serve(
    stream: TcpStream,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    place: HalfOpenPlace,
    shared: ListenerShared,
) {
    let handshake = async {
        prepare(&stream).ok()?;
        let stream: Box<dyn Stream> = match tls {
            Some(tls) => Box::new(tls.accept(stream).await.ok()?),
            None => Box::new(stream),
        };
        accept_async_with_config(stream, Some(config())).await.ok()
    };
    if let Some((socket, task)) = shared.welcome((address, None), place, handshake).await {
        carry(socket, task).await;
    }
}

/// Connects to `url`, which begins with `ws://` or `wss://`.
///
/// # Errors
/// The reason for which there is no session.
pub(super) async fn connect(url: &str, digest: Option<CertificateDigest>) -> Result<Socket, String> {
    let text = |error: io::Error| error.to_string();
    let request = url.into_client_request().map_err(|error| error.to_string())?;
    let (host, port, is_secure) = target(request.uri())?;
    let stream = TcpStream::connect((host.as_str(), port)).await.map_err(text)?;
    prepare(&stream).map_err(text)?;
    let stream: Box<dyn Stream> = if is_secure {
        let config = tls::client(digest, &[]).map_err(text)?;
        let name = ServerName::try_from(host).map_err(|error| error.to_string())?;
        Box::new(TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(text)?)
    } else {
        Box::new(stream)
    };
    let (socket, _) =
        client_async_with_config(request, stream, Some(config())).await.map_err(|error| error.to_string())?;
    Ok(socket)
}

/// Small packets do not wait for each other, and no more than a second of them waits in the system.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    SockRef::from(stream).set_send_buffer_size(SEND_BUFFER)
}

/// Returns host and port of a URL, and whether it asks for TLS.
fn target(url: &Uri) -> Result<(String, u16, bool), String> {
    let is_secure = match url.scheme_str() {
        Some("wss") => true,
        Some("ws") => false,
        _ => return Err("the URL must begin with wss:// or ws://".to_owned()),
    };
    let host = url.host().ok_or("the URL has no host")?.trim_matches(['[', ']']).to_owned();
    Ok((host, url.port_u16().unwrap_or(if is_secure { 443 } else { 80 }), is_secure))
}

/// Carries packets until either end has enough.
pub(super) async fn carry(mut socket: Socket, mut task: TaskEnd) {
    let cut = task.cut();
    let (mut packets, mut controls) = (0_u64, 0_u64);
    loop {
        tokio::select! {
            biased;
            () = cut.notified() => return,
            message = socket.next() => {
                let goes_on = match message {
                    Some(Ok(Message::Binary(packet))) => {
                        packets += 1;
                        task.receive(&packet)
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {
                        controls += 1;
                        controls <= CONTROL_FRAMES + packets
                    }
                    // Text is nothing that a client of ours sends.
                    _ => false,
                };
                if !goes_on {
                    break;
                }
            },
            packet = task.outgoing.recv() => {
                let Some(packet) = packet else { break };
                let sent = tokio::time::timeout(WRITE_TIMEOUT, send(&mut socket, packet, &mut task));
                tokio::select! {
                    biased;
                    () = cut.notified() => return,
                    sent = sent => if !matches!(sent, Ok(true)) {
                        return;
                    },
                }
            },
        }
    }
    let closed = poll_fn(|context| Pin::new(&mut socket).poll_close(context));
    tokio::select! {
        _ = tokio::time::timeout(WRITE_TIMEOUT, closed) => {}
        () = cut.notified() => {}
    }
}

/// Sends a packet and those that wait behind it. Returns whether the peer took them.
async fn send(socket: &mut Socket, first: Bytes, task: &mut TaskEnd) -> bool {
    let mut next = Some(first);
    while let Some(packet) = next {
        if socket.feed(Message::Binary(packet)).await.is_err() {
            return false;
        }
        next = task.outgoing.try_recv().ok();
    }
    socket.flush().await.is_ok()
}
