//! Client ends of sessions: components that take the place of lightyear's `UdpIo`.

#[cfg(target_family = "wasm")]
mod browser;
#[cfg(not(target_family = "wasm"))]
mod native;

use bevy::prelude::*;
use lightyear::link::Link;
#[cfg(feature = "webtransport")]
use lightyear::link::LinkMtu;

use super::CertificateDigest;

/// WebTransport client. Spawn it before lightyear's `Client` and a [`TokenClient`](crate::TokenClient), as the first of
/// the bundle, since it sets the packet size of the link, and trigger `Connect`. A session that cannot be opened, or
/// that ends, disconnects the client.
///
/// ```
/// use bevy::prelude::*;
/// use lightyear_guard::{CertificateDigest, TokenClient, WebTransportClient};
/// use lightyear::prelude::{Client, Connect};
///
/// fn join(token: &[u8], digest: Option<CertificateDigest>, mut commands: Commands) -> Result {
///     let transport = WebTransportClient { digest, ..default() };
///     let entity = commands.spawn((transport, Client::default(), TokenClient::new(token)?)).id();
///     commands.trigger(Connect { entity });
///     Ok(())
/// }
/// ```
#[cfg(feature = "webtransport")]
#[derive(Component, Clone, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(Link = Link::default().with_mtu(LinkMtu::new(super::WEB_TRANSPORT_MTU)))]
pub struct WebTransportClient {
    /// URL of the server. Default: `https://` and the server's address in the token.
    pub url: Option<String>,
    /// Digest of the server's certificate; browsers accept one that is valid for two weeks at most. Default `None`: the
    /// system's or the browser's certificate authorities decide.
    pub digest: Option<CertificateDigest>,
}

/// WebSocket client, for networks that let nothing else through: every lost packet delays those behind it. Used like
/// [`WebTransportClient`].
#[cfg(feature = "websocket")]
#[derive(Component, Clone, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(Link)]
pub struct WebSocketClient {
    /// URL of the server, such as `ws://127.0.0.1:5001` for one without TLS. Default: `wss://` and the server's address
    /// in the token.
    pub url: Option<String>,
    /// Digest of the server's certificate. Browsers know no such thing for WebSocket and ignore it. Default `None`: the
    /// system's or the browser's certificate authorities decide.
    pub digest: Option<CertificateDigest>,
}

pub(crate) fn plugin(app: &mut App) {
    #[cfg(feature = "webtransport")]
    app.register_type::<WebTransportClient>();
    #[cfg(feature = "websocket")]
    app.register_type::<WebSocketClient>();
    app.register_type::<CertificateDigest>();
    #[cfg(target_family = "wasm")]
    browser::plugin(app);
    #[cfg(not(target_family = "wasm"))]
    native::plugin(app);
}
