//! Listeners of a server beside its UDP socket.

use core::fmt;
use std::path::PathBuf;

use bevy::prelude::*;
#[cfg(feature = "web")]
use bevy_unlag::guard::{ReloadCertificates, ServerCertificate, SessionListeners, SessionTransport};
use bevy_unlag_server::ReloadSettings;
use clap::Args;

use super::TransportName;

/// Options of a server's listeners beside UDP.
#[derive(Args, Clone, Debug, Default)]
pub struct ListenerArgs {
    /// Listen for WebTransport, too, at this UDP port: for browsers. 0 takes any free one.
    #[arg(long, value_name = "PORT")]
    pub web_transport: Option<u16>,
    /// Listen for WebSocket, too, at this TCP port: for networks that let nothing else through. 0 takes any free one.
    #[arg(long, value_name = "PORT")]
    pub web_socket: Option<u16>,
    /// Listen for WebSocket without TLS, behind a proxy that ends it, or for pages on this machine.
    #[arg(long, requires = "web_socket")]
    pub web_socket_plain: bool,
    /// File with the certificate chain of both, in PEM form; it is read again when it changes. Without it the
    /// certificate is self-signed and good for two weeks, and clients need its digest, which the server prints.
    #[arg(long, value_name = "FILE", requires = "certificate_key")]
    pub certificate: Option<PathBuf>,
    /// File with the private key of the certificate, in PEM form.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub certificate_key: Option<PathBuf>,
}

/// Listeners of a server beside UDP, until it starts to listen.
#[derive(Resource, Default)]
pub struct ServerListeners {
    #[cfg(feature = "web")]
    sessions: SessionListeners,
    /// Whether the certificate is in files that can be read again.
    pub reloads: bool,
    /// Digest of the certificate, for clients.
    pub digest: String,
}

/// A listener that is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenListener {
    /// Transport that it accepts.
    pub transport: TransportName,
    /// Its port: of UDP for WebTransport, of TCP for WebSocket.
    pub port: u16,
}

impl fmt::Display for OpenListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, kind) = match self.transport {
            TransportName::Udp => ("UDP", "UDP"),
            TransportName::WebTransport => ("WebTransport", "UDP"),
            TransportName::WebSocket => ("WebSocket", "TCP"),
        };
        write!(f, "serving {name} on {kind} port {}", self.port)
    }
}

impl ListenerArgs {
    /// Returns the options of listeners for both at any free port, with a self-signed certificate.
    #[must_use]
    pub fn on_free_ports() -> Self {
        Self { web_transport: Some(0), web_socket: Some(0), ..Self::default() }
    }

    fn are_wanted(&self) -> bool {
        self.web_transport.is_some() || self.web_socket.is_some()
    }

    /// Returns the listeners, if there are any.
    ///
    /// # Errors
    /// Returns one line when a certificate cannot be read, or this build lacks the transports.
    #[cfg(feature = "web")]
    pub fn listeners(&self) -> Result<Option<ServerListeners>, String> {
        use core::net::{Ipv6Addr, SocketAddr};

        if !self.are_wanted() {
            return Ok(None);
        }
        let certificate = match (&self.certificate, &self.certificate_key) {
            (Some(chain), Some(key)) => ServerCertificate::from_pem_files(chain, key),
            _ => ServerCertificate::self_signed(["localhost", "127.0.0.1", "::1"]),
        };
        let certificate = certificate.map_err(|error| error.to_string())?;
        let any = |port: u16| SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
        let mut sessions = SessionListeners::default();
        if let Some(port) = self.web_transport {
            sessions = sessions.web_transport(any(port), certificate.clone());
        }
        if let Some(port) = self.web_socket {
            sessions = sessions.web_socket(any(port), (!self.web_socket_plain).then(|| certificate.clone()));
        }
        let (reloads, digest) = (self.certificate.is_some(), certificate.digest().to_string());
        Ok(Some(ServerListeners { sessions, reloads, digest }))
    }

    /// Returns no listeners.
    ///
    /// # Errors
    /// Returns one line when there should be some.
    #[cfg(not(feature = "web"))]
    pub fn listeners(&self) -> Result<Option<ServerListeners>, String> {
        if self.are_wanted() { Err(super::MISSING.to_owned()) } else { Ok(None) }
    }
}

impl ServerListeners {
    /// Adds them to the entity of a server that does not listen yet.
    #[cfg(feature = "web")]
    pub(crate) fn add_to(self, server: &mut EntityWorldMut<'_>) {
        server.insert(self.sessions);
    }

    /// Adds none.
    #[cfg(not(feature = "web"))]
    #[expect(clippy::unused_self, reason = "there are none without the feature")]
    pub(crate) fn add_to(self, _: &mut EntityWorldMut<'_>) {}
}

/// Reads the certificate again when the operator asks for it.
#[cfg(feature = "web")]
pub(crate) fn reload_certificates(_: On<ReloadSettings>, mut commands: Commands) {
    commands.trigger(ReloadCertificates);
}

/// Reads nothing: there are no certificates without the feature.
#[cfg(not(feature = "web"))]
pub(crate) fn reload_certificates(_: On<ReloadSettings>) {}

/// Returns the listeners beside UDP of a server that has started to listen.
///
/// # Errors
/// Returns one line when one of them could not be opened.
#[cfg(feature = "web")]
pub fn open_listeners(world: &mut World) -> Result<Vec<OpenListener>, String> {
    let mut open = Vec::new();
    for listeners in world.query::<&SessionListeners>().iter(world) {
        if listeners.has_failed() {
            return Err(
                "cannot listen for WebTransport or WebSocket, see the log; choose another port with \
                        --web-transport or --web-socket"
                    .to_owned(),
            );
        }
        open.extend(listeners.addresses().map(|(transport, address)| {
            let transport = match transport {
                SessionTransport::WebTransport => TransportName::WebTransport,
                SessionTransport::WebSocket => TransportName::WebSocket,
            };
            OpenListener { transport, port: address.port() }
        }));
    }
    Ok(open)
}

/// Returns nothing: there are no listeners without the feature.
///
/// # Errors
/// None.
#[cfg(not(feature = "web"))]
pub fn open_listeners(_: &mut World) -> Result<Vec<OpenListener>, String> {
    Ok(Vec::new())
}
