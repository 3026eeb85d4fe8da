//! Late joiners of a running fight (row F16).

use bevy_unlag::smoothing::SmoothingStats;
use lightyear::prelude::{NetworkTarget, Replicate};
use unlag_examples::scripted_player::ScriptedPlayer;

use super::*;
use crate::{hold_still, stats};

/// The maximum downlink latency, in seconds.
const LATENCY: f32 = 0.06;
/// The maximum speed of a pawn, in metres per second: that of the longest fall in the arena.
const SPEED: f32 = 8.0;
/// For how long the server's positions count, in seconds: drawn poses lag by the latency and the playout
/// delay.
const POSITION_MEMORY: f64 = 0.5;

/// Recent positions of all pawns on the server: time, network id, position.
#[derive(Default)]
pub(super) struct RecentPositions(Vec<(f64, NetId, Vec3)>);

impl RecentPositions {
    pub fn note(&mut self, now: f64, server: &mut App) {
        self.0.retain(|(then, ..)| *then >= now - POSITION_MEMORY);
        let world = server.world_mut();
        let mut pawns = world.query::<(&NetId, &SoldierState)>();
        self.0.extend(pawns.iter(world).map(|(id, state)| (now, *id, state.body.position)));
    }

    /// The distance of `place` from the nearest recent position of a pawn on the server, in metres.
    pub fn distance(&self, id: NetId, place: Vec3) -> f32 {
        let of = self.0.iter().filter(|(_, other, _)| *other == id);
        of.map(|(.., there)| there.distance(place)).fold(f32::INFINITY, f32::min)
    }
}

/// The drawn positions of the living remote pawns.
pub(super) fn drawn_positions(client: &mut App) -> Vec<(NetId, Vec3)> {
    let world = client.world_mut();
    let mut drawn = world.query_filtered::<(&NetId, &DrawnPose), Without<LocalControl>>();
    let alive = drawn.iter(world).filter(|(_, drawn)| drawn.pose.alive);
    alive.map(|(id, drawn)| (*id, drawn.pose.position)).collect()
}

fn spawn_entities(game: &mut Match, things: u32) {
    for number in 0..things {
        let thing = (NetId(10_000 + number as u16), Replicate::to_clients(NetworkTarget::All));
        game.server.world_mut().spawn(thing);
    }
}

fn assert_join_among(things: u32) {
    let mut game =
        start_recorded(MatchOptions { players: 4, conditions: average(), ..MatchOptions::default() });
    spawn_entities(&mut game, things);
    game.set_firing(true);
    game.run(seconds(6.0));
    let before: Vec<_> = (0..4).map(|i| session_log(&game.clients[i]).corrected.len()).collect();
    let (mut lately, mut now) = (RecentPositions::default(), 0.0);
    while now < POSITION_MEMORY {
        game.run(seconds(0.01));
        now += 0.01;
        lately.note(now, &mut game.server);
    }

    let late = game.join().expect("a token");
    record_session_events(&mut game.clients[late]);
    let (mut passed, mut complete, mut farthest, mut pictures) = (0.0, None, 0.0_f32, 0);
    while passed < 4.0 {
        // One frame of the late joiner.
        game.run(seconds(0.01));
        passed += 0.01;
        lately.note(now + passed, &mut game.server);
        let playing = game.is_playing(late);
        let seen = drawn_positions(&mut game.clients[late]);
        for (id, place) in &seen {
            pictures += 1;
            let off = lately.distance(*id, *place);
            farthest = farthest.max(off);
            assert!(
                off < SPEED * LATENCY + 1.0,
                "{id:?} is drawn at {place} after {passed:.2} s, {off:.2} m from its position"
            );
            let at_origin = place.length() < 1.0;
            assert!(!at_origin || lately.distance(*id, Vec3::ZERO) < 1.0, "{id:?} is drawn at the origin");
        }
        let world = game.clients[late].world_mut();
        let all = world.query::<&NetId>().iter(world).count();
        // Some pawns may be dead at that moment.
        if playing && all == things as usize + 5 && seen.len() >= 2 {
            complete = complete.or(Some(passed));
        }
    }
    println!("{things} things: complete after {complete:?} s; drawn at most {farthest:.2} m off");
    let complete = complete.unwrap_or_else(|| panic!("the late joiner never received the whole world"));
    assert!(complete <= 1.0, "complete only after {complete} s");
    assert!(pictures > 300, "{pictures} drawn poses are too few");
    for (i, before) in before.into_iter().enumerate() {
        let errors = &session_log(&game.clients[i]).corrected[before..];
        assert!(errors.iter().all(|error| *error < 1.0), "client {i} was corrected by {errors:?} m");
    }
}

// Row F16.
#[test]
fn late_joiner_receives_the_whole_world_within_1_s() {
    assert_join_among(0);
}

// Row F16.
#[test]
fn late_joiner_receives_1000_entities_within_1_s() {
    assert_join_among(1_000);
}

// Row F16.
#[test]
fn late_joiner_causes_no_corrections_or_visible_jumps_for_other_players() {
    // Without contact between pawns there are no corrections on this link.
    let mut game =
        start_recorded(MatchOptions { players: 2, conditions: average(), ..MatchOptions::default() });
    for (seed, client) in (0..).zip(&mut game.clients) {
        client.world_mut().insert_resource(ScriptedPlayer::touring(seed));
    }
    spawn_entities(&mut game, 1_000);
    game.run(seconds(6.0));
    let count = |client: &mut App| {
        let SmoothingStats { snaps, resyncs, held, drawn, .. } = *client.world().resource::<SmoothingStats>();
        (drawn, [stats(client).corrections, snaps, resyncs, held])
    };
    let before: Vec<_> = (0..2).map(|i| count(&mut game.clients[i])).collect();
    let late = game.join().expect("a token");
    hold_still(&mut game.clients[late]);
    expect_time_until(&mut game, 2.0, |game| game.is_playing(late));
    game.run(seconds(3.0));
    for (i, (drawn, faults)) in before.into_iter().enumerate() {
        let (drawn_now, faults_now) = count(&mut game.clients[i]);
        // The other pawn in every frame, and later the new one, too.
        assert!(drawn_now - drawn > 400, "client {i} has drawn only {} poses", drawn_now - drawn);
        assert_eq!(faults_now, faults, "client {i}: corrections, snaps, resyncs and held frames");
        // The things have ids, too.
        assert_eq!(pawns(&mut game.clients[i]).len(), 1_000 + 3, "client {i} must have the new pawn");
    }
}
