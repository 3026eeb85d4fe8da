//! Spectator without a window, and what it has seen.

use core::time::Duration;
use std::time::Instant;

use bevy::prelude::*;
use bevy_unlag::{
    core::BasePoses,
    net::SpectatorStream,
    prelude::*,
    record::{Playback, PlaybackMarkKind},
};
use serde_json::json;

use super::client;
use crate::{
    app::ServerOptions,
    app_threads::{CLIENT_FRAME, run},
    connection,
    connection_monitor::ConnectionMonitor,
    transport::ClientTransport,
};

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
    connection::connect_with_token(&mut app, token, sim);
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
