//! Reconnect of the same app, as after an outage: only the link is new (row F15).

use bevy_unlag::{
    net::AwaitingReconnect,
    weapons::{ShotRefusal, ShotResult},
};
use std::net::{Ipv4Addr, SocketAddr};

use lightyear::{
    crossbeam::CrossbeamIo,
    link::{Link, Linked},
    prelude::{Connect, LinkOf, PeerAddr, server::NetcodeServer},
};
use unlag_examples::{
    connection::{self, DEFAULT_PORT, PROTOCOL_ID},
    shot_stats::{HitCounts, ShotStats},
};

use super::{
    late_joiner::{RecentPositions, drawn_positions},
    *,
};
use crate::{
    fire::{ClientShotLog, record_shots},
    hold_still, own_id, start, state,
};

/// Manner in which an app reconnects.
#[derive(Clone, Copy, Debug)]
enum ReconnectPath {
    /// Its link was silent until both ends had timed out; it spawns another link.
    NewLink,
    /// It disconnected; it reconnects on the same link entity.
    SameLink,
}

const NO_PACKETS: LinkConditions = LinkConditions { loss: 1.0, ..LinkConditions::PERFECT };

fn link_of(game: &mut Match) -> Entity {
    let world = game.clients[0].world_mut();
    world.query_filtered::<Entity, With<Client>>().single(world).expect("one link")
}

/// Replaces the first client's dead link with a new one.
fn join_on_new_link(game: &mut Match) {
    let (old, listener) = (link_of(game), game.listener);
    game.clients[0].world_mut().despawn(old);
    let sim = NetSim::new(77).with(average());
    let apps = &mut **game;
    connection::join(&mut apps.server, listener, &mut apps.clients[0], 1, sim).expect("a token");
}

/// Ends the connection, waits until both ends know, and reconnects.
fn reconnect(game: &mut Match, way: ReconnectPath, id: NetId) {
    let listener = {
        let world = game.server.world_mut();
        world.query_filtered::<Entity, With<NetcodeServer>>().single(world).expect("one listener")
    };
    let old = link_of(game);
    match way {
        ReconnectPath::NewLink => {
            let world = game.clients[0].world_mut();
            world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| sim.set(NO_PACKETS));
        }
        ReconnectPath::SameLink => game.disconnect(0),
    }
    expect_time_until(game, 4.0, |game| !is_connected(&mut game.clients[0]) && is_absent(game, id));
    // The app runs without a connection for a while.
    game.run(seconds(1.0));
    match way {
        ReconnectPath::NewLink => join_on_new_link(game),
        ReconnectPath::SameLink => {
            let server = SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT));
            let token = TokenClient::development(1, server, PROTOCOL_ID).expect("a token");
            let from = SocketAddr::from((Ipv4Addr::LOCALHOST, 901));
            // A socket lives as long as the app; a channel is closed when one end is dropped.
            let (here, there) = CrossbeamIo::new_pair();
            let end = (LinkOf { server: listener }, Link::default(), PeerAddr(from), Linked, there);
            game.server.world_mut().spawn(end);
            let world = game.clients[0].world_mut();
            world.entity_mut(old).insert((token, here));
            world.trigger(Connect { entity: old });
            world.flush();
            assert_eq!(link_of(game), old);
        }
    }
}

fn is_absent(game: &mut Match, id: NetId) -> bool {
    let world = game.server.world_mut();
    world.query_filtered::<&NetId, With<AwaitingReconnect>>().iter(world).any(|other| *other == id)
}

/// The server's pawn with this network id.
fn pawn(game: &mut Match, id: NetId) -> Entity {
    pawns(&mut game.server).into_iter().find(|(other, _)| *other == id).expect("the pawn exists").1
}

/// The shot statistics of the first client so far.
fn hit_counts(game: &Match) -> HitCounts {
    game.clients[0].world().resource::<ShotStats>().tally()
}

/// Runs a fight until all shots have verdicts, and returns its shot statistics.
fn fight(game: &mut Match) -> HitCounts {
    let before = hit_counts(game);
    game.fight(12.0);
    hit_counts(game) - before
}

/// Returns the maximum distance of drawn remote pawns from their recent positions on the server, in metres,
/// and asserts that both remote pawns are drawn in every frame.
fn expect_remote_pawns_drawn(game: &mut Match, id: NetId, time: f64) -> f32 {
    let (mut lately, mut farthest, mut pictures, mut frames) = (RecentPositions::default(), 0.0_f32, 0, 0);
    let mut now = 0.0;
    while now < time {
        game.run(seconds(0.01));
        now += 0.01;
        lately.note(now, &mut game.server);
        // Until the recent positions are known.
        if now < 0.5 {
            continue;
        }
        frames += 1;
        for (other, place) in drawn_positions(&mut game.clients[0]) {
            assert_ne!(other, id, "the client draws its own pawn as a remote one");
            pictures += 1;
            farthest = farthest.max(lately.distance(other, place));
        }
    }
    assert_eq!(pictures, 2 * frames, "exactly two remote pawns must be drawn in every frame");
    farthest
}

