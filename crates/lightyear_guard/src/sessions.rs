//! WebTransport and WebSocket beside UDP: sessions of clients that cannot send bare datagrams.
//!
//! A server entity has [`SessionListeners`] beside its [`ServerUdp`](crate::ServerUdp), so that players of all kinds
//! are in one match. A session that has shown a valid connect token gets a link like that of a UDP address, and from
//! there on every filter, budget, strike and kick is the same. Sessions without a connection are bounded in number,
//! memory and time: [`half_open`].
//!
//! Clients have a [`WebTransportClient`] or a [`WebSocketClient`] in place of lightyear's `UdpIo`.

#[cfg(not(target_family = "wasm"))]
mod certificate;
mod client;
mod digest;
#[cfg(not(target_family = "wasm"))]
mod half_open;
#[cfg(not(target_family = "wasm"))]
mod listener;
#[cfg(not(target_family = "wasm"))]
mod listener_thread;
#[cfg(not(target_family = "wasm"))]
mod pipe;
#[cfg(not(target_family = "wasm"))]
mod tls;
#[cfg(all(feature = "websocket", not(target_family = "wasm")))]
mod web_socket;
#[cfg(all(feature = "webtransport", not(target_family = "wasm")))]
mod web_transport;

#[cfg(not(target_family = "wasm"))]
pub use certificate::{CertificateError, ReloadCertificates, ServerCertificate};
#[cfg(feature = "websocket")]
pub use client::WebSocketClient;
#[cfg(feature = "webtransport")]
pub use client::WebTransportClient;
pub(crate) use client::plugin as client_plugin;
pub use digest::{CertificateDigest, InvalidDigest};
#[cfg(not(target_family = "wasm"))]
pub(crate) use listener::plugin as server_plugin;
#[cfg(not(target_family = "wasm"))]
pub use listener::{SessionListeners, SessionTransport};

/// Largest packet of a WebTransport link. With netcode's 25 bytes it fits a QUIC datagram in packets of 1,232 bytes,
/// and lightyear's fragments hold 1,100 bytes. Both ends must have the same.
#[cfg(feature = "webtransport")]
pub(crate) const WEB_TRANSPORT_MTU: usize = 1_150;
