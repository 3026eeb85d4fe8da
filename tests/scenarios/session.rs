//! Sessions: joining, leaving and reconnecting, match restarts and server shutdown.

mod anywhere;
mod handshake;
mod late;
mod restart;
mod returning;
mod same_app;
mod shutdown;

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use lightyear::prelude::{Client, Connected};
use unlag_examples::stepped_match::{Match, MatchOptions};

use crate::seconds;

/// Session events and messages that a server or a client received.
#[derive(Resource, Default, Debug)]
struct Told {
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

fn listen(app: &mut App) {
    app.init_resource::<Told>()
        .add_observer(|event: On<PlayerJoined>, mut told: ResMut<Told>| told.joined.push(*event))
        .add_observer(|event: On<PlayerReturned>, mut told: ResMut<Told>| told.returned.push(*event))
        .add_observer(|event: On<PlayerLeft>, mut told: ResMut<Told>| told.left.push(*event))
        .add_observer(|event: On<SessionExpired>, mut told: ResMut<Told>| told.expired.push(*event))
        .add_observer(|event: On<MatchRestarted>, mut told: ResMut<Told>| told.restarted.push(*event))
        .add_observer(|_: On<ServerStopped>, mut told: ResMut<Told>| told.stopped += 1)
        .add_systems(Last, (hear_client, hear_server));
}

fn hear_client(
    mut told: ResMut<Told>,
    kicked: Option<MessageReader<KickedByServer>>,
    shutdown: Option<MessageReader<ServerShutdown>>,
    setup: Option<MessageReader<SetupMismatch>>,
    protocol: Option<MessageReader<ProtocolMismatch>>,
    corrected: Option<MessageReader<Correction<Soldier>>>,
) {
    if let (Some(mut kicked), Some(mut shutdown), Some(mut setup)) = (kicked, shutdown, setup) {
        told.kicked.extend(kicked.read().map(|kicked| kicked.0));
        told.shutdown.extend(shutdown.read().copied());
        told.setup.extend(setup.read().map(|found| found.0));
    }
    if let (Some(mut protocol), Some(mut corrected)) = (protocol, corrected) {
        told.protocol.extend(protocol.read().copied());
        told.corrected.extend(corrected.read().map(|correction| correction.error));
    }
}

fn hear_server(mut told: ResMut<Told>, damage: Option<MessageReader<Damage>>) {
    told.damage += damage.map_or(0, |mut damage| damage.read().count());
}

fn told(app: &App) -> &Told {
    app.world().resource::<Told>()
}

/// Starts a match whose server and clients record their events.
fn play(options: MatchOptions) -> Match {
    let mut game = Match::start_with(&options, listen).expect("the match starts");
    game.clients.iter_mut().for_each(listen);
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
fn of<T: Component + Clone>(app: &mut App, id: NetId) -> T {
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
fn time_until(game: &mut Match, most: f64, mut so: impl FnMut(&mut Match) -> bool) -> f64 {
    let mut passed = 0.0;
    while !so(game) {
        assert!(passed < most, "not within {most} s");
        game.run(seconds(0.01));
        passed += 0.01;
    }
    passed
}
