//! Sessions of a browser, by lightyear's own clients.

use bevy::prelude::*;

#[cfg(feature = "websocket")]
use super::WebSocketClient;
#[cfg(feature = "webtransport")]
use super::WebTransportClient;

pub(super) fn plugin(app: &mut App) {
    #[cfg(feature = "webtransport")]
    {
        app.add_plugins(lightyear_webtransport::client::WebTransportClientPlugin)
            .add_observer(prepare_web_transport);
    }
    #[cfg(feature = "websocket")]
    {
        app.add_plugins(lightyear_websocket::client::WebSocketClientPlugin).add_observer(prepare_web_socket);
    }
}

/// Adds lightyear's client.
#[cfg(feature = "webtransport")]
fn prepare_web_transport(
    added: On<Insert, WebTransportClient>,
    clients: Query<&WebTransportClient>,
    mut commands: Commands,
) {
    let Ok(client) = clients.get(added.entity) else { return };
    let io = lightyear_webtransport::client::WebTransportClientIo {
        certificate_digest: client.digest.map_or_else(String::new, |digest| digest.to_string()),
        target: client.url.clone(),
    };
    commands.entity(added.entity).try_insert(io);
}

/// Adds lightyear's client.
#[cfg(feature = "websocket")]
fn prepare_web_socket(
    added: On<Insert, WebSocketClient>,
    clients: Query<&WebSocketClient>,
    mut commands: Commands,
) {
    use lightyear_websocket::client::{WebSocketClientIo, WebSocketScheme, WebSocketTarget};

    let Ok(client) = clients.get(added.entity) else { return };
    let target = match &client.url {
        Some(url) => WebSocketTarget::Url(url.clone()),
        None => WebSocketTarget::Addr(WebSocketScheme::Secure),
    };
    commands.entity(added.entity).try_insert(WebSocketClientIo { config: default(), target });
}
