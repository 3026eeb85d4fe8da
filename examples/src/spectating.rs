//! Spectators of the shooter: who may watch, and a client that watches without a window.

use core::{net::SocketAddr, time::Duration};
use std::time::Instant;

use bevy::prelude::*;
use bevy_unlag::{
    core::BasePoses,
    guard::{ConnectTokenRequest, Kick, KickReason, ServerKey, token_data},
    net::{MatchRecording, PlayerJoined, RecordPlugin, Spectator, SpectatorConfig, SpectatorServerPlugin},
    net::{SpectatorPlugin, SpectatorStream},
    prelude::*,
    record::{Playback, PlaybackMarkKind},
};
use bevy_unlag_testkit::headless_app;
use lightyear::netcode::TokenUserData;
use serde_json::json;

use crate::{
    app::{self, ServerOptions},
    app_threads::{CLIENT_FRAME, run},
    arena::ArenaMap,
    connection::{self, PROTOCOL_ID},
    connection_monitor::ConnectionMonitor,
    recording,
    transport::ClientTransport,
};

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

/// Watches a match for `seconds` from the first picture on. Returns what was seen, as one JSON object.
///
/// # Errors
/// Returns one line when no server responds, it has no place, or the match cannot be watched.
pub fn watch(
    token: TokenClient,
    transport: ClientTransport,
    sim: NetSim,
    seconds: f64,
) -> Result<String, String> {
    /// Time without a picture beyond the delay of a server.
    const PATIENCE: Duration = Duration::from_secs(600);
    let mut monitor = ConnectionMonitor::spectator(token.server());
    let mut app = client(ServerOptions::game(default()));
    app.insert_resource(transport);
    connection::connect_udp_with_token(&mut app, token, sim);
    bevy_unlag_testkit::finish(&mut app);
    let (began, mut first, mut error) = (Instant::now(), None, None);
    run(&mut app, CLIENT_FRAME, |app| {
        let world = app.world_mut();
        error = monitor.fatal_error(world).map(|end| end.text);
        let stream = world.resource::<SpectatorStream>();
        error = error.take().or(stream.error().map(str::to_owned));
        if first.is_none() && world.contains_resource::<Playback>() {
            first = Some(Instant::now());
        }
        if first.is_none() && began.elapsed() > PATIENCE {
            error = Some("the server sends no picture".to_owned());
        }
        error.is_none() && first.is_none_or(|first| first.elapsed().as_secs_f64() < seconds)
    });
    match error {
        Some(line) => Err(line),
        None => Ok(summary(app.world_mut())),
    }
}

/// Returns what a spectator has seen.
fn summary(world: &mut World) -> String {
    let stream = world.resource::<SpectatorStream>().clone();
    let Some(playback) = world.get_resource::<Playback>() else { return "{}".to_owned() };
    let (index, bases) = (playback.index(), BasePoses::default());
    let pawns = playback.roster().pawns().map(|pawn| {
        let (pose, _) = playback.pose(pawn.id, &bases);
        json!({
            "pawn": pawn.id.0, "name": playback.name_of(pawn.id), "alive": pose.alive,
            "position": pose.position.to_array(),
        })
    });
    let deaths = index.marks().iter().filter(|mark| mark.kind == PlaybackMarkKind::Death).count();
    json!({
        "level": playback.setup().level, "seconds": playback.duration(), "seen": playback.seconds(),
        "segments": stream.segments(), "bytes": stream.bytes(),
        "pawns": pawns.collect::<Vec<_>>(), "shots": index.shots().len(), "deaths": deaths,
    })
    .to_string()
}
