//! Transports beside UDP: WebTransport and WebSocket, with the feature `web`.
//!
//! * [`ListenerArgs`]: command line of a server; [`ServerListeners`]: what it listens for beside UDP.
//! * [`TransportArgs`]: command line of a client; [`ClientTransport`]: what its links use, also after an outage.

#[cfg(not(target_family = "wasm"))]
mod listeners;

use bevy::prelude::*;
#[cfg(feature = "web")]
use bevy_unlag::guard::{CertificateDigest, WebSocketClient, WebTransportClient};
use clap::{Args, ValueEnum};

#[cfg(not(target_family = "wasm"))]
pub(crate) use listeners::reload_certificates;
#[cfg(not(target_family = "wasm"))]
pub use listeners::{ListenerArgs, OpenListener, ServerListeners, open_listeners};

#[cfg(all(target_family = "wasm", not(feature = "web")))]
compile_error!("browsers have no UDP: build the examples for them with the feature `web`");

/// Error of a build without the feature.
#[cfg(not(feature = "web"))]
const MISSING: &str =
    "this build knows UDP alone; build it with --features web for WebTransport and WebSocket";

/// Name of a transport on the command line.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TransportName {
    /// Datagrams of UDP.
    #[default]
    Udp,
    /// Datagrams of QUIC, as browsers send them.
    WebTransport,
    /// Messages over TCP, for networks that let nothing else through.
    WebSocket,
}

/// Options of a client's transport.
#[derive(Args, Clone, Debug, Default)]
pub struct TransportArgs {
    /// Transport to the server; its port for this one is part of the address.
    #[arg(long, value_enum, default_value_t = TransportName::Udp)]
    pub transport: TransportName,
    /// SHA-256 digest of the server's certificate, as the server prints it. Without it the system's certificate
    /// authorities decide.
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
    /// URL of the server, for a certificate with a name: `https://play.example.com:5001`, or `ws://` for one without
    /// TLS. Default: the server's address.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

/// Transport of a client's links, also of those after an outage. Default: UDP, and WebTransport in a browser.
#[derive(Resource, Clone, PartialEq, Eq, Debug)]
pub enum ClientTransport {
    /// UDP.
    #[cfg(not(target_family = "wasm"))]
    Udp,
    /// WebTransport.
    #[cfg(feature = "web")]
    WebTransport(WebTransportClient),
    /// WebSocket.
    #[cfg(feature = "web")]
    WebSocket(WebSocketClient),
}

impl Default for ClientTransport {
    fn default() -> Self {
        #[cfg(not(target_family = "wasm"))]
        return Self::Udp;
        #[cfg(all(target_family = "wasm", feature = "web"))]
        Self::WebTransport(WebTransportClient::default())
    }
}

impl TransportArgs {
    /// Returns the transport.
    ///
    /// # Errors
    /// Returns one line when the digest is none, or this build lacks the transport.
    #[cfg(feature = "web")]
    pub fn client(&self) -> Result<ClientTransport, String> {
        let digest: Option<CertificateDigest> = self
            .digest
            .as_deref()
            .map(str::parse)
            .transpose()
            .map_err(|error| format!("--digest: {error}"))?;
        let url = self.url.clone();
        Ok(match self.transport {
            #[cfg(not(target_family = "wasm"))]
            TransportName::Udp => ClientTransport::Udp,
            #[cfg(target_family = "wasm")]
            TransportName::Udp => return Err("a browser has no UDP".to_owned()),
            TransportName::WebTransport => ClientTransport::WebTransport(WebTransportClient { url, digest }),
            TransportName::WebSocket => ClientTransport::WebSocket(WebSocketClient { url, digest }),
        })
    }

    /// Returns the transport.
    ///
    /// # Errors
    /// Returns one line when this build lacks the transport.
    #[cfg(not(feature = "web"))]
    pub fn client(&self) -> Result<ClientTransport, String> {
        if self.transport == TransportName::Udp {
            Ok(ClientTransport::default())
        } else {
            Err(MISSING.to_owned())
        }
    }
}
