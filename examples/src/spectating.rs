//! Spectators of the shooter: who may watch, and a client that watches without a window.

#[cfg(not(target_family = "wasm"))]
mod watch;

use core::net::SocketAddr;

use bevy::prelude::*;
use bevy_unlag::{
    guard::{ConnectTokenRequest, Kick, KickReason, ServerKey, token_data},
    net::SpectatorServerPlugin,
    net::{MatchRecording, PlayerJoined, RecordPlugin, Spectator, SpectatorConfig, SpectatorPlugin},
    prelude::*,
};
use bevy_unlag_testkit::headless_app;
use lightyear::netcode::TokenUserData;

use crate::{
    app::{self, ServerOptions},
    arena::ArenaMap,
    connection::PROTOCOL_ID,
    recording,
};

#[cfg(not(target_family = "wasm"))]
pub use watch::watch;

/// Data of the token with which a client joins as a spectator. A matchmaker writes it only for those who may.
pub const ROLE: &[u8] = b"spectator";

/// Lets a server admit spectators.
pub fn admit(app: &mut App, config: SpectatorConfig) {
    // It may record into a file as well.
    if !app.is_plugin_added::<RecordPlugin>() {
        app.add_plugins(recording::plugin(recording::REAL_TIME));
    }
    app.add_plugins(SpectatorServerPlugin).insert_resource(config).add_systems(Update, name_level);
}

/// Tells the recording which map is played.
fn name_level(map: Res<ArenaMap>, mut recording: ResMut<MatchRecording>) {
    if map.is_changed() {
        recording.set_level(map.name());
    }
}

/// Makes a client that joins a spectator, if that is what its token says. Returns whether it is one.
pub fn take_place(
    joined: &PlayerJoined,
    tokens: &Query<&TokenUserData>,
    config: Option<&SpectatorConfig>,
    commands: &mut Commands,
) -> bool {
    let watches = tokens.get(joined.link).is_ok_and(|token| token_data(token) == ROLE);
    if watches && config.is_some() {
        commands.entity(joined.link).insert(Spectator::default());
    } else if watches {
        commands.trigger(Kick { entity: joined.link, reason: KickReason::Spectators });
    }
    watches
}

/// Creates the token of a spectator for a server in development mode.
///
/// # Errors
/// Returns one line when the token cannot be created.
pub fn development_token(server: SocketAddr, client_id: u64) -> Result<TokenClient, String> {
    let data = ROLE.to_vec();
    let request = ConnectTokenRequest { data, ..ConnectTokenRequest::new(client_id, server, PROTOCOL_ID) };
    let token = request.issue(&ServerKey::development()).and_then(|token| TokenClient::new(&token));
    token.map_err(|error| format!("cannot create a connect token: {error}"))
}

/// Creates a client without a window that watches, of a server with these options.
pub fn client(options: ServerOptions) -> App {
    let mut app = headless_app();
    app::add_client(&mut app, options);
    app.add_plugins((PlayerControlsPlugin::default(), SpectatorPlugin::default()));
    app
}