fn assert_reconnects(way: ReconnectPath) {
    let mut game =
        start_recorded(MatchOptions { players: 3, conditions: average(), ..MatchOptions::default() });
    let id = own_id(&mut game.clients[0]);
    let (body, first) = (pawn(&mut game, id), fight(&mut game));
    // Dead pawns respawn.
    game.run(seconds(4.0));
    reconnect(&mut game, way, id);
    let moves = component_of::<PredictionStats>(&mut game.server, id).moves;
    let steers = expect_time_until(&mut game, 2.0, |game| {
        game.is_playing(0) && component_of::<PredictionStats>(&mut game.server, id).moves > moves + 10
    });
    game.run(seconds(2.0 - steers));
    assert_eq!(
        (own_pawns(&mut game.clients[0]), own_id(&mut game.clients[0])),
        (1, id),
        "the client must regain its pawn"
    );
    assert_eq!((pawn(&mut game, id), is_absent(&mut game, id)), (body, false));
    let names = |app: &mut App| pawns(app).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(
        names(&mut game.clients[0]),
        names(&mut game.server),
        "the client must have the same pawns as the server"
    );
    let said = session_log(&game.server);
    assert_eq!((said.joined.len(), said.returned.len(), said.expired.len()), (3, 1, 0));

    let corrected = session_log(&game.clients[0]).corrected.len();
    let from = state(&mut game.server, id).body.position;
    let farthest = expect_remote_pawns_drawn(&mut game, id, 3.0);
    let went = state(&mut game.server, id).body.position.distance(from);
    let second = fight(&mut game);
    eprintln!(
        "{way:?}: control after {steers:.2} s, remote pawns {farthest:.2} m off; {first:?}, {second:?}"
    );
    assert!(farthest < 1.0, "{way:?}: a remote pawn is drawn {farthest} m from its position");
    assert!(went > 0.1, "{way:?}: the pawn moved only {went} m");
    let (before, after) = (first.agreement().unwrap_or(0.0), second.agreement().unwrap_or(0.0));
    assert!(first.drawn > 10 && second.drawn > 10, "{way:?}: {first:?}, {second:?}");
    assert!(after >= before.min(95.0), "{way:?}: {before} % of hits agree before, {after} % afterwards");
    let errors = &session_log(&game.clients[0]).corrected[corrected..];
    assert!(errors.iter().all(|error| *error < 1.0), "{way:?}: the client was corrected by {errors:?} m");

    for client in &mut game.clients {
        hold_still(client);
    }
    game.run(seconds(2.0));
    let (here, there) = (state(&mut game.clients[0], id), state(&mut game.server, id));
    let apart = here.body.position.distance(there.body.position);
    assert!(apart < 0.01, "{way:?}: the pawn is {apart} m from the server");
}

// Row F15.
#[test]
fn app_regains_its_pawn_on_a_new_link_after_a_timeout() {
    assert_reconnects(ReconnectPath::NewLink);
}

// Row F15.
#[test]
fn app_regains_its_pawn_on_the_same_link_after_a_disconnect() {
    assert_reconnects(ReconnectPath::SameLink);
}

fn hold_trigger(client: &mut App) {
    let world = client.world_mut();
    let mut own = world.query_filtered::<&mut WeaponControls, With<LocalControl>>();
    own.single_mut(world).expect("a trigger").set_fire(true);
}

fn shot_log(game: &Match) -> &ClientShotLog {
    game.clients[0].world().resource::<ClientShotLog>()
}

/// The first client's shots without an answer.
fn unanswered(game: &Match) -> Vec<u32> {
    let log = shot_log(game);
    log.fired.keys().filter(|shot| !log.verdicts.contains_key(*shot)).copied().collect()
}

/// Fails without the answers of the observer of `ServerLeft` in `bevy_unlag_weapons/src/reset.rs`: the shots would wait
/// for 5 s, the usual time for a verdict.
#[test]
fn every_shot_is_answered_when_a_blackout_of_4_s_ends_the_connection() {
    let options = MatchOptions { players: 1, conditions: average(), ..MatchOptions::default() };
    assert_eq!(options.timeout, seconds(3.0), "the default");
    let mut game = start(options);
    record_shots(&mut game);
    let id = own_id(&mut game.clients[0]);
    hold_still(&mut game.clients[0]);
    hold_trigger(&mut game.clients[0]);
    game.run(seconds(3.0));
    let before = shot_log(&game).fired.len();

    game.set_conditions(NO_PACKETS);
    let mut pending = Vec::new();
    let ended = expect_time_until(&mut game, 4.0, |game| {
        let connected = is_connected(&mut game.clients[0]);
        if connected {
            pending = unanswered(game);
        }
        !connected
    });
    assert!(ended > 2.5, "the connection ended after {ended} s");
    game.run(seconds(4.0 - ended));
    let fired = shot_log(&game).fired.len();
    eprintln!(
        "{before} shots before, {} in the dark; {} without an answer when the connection ended",
        fired - before,
        pending.len()
    );
    assert!(before > 20 && pending.len() > 5, "control: {pending:?} of {fired} shots were pending");
    let open = unanswered(&game);
    assert!(open.is_empty(), "{open:?} of {fired} shots have no answer 1 s after the connection ended");
    let missing = [ShotResult::Refused(ShotRefusal::MissingMove)];
    for shot in &pending {
        assert_eq!(shot_log(&game).verdicts[shot], missing, "{shot}");
    }

    assert!(is_absent(&mut game, id), "the server has ended the connection, too");
    join_on_new_link(&mut game);
    expect_time_until(&mut game, 2.0, |game| game.is_playing(0));
    game.run(seconds(0.2));
    hold_trigger(&mut game.clients[0]);
    game.run(seconds(3.0));
    hold_still(&mut game.clients[0]);
    game.run(seconds(2.0));
    let (log, open) = (shot_log(&game), unanswered(&game));
    assert!(open.is_empty(), "{open:?} of {} shots have no answer", log.fired.len());
    assert!(log.fired.len() > fired + 10, "control: only {} shots on the new link", log.fired.len() - fired);
    assert!(log.verdicts.values().all(|answers| answers.len() == 1), "each has one: {:?}", log.verdicts);
    let last = log.verdicts.values().next_back().and_then(|answers| answers.first());
    assert!(last.is_some_and(|answer| *answer != missing[0]), "control: the server answers again: {last:?}");
}
