//! Joining a running fight.

use bevy_unlag::smoothing::SmoothingStats;
use lightyear::prelude::{NetworkTarget, Replicate};
use unlag_examples::scripted_player::ScriptedPlayer;

use super::*;
use crate::{hold_still, stats};

/// The longest way from the server to a client, in seconds.
const LATENCY: f32 = 0.06;
/// Nobody is faster, in metres per second: the longest fall in the arena.
const SPEED: f32 = 8.0;
/// For how long the server's places count, in seconds: what is drawn is later than the way here by the playout delay.
const LATE: f64 = 0.5;

/// Where the server had everybody lately: when, who, where.
#[derive(Default)]
pub(super) struct Lately(Vec<(f64, NetId, Vec3)>);

impl Lately {
    pub fn note(&mut self, now: f64, server: &mut App) {
        self.0.retain(|(then, ..)| *then >= now - LATE);
        let world = server.world_mut();
        let mut pawns = world.query::<(&NetId, &SoldierState)>();
        self.0.extend(pawns.iter(world).map(|(id, state)| (now, *id, state.body.position)));
    }

    /// How far a place is from where the server has a pawn or had it lately.
    pub fn distance(&self, id: NetId, place: Vec3) -> f32 {
        let of = self.0.iter().filter(|(_, other, _)| *other == id);
        of.map(|(.., there)| there.distance(place)).fold(f32::INFINITY, f32::min)
    }
}

/// What of the others is drawn.
pub(super) fn drawn(client: &mut App) -> Vec<(NetId, Vec3)> {
    let world = client.world_mut();
    let mut drawn = world.query_filtered::<(&NetId, &DrawnPose), Without<LocalControl>>();
    let alive = drawn.iter(world).filter(|(_, drawn)| drawn.pose.alive);
    alive.map(|(id, drawn)| (*id, drawn.pose.position)).collect()
}

fn add_things(game: &mut Match, things: u32) {
    for number in 0..things {
        let thing = (Health::full(number as f32 + 1.0), Replicate::to_clients(NetworkTarget::All));
        game.server.world_mut().spawn(thing);
    }
}

fn join_among(things: u32) {
    let mut game = play(MatchOptions { players: 4, conditions: average(), ..MatchOptions::default() });
    add_things(&mut game, things);
    game.set_firing(true);
    game.run(seconds(6.0));
    let before: Vec<_> = (0..4).map(|i| told(&game.clients[i]).corrected.len()).collect();
    let (mut lately, mut now) = (Lately::default(), 0.0);
    while now < LATE {
        game.run(seconds(0.01));
        now += 0.01;
        lately.note(now, &mut game.server);
    }

    let late = game.join().expect("a token");
    listen(&mut game.clients[late]);
    let (mut passed, mut complete, mut farthest, mut pictures) = (0.0, None, 0.0_f32, 0);
    while passed < 4.0 {
        // A frame of the one who joins.
        game.run(seconds(0.01));
        passed += 0.01;
        lately.note(now + passed, &mut game.server);
        let playing = game.is_playing(late);
        let seen = drawn(&mut game.clients[late]);
        for (id, place) in &seen {
            pictures += 1;
            let off = lately.distance(*id, *place);
            farthest = farthest.max(off);
            assert!(
                off < SPEED * LATENCY + 1.0,
                "{id:?} is drawn at {place} after {passed:.2} s, {off:.2} m from where it was"
            );
            let at_origin = place.length() < 1.0;
            assert!(!at_origin || lately.distance(*id, Vec3::ZERO) < 1.0, "{id:?} is drawn at the origin");
        }
        let world = game.clients[late].world_mut();
        let all = world.query::<&Health>().iter(world).count();
        // Somebody may be dead at that moment.
        if playing && all == things as usize + 5 && seen.len() >= 2 {
            complete = complete.or(Some(passed));
        }
    }
    println!("{things} things: all there after {complete:?} s; at most {farthest:.2} m from its place");
    let complete = complete.unwrap_or_else(|| panic!("never complete"));
    assert!(complete <= 1.0, "after {complete} s");
    assert!(pictures > 300, "{pictures} pictures are too few to say anything");
    for (i, before) in before.into_iter().enumerate() {
        let errors = &told(&game.clients[i]).corrected[before..];
        assert!(errors.iter().all(|error| *error < 1.0), "client {i} was corrected by {errors:?} m");
    }
}

#[test]
fn the_whole_world_is_there_within_a_second() {
    join_among(0);
}

#[test]
fn and_so_are_a_thousand_things() {
    join_among(1_000);
}

#[test]
fn nobody_who_plays_is_corrected_or_sees_anybody_jump() {
    // Whoever meets nobody is never corrected on this link.
    let mut game = play(MatchOptions { players: 2, conditions: average(), ..MatchOptions::default() });
    for (seed, client) in (0..).zip(&mut game.clients) {
        client.world_mut().insert_resource(ScriptedPlayer::touring(seed));
    }
    add_things(&mut game, 1_000);
    game.run(seconds(6.0));
    let count = |client: &mut App| {
        let SmoothingStats { snaps, resyncs, held, drawn, .. } = *client.world().resource::<SmoothingStats>();
        (drawn, [stats(client).corrections, snaps, resyncs, held])
    };
    let before: Vec<_> = (0..2).map(|i| count(&mut game.clients[i])).collect();
    let late = game.join().expect("a token");
    hold_still(&mut game.clients[late]);
    time_until(&mut game, 2.0, |game| game.is_playing(late));
    game.run(seconds(3.0));
    for (i, (drawn, faults)) in before.into_iter().enumerate() {
        let (drawn_now, faults_now) = count(&mut game.clients[i]);
        // The other one in every frame, and then the new one too.
        assert!(drawn_now - drawn > 400, "client {i} has drawn {} pictures", drawn_now - drawn);
        assert_eq!(faults_now, faults, "client {i}: corrections, snaps, resyncs and frames that stood");
        assert_eq!(pawns(&mut game.clients[i]).len(), 3, "client {i} sees the new one");
    }
}
