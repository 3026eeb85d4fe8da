//! The same app comes back, as a player's game does after an outage: nothing in it is new but the link.

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
    late::{Lately, drawn},
    *,
};
use crate::{hold_still, own_id, state};

/// How an app comes by its next connection.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Its line was cut until both ends had noticed; it spawns another link.
    AnotherLink,
    /// It hung up; it dials again on the link that it has.
    TheSameLink,
}

fn link_of(game: &mut Match) -> Entity {
    let world = game.clients[0].world_mut();
    world.query_filtered::<Entity, With<Client>>().single(world).expect("one link")
}

/// Ends the connection, both ends know of it, and the app gets another one.
fn end_and_join(game: &mut Match, way: Way, id: NetId) {
    let listener = {
        let world = game.server.world_mut();
        world.query_filtered::<Entity, With<NetcodeServer>>().single(world).expect("one listens")
    };
    let old = link_of(game);
    match way {
        Way::AnotherLink => {
            let world = game.clients[0].world_mut();
            let dark = LinkConditions { loss: 1.0, ..LinkConditions::PERFECT };
            world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| sim.set(dark));
        }
        Way::TheSameLink => game.disconnect(0),
    }
    time_until(game, 4.0, |game| !is_connected(&mut game.clients[0]) && is_absent(game, id));
    // It stands there without a connection for a while.
    game.run(seconds(1.0));
    match way {
        Way::AnotherLink => {
            game.clients[0].world_mut().despawn(old);
            let sim = NetSim::new(77).with(average());
            let apps = &mut **game;
            connection::join(&mut apps.server, listener, &mut apps.clients[0], 1, sim).expect("a token");
        }
        Way::TheSameLink => {
            let server = SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT));
            let token = TokenClient::development(1, server, PROTOCOL_ID).expect("a token");
            let from = SocketAddr::from((Ipv4Addr::LOCALHOST, 901));
            // A socket is there for as long as the app; a channel is closed when one end is dropped.
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

/// The server's pawn of this name.
fn pawn(game: &mut Match, id: NetId) -> Entity {
    pawns(&mut game.server).into_iter().find(|(other, _)| *other == id).expect("it is there").1
}

/// The rounds of the first client so far.
fn tally(game: &Match) -> HitCounts {
    game.clients[0].world().resource::<ShotStats>().tally()
}

/// Rounds of a fight, until all of them are judged.
fn fight(game: &mut Match) -> HitCounts {
    let before = tally(game);
    game.fight(12.0);
    tally(game) - before
}

/// What the app shows of the others for a while, and how far it is at most from where they are or were lately.
fn look(game: &mut Match, id: NetId, time: f64) -> f32 {
    let (mut lately, mut farthest, mut pictures, mut frames) = (Lately::default(), 0.0_f32, 0, 0);
    let mut now = 0.0;
    while now < time {
        game.run(seconds(0.01));
        now += 0.01;
        lately.note(now, &mut game.server);
        // Until it is known where they were.
        if now < 0.5 {
            continue;
        }
        frames += 1;
        for (other, place) in drawn(&mut game.clients[0]) {
            assert_ne!(other, id, "it sees itself as somebody else");
            pictures += 1;
            farthest = farthest.max(lately.distance(other, place));
        }
    }
    assert_eq!(pictures, 2 * frames, "both others are drawn in every frame, and nobody else");
    farthest
}

fn comes_back(way: Way) {
    let mut game = play(MatchOptions { players: 3, conditions: average(), ..MatchOptions::default() });
    let id = own_id(&mut game.clients[0]);
    let (body, first) = (pawn(&mut game, id), fight(&mut game));
    // Who has died is back.
    game.run(seconds(4.0));
    end_and_join(&mut game, way, id);
    let moves = of::<PredictionStats>(&mut game.server, id).moves;
    let steers = time_until(&mut game, 2.0, |game| {
        game.is_playing(0) && of::<PredictionStats>(&mut game.server, id).moves > moves + 10
    });
    game.run(seconds(2.0 - steers));
    assert_eq!((own_pawns(&mut game.clients[0]), own_id(&mut game.clients[0])), (1, id), "the same pawn");
    assert_eq!((pawn(&mut game, id), is_absent(&mut game, id)), (body, false));
    let names = |app: &mut App| pawns(app).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(names(&mut game.clients[0]), names(&mut game.server), "no ghosts and no doubles");
    let said = told(&game.server);
    assert_eq!((said.joined.len(), said.returned.len(), said.expired.len()), (3, 1, 0));

    let corrected = told(&game.clients[0]).corrected.len();
    let from = state(&mut game.server, id).body.position;
    let farthest = look(&mut game, id, 3.0);
    let went = state(&mut game.server, id).body.position.distance(from);
    let second = fight(&mut game);
    eprintln!(
        "{way:?}: steers after {steers:.2} s, others at most {farthest:.2} m off; {first:?}, then {second:?}"
    );
    assert!(farthest < 1.0, "{way:?}: somebody is drawn {farthest} m from where it is");
    assert!(went > 0.1, "{way:?}: it went {went} m");
    let (before, after) = (first.agreement().unwrap_or(0.0), second.agreement().unwrap_or(0.0));
    assert!(first.drawn > 10 && second.drawn > 10, "{way:?}: {first:?}, {second:?}");
    assert!(after >= before.min(95.0), "{way:?}: hits agree by {before} %, and {after} % afterwards");
    let errors = &told(&game.clients[0]).corrected[corrected..];
    assert!(errors.iter().all(|error| *error < 1.0), "{way:?}: it was corrected by {errors:?} m");

    for client in &mut game.clients {
        hold_still(client);
    }
    game.run(seconds(2.0));
    let (here, there) = (state(&mut game.clients[0], id), state(&mut game.server, id));
    let apart = here.body.position.distance(there.body.position);
    assert!(apart < 0.01, "{way:?}: it is {apart} m from the server");
}

#[test]
fn with_another_link_after_its_line_was_cut() {
    comes_back(Way::AnotherLink);
}

#[test]
fn on_the_link_that_it_hung_up() {
    comes_back(Way::TheSameLink);
}
