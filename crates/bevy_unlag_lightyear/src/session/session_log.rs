//! Log lines of a server's sessions: players who join, return and leave, its start and its stop.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::SimulationRate;
use lightyear::{
    connection::{client::Disconnecting, host::HostClient},
    prelude::{
        server::{ClientOf, Server, Started},
        *,
    },
};
use lightyear_guard::{LinkTraffic, LogConfig, PendingKick, client_name};

use super::{LeaveReason, PlayerJoined, PlayerReturned, ServerStopped, Shutdown};
use crate::protocol::ProtocolVersion;

/// Target of lines about players.
const PLAYERS: &str = "bevy_unlag::players";
/// Target of lines about the server.
pub(super) const SERVER: &str = "bevy_unlag::server";

/// On the server's end of a player's link: its join was logged.
#[derive(Component)]
struct LoggedJoin {
    /// Time of the join, on `Time<Real>`.
    at: Duration,
}

type Players<'w, 's> =
    Query<'w, 's, Entity, (With<ClientOf>, With<Connected>, Without<HostClient>, Without<PendingKick>)>;

pub(super) fn plugin(app: &mut App) {
    app.add_observer(log_join)
        .add_observer(log_return)
        .add_observer(log_leave)
        .add_observer(|shutdown: On<Shutdown>| {
            let reason = Some(shutdown.reason.as_str()).filter(|reason| !reason.is_empty());
            info!(target: SERVER, seconds = shutdown.after.as_secs(), reason, "stopping");
        })
        .add_observer(|_: On<ServerStopped>| info!(target: SERVER, "stopped"))
        .add_systems(First, log_start);
}

/// Logs the start with the rates. Runs a frame later, when the socket is bound and its port known.
fn log_start(
    started: Query<Option<&LocalAddr>, (With<Server>, Added<Started>)>,
    (rate, version): (Res<SimulationRate>, Res<ProtocolVersion>),
) {
    for address in &started {
        info!(
            target: SERVER,
            port = address.map(|address| address.0.port()),
            tick_hz = per_second(rate.tick),
            snapshot_hz = per_second(rate.snapshot_interval()),
            protocol = version.0,
            "started"
        );
    }
}

/// Returns how often an interval fits into a second, with two decimals.
fn per_second(interval: Duration) -> f64 {
    (100.0 / interval.as_secs_f64()).round() / 100.0
}

fn log_join(
    joined: On<PlayerJoined>,
    (time, log): (Res<Time<Real>>, Res<LogConfig>),
    addresses: Query<&PeerAddr>,
    players: Players,
    mut commands: Commands,
) {
    let address = log.address(addresses.get(joined.link).ok());
    let players = players.iter().count();
    info!(target: PLAYERS, client = %client_name(joined.peer), address, players, "joined");
    commands.entity(joined.link).try_insert(LoggedJoin { at: time.elapsed() });
}

fn log_return(
    returned: On<PlayerReturned>,
    (time, log): (Res<Time<Real>>, Res<LogConfig>),
    addresses: Query<&PeerAddr>,
    players: Players,
    mut commands: Commands,
) {
    let address = log.address(addresses.get(returned.link).ok());
    let players = players.iter().count();
    let away = returned.away.as_secs();
    info!(target: PLAYERS, client = %client_name(returned.peer), address, players, away, "returned");
    commands.entity(returned.link).try_insert(LoggedJoin { at: time.elapsed() });
}

type PlayerLink = (
    &'static RemoteId,
    &'static LoggedJoin,
    Option<&'static PeerAddr>,
    Option<&'static PendingKick>,
    Option<&'static LinkTraffic>,
    Has<Disconnecting>,
);

fn log_leave(
    gone: On<Remove, Connected>,
    (time, log): (Res<Time<Real>>, Res<LogConfig>),
    links: Query<PlayerLink, With<ClientOf>>,
    players: Players,
) {
    let link = gone.entity;
    let Ok((peer, joined, address, kick, traffic, is_closed)) = links.get(link) else { return };
    info!(
        target: PLAYERS,
        client = %client_name(peer.0),
        address = log.address(address),
        reason = LeaveReason::of(kick, traffic, is_closed).name(),
        kick = kick.map(|kick| bevy::log::tracing::field::debug(kick.reason)),
        seconds = time.elapsed().saturating_sub(joined.at).as_secs(),
        players = players.iter().filter(|player| *player != link).count(),
        "left"
    );
}
