//! Sessions: joining, leaving and reconnecting, match restarts and server shutdown.

mod fast_clocks;
mod handshake;
mod late_joiner;
mod link_churn;
mod reconnect_policy;
mod restart;
mod same_app_reconnect;
mod shutdown;

use bevy::prelude::*;
use bevy_unlag::{
    guard::{KickReason, KickedByServer, SetupDifference},
    link_conditioner::{LinkConditions, LinkPreset},
    net::{
        MatchRestarted, PlayerReturned, ProtocolMismatch, ServerShutdown, ServerStopped, SessionExpired,
        SetupMismatch,
    },
    prediction::Correction,
    prelude::*,
};
use lightyear::prelude::{Client, Connected};
use unlag_examples::stepped_match::{Match, MatchOptions};

use crate::seconds;

/// Session events and messages that a server or a client received.
#[derive(Resource, Default, Debug)]
struct SessionLog {
    joined: Vec<PlayerJoined>,
    returned: Vec<PlayerReturned>,
    left: Vec<PlayerLeft>,
    expired: Vec<SessionExpired>,
    restarted: Vec<MatchRestarted>,
    stopped: usize,
    kicked: Vec<KickReason>,
    shutdown: Vec<ServerShutdown>,
    setup: Vec<SetupDifference>,
    protocol: Vec<ProtocolMismatch>,
    /// The error of each correction of this client, in metres.
    corrected: Vec<f32>,
    /// Number of damage messages on this server.
    damage: usize,
}

fn record_session_events(app: &mut App) {
    app.init_resource::<SessionLog>()
        .add_observer(|event: On<PlayerJoined>, mut session_log: ResMut<SessionLog>| {
            session_log.joined.push(*event);
        })
        .add_observer(|event: On<PlayerReturned>, mut session_log: ResMut<SessionLog>| {
            session_log.returned.push(*event);
        })
        .add_observer(|event: On<PlayerLeft>, mut session_log: ResMut<SessionLog>| {
            session_log.left.push(*event);
        })
        .add_observer(|event: On<SessionExpired>, mut session_log: ResMut<SessionLog>| {
            session_log.expired.push(*event);
        })
        .add_observer(|event: On<MatchRestarted>, mut session_log: ResMut<SessionLog>| {
            session_log.restarted.push(*event);
        })
        .add_observer(|_: On<ServerStopped>, mut session_log: ResMut<SessionLog>| session_log.stopped += 1)
        .add_systems(Last, (record_client_messages, record_server_messages));
}

fn record_client_messages(
    mut session_log: ResMut<SessionLog>,
    kicked: Option<MessageReader<KickedByServer>>,
    shutdown: Option<MessageReader<ServerShutdown>>,
    setup: Option<MessageReader<SetupMismatch>>,
    protocol: Option<MessageReader<ProtocolMismatch>>,
    corrected: Option<MessageReader<Correction<Soldier>>>,
) {
    if let (Some(mut kicked), Some(mut shutdown), Some(mut setup)) = (kicked, shutdown, setup) {
        session_log.kicked.extend(kicked.read().map(|kicked| kicked.0));
        session_log.shutdown.extend(shutdown.read().copied());
        session_log.setup.extend(setup.read().map(|found| found.0));
    }
    if let (Some(mut protocol), Some(mut corrected)) = (protocol, corrected) {
        session_log.protocol.extend(protocol.read().copied());
        session_log.corrected.extend(corrected.read().map(|correction| correction.error));
    }
}

fn record_server_messages(mut session_log: ResMut<SessionLog>, damage: Option<MessageReader<Damage>>) {
    session_log.damage += damage.map_or(0, |mut damage| damage.read().count());
}

fn session_log(app: &App) -> &SessionLog {
    app.world().resource::<SessionLog>()
}

/// Starts a match whose server and clients record their events.
fn start_recorded(options: MatchOptions) -> Match {
    let mut game = Match::start_with(&options, record_session_events).expect("the match starts");
    game.clients.iter_mut().for_each(record_session_events);
    game
}

fn average() -> LinkConditions {
    LinkPreset::named("Average (UE)").expect("a built-in preset").conditions()
}

/// The pawns on an app, sorted by network id.
fn pawns(app: &mut App) -> Vec<(NetId, Entity)> {
    let world = app.world_mut();
    let mut pawns: Vec<_> =
        world.query::<(&NetId, Entity)>().iter(world).map(|(id, pawn)| (*id, pawn)).collect();
    pawns.sort();
    pawns
}

/// A component of the pawn with this network id.
fn component_of<T: Component + Clone>(app: &mut App, id: NetId) -> T {
    let world = app.world_mut();
    let mut pawns = world.query::<(&NetId, &T)>();
    pawns.iter(world).find(|(other, _)| **other == id).expect("the pawn is there").1.clone()
}

fn is_connected(client: &mut App) -> bool {
    let world = client.world_mut();
    world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count() == 1
}

/// The number of pawns that a client controls.
fn own_pawns(client: &mut App) -> usize {
    let world = client.world_mut();
    world.query_filtered::<(), (With<LocalControl>, With<NetId>)>().iter(world).count()
}

/// Runs the match until `so` holds and returns the time that passed, in seconds, with a resolution of 10 ms.
/// Panics after `most` seconds.
fn expect_time_until(game: &mut Match, most: f64, mut so: impl FnMut(&mut Match) -> bool) -> f64 {
    let mut passed = 0.0;
    while !so(game) {
        assert!(passed < most, "not within {most} s");
        game.run(seconds(0.01));
        passed += 0.01;
    }
    passed
}
