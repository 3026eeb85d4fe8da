//! Delivery of snapshots: update rates, downlink budget and visibility (threat T30 in
//! `book/src/operations/link_protection.md`).

use std::collections::{BTreeSet, HashMap};

use bevy::prelude::*;
use bevy_unlag::{
    SoldierBody,
    core::{PathKnotConfig, SnapshotHistory, Tick},
    link_conditioner::{LinkConditions, LinkPreset},
    movement::{CapsuleState, MovementMode},
    net::{Bandwidth, DownlinkBudget, DroppedSnapshots, MessageClass, ReplicatedPawn, UpdateInterval},
    prelude::*,
    smoothing::PublishedPath,
    weapons::WeaponState,
};
use lightyear::prelude::{VisibilityExt, server::ClientOf};
use unlag_examples::{
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
};

use crate::{hold_still, own_id, seconds, start, state};

/// Spawns a standing pawn without an owner.
fn spawn_standing_pawn(game: &mut Match, id: u16, position: Vec3) -> Entity {
    let body = CapsuleState { mode: MovementMode::Walking, ..CapsuleState::at(position) };
    let state = SoldierState { body, extension: WeaponState::default() };
    game.server.world_mut().spawn((ReplicatedPawn, NetId(id), state, SoldierBody)).id()
}

/// Runs the match for `time` seconds and returns the ticks of the snapshots that a client receives, by pawn.
fn ticks(game: &mut Match, client: usize, time: f64) -> HashMap<NetId, Vec<Tick>> {
    let mut all: HashMap<NetId, Vec<Tick>> = HashMap::new();
    for step in 0..(time / 0.005) as u32 {
        game.run(seconds(0.005));
        let world = game.clients[client].world_mut();
        let mut pawns = world.query::<(&NetId, &SnapshotHistory)>();
        for (id, history) in pawns.iter(world) {
            let seen = all.entry(*id).or_default();
            if let Some(newest) = history.newest()
                && seen.last() != Some(&newest.tick)
            {
                seen.push(newest.tick);
            }
        }
        // The first snapshot only marks the start.
        if step == 0 {
            all.values_mut().for_each(|seen| seen.truncate(1));
        }
    }
    all
}

fn start_idle_match(players: u64, conditions: LinkConditions) -> Match {
    let mut game = start(MatchOptions { players, conditions, ..MatchOptions::default() });
    game.clients.iter_mut().for_each(hold_still);
    game.run(seconds(1.0));
    game
}

fn named(name: &str) -> LinkConditions {
    LinkPreset::named(name).expect("a built-in preset").conditions()
}

#[test]
fn pawns_are_updated_at_their_intervals_on_common_ticks() {
    let mut game = start_idle_match(1, named("Good broadband"));
    for (id, interval) in [(101, None), (102, Some(1)), (103, Some(16)), (104, Some(16)), (105, Some(64))] {
        let pawn = spawn_standing_pawn(&mut game, id, Vec3::new(f32::from(id) - 103.0, 0.9, -6.0));
        if let Some(interval) = interval {
            game.server.world_mut().entity_mut(pawn).insert(UpdateInterval(interval));
        }
    }
    game.run(seconds(2.0));
    let seen = ticks(&mut game, 0, 8.0);
    for (id, interval) in [(101, 3), (102, 1), (103, 16), (104, 16), (105, 64)] {
        let ticks = &seen[&NetId(id)];
        let spaces: Vec<_> = ticks.windows(2).map(|pair| pair[1].since(pair[0])).collect();
        let usual = spaces.iter().filter(|space| **space == interval).count();
        // Two snapshots of a pawn may arrive in one frame, and one in a thousand is lost.
        assert!(usual * 10 >= spaces.len() * if interval == 1 { 4 } else { 9 }, "{id}: {spaces:?}");
        assert!(ticks.iter().all(|tick| tick.0.is_multiple_of(interval.cast_unsigned())), "{id}: {ticks:?}");
    }
}

#[test]
fn latency_does_not_increase_snapshot_bytes() {
    let rate = |conditions| {
        let mut game = start(MatchOptions { players: 2, conditions, ..MatchOptions::default() });
        for (seed, client) in (0..).zip(&mut game.clients) {
            client.world_mut().insert_resource(ScriptedPlayer::touring(seed));
        }
        game.run(seconds(12.0));
        let bandwidth = *game.server.world().resource::<Bandwidth>();
        let snapshots = bandwidth.of(MessageClass::Snapshots);
        (snapshots.bytes_per_second, snapshots.messages_per_second)
    };
    let (near, messages) = rate(LinkConditions::PERFECT);
    assert!((38.0..46.0).contains(&messages), "{messages} messages/s to two clients");
    let (far, _) = rate(LinkConditions { latency: seconds(0.3), loss: 0.05, ..LinkConditions::PERFECT });
    println!("{near} and {far} bytes/s to two clients");
    // Snapshots of moves that a lost packet has delayed are sent at once, beside those that are due.
    assert!(
        near > 0.0 && (far - near).abs() < near * 0.2,
        "{near} bytes/s without latency, {far} bytes/s at 300 ms"
    );
}

// Row F11.
#[test]
fn full_downlink_prefers_near_pawns_starves_no_pawn_and_drops_tracers() {
    let mut results = Vec::new();
    for bytes_per_second in [64_000, 3_000] {
        let mut game = start_idle_match(2, LinkConditions::PERFECT);
        game.server.insert_resource(DownlinkBudget { bytes_per_second });
        let id = own_id(&mut game.clients[0]);
        let own = state(&mut game.server, id).body.position;
        for i in 0..40u16 {
            let way = if i < 4 { 4.0 } else { 60.0 + f32::from(i) };
            let (sin, cos) = (f32::from(i) * 0.7).sin_cos();
            spawn_standing_pawn(&mut game, 200 + i, own + Vec3::new(sin, 0.3, cos) * way);
        }
        game.run(seconds(2.0));
        let before = *game.clients[0].world().resource::<Bandwidth>();
        // The other player fires.
        game.clients[1].world_mut().insert_resource(ScriptedPlayer::new(5));
        game.clients[1].world_mut().resource_mut::<ScriptedPlayer>().may_fire = true;
        let seen = ticks(&mut game, 0, 10.0);
        let after = *game.clients[0].world().resource::<Bandwidth>();
        let bytes = |class| after.of(class).bytes - before.of(class).bytes;
        let count = |i: u16| seen[&NetId(200 + i)].len();
        let near = (0..4).map(count).min().unwrap_or(0);
        let far = (4..40).map(count).min().unwrap_or(0);
        let longest = (4..40).flat_map(|i| {
            let ticks = &seen[&NetId(200 + i)];
            ticks.windows(2).map(|pair| pair[1].since(pair[0])).collect::<Vec<_>>()
        });
        let longest = longest.max().unwrap_or(0);
        let (snapshots, tracers) = (bytes(MessageClass::Snapshots), bytes(MessageClass::Tracers));
        println!("{bytes_per_second}: {near} near, {far} far, {longest} ticks, {snapshots}, {tracers} bytes");
        let answers = bytes(MessageClass::MoveAcks);
        results.push((near, far, longest, snapshots, tracers, answers));
    }
    let (near, far, _, _, tracers, answers) = results[0];
    assert!(near >= 205 && far >= 205 && tracers > 50, "with a sufficient budget: {results:?}");
    let (near, far, longest, snapshots, none, told) = results[1];
    assert!(near >= 195, "near pawns have only {near} of 213 snapshots");
    assert!(far >= 10 && longest < 64 * 2, "far pawns have {far} snapshots and wait up to {longest} ticks");
    assert!(snapshots < 31_500, "{snapshots} bytes in ten seconds");
    assert_eq!(none, 0, "tracers were sent while pawns waited");
    assert!(
        told.abs_diff(answers) < answers / 10,
        "acknowledgements must not be delayed: {told}, {answers} bytes"
    );
}

// Threat T30.
#[test]
fn invisible_pawns_are_not_sent_to_the_client() {
    for retained in [false, true] {
        let mut game = start_idle_match(2, named("Good broadband"));
        let pawn = spawn_standing_pawn(&mut game, 300, Vec3::new(0.0, 0.9, -6.0));
        game.run(seconds(2.0));
        assert!(ticks(&mut game, 0, 1.0)[&NetId(300)].len() > 15, "the pawn must be visible at first");
        let id = own_id(&mut game.clients[0]);
        let world = game.server.world_mut();
        let mut pawns = world.query::<(&NetId, &lightyear::prelude::ControlledBy)>();
        let link = pawns.iter(world).find(|(other, _)| **other == id).map(|(_, by)| by.owner);
        let link = link.expect("the client has a pawn");
        assert!(world.get::<ClientOf>(link).is_some());
        if retained {
            world.lose_visibility_retained(pawn, link);
        } else {
            world.lose_visibility(pawn, link);
        }
        game.run(seconds(1.0));
        let dropped = |game: &Match| *game.clients[0].world().resource::<DroppedSnapshots>();
        let before = dropped(&game);
        let seen = ticks(&mut game, 0, 2.0);
        assert!(seen.get(&NetId(300)).is_none_or(|ticks| ticks.len() <= 1), "{seen:?}");
        assert_eq!(dropped(&game), before, "snapshots must not be sent and dropped by the client");
        assert!(
            ticks(&mut game, 1, 1.0)[&NetId(300)].len() > 15,
            "the other client must still receive the pawn"
        );
        game.server.world_mut().gain_visibility(pawn, link);
        game.run(seconds(1.0));
        assert!(ticks(&mut game, 0, 1.0)[&NetId(300)].len() > 15, "the pawn must be visible again");
    }
}

#[test]
fn pawn_is_not_drawn_before_its_first_snapshot() {
    let mut game = start_idle_match(1, LinkConditions { latency: seconds(0.05), ..LinkConditions::PERFECT });
    let pawn = spawn_standing_pawn(&mut game, 400, Vec3::new(0.0, 0.9, -6.0));
    // A long interval, so that there are frames before the first snapshot.
    game.server.world_mut().entity_mut(pawn).insert(UpdateInterval(200));
    let (mut without, mut drawn) = (0, 0);
    for _ in 0..1_400 {
        game.run(seconds(0.005));
        let world = game.clients[0].world_mut();
        let mut pawns = world.query::<(&NetId, &SnapshotHistory, &DrawnPose)>();
        if let Some((_, history, pose)) = pawns.iter(world).find(|(id, ..)| **id == NetId(400)) {
            without += u32::from(history.newest().is_none());
            drawn += u32::from(pose.pose.alive);
            assert!(history.newest().is_some() || !pose.pose.alive, "drawn without a snapshot");
            assert!(!pose.pose.alive || pose.pose.position.distance(Vec3::new(0.0, 0.9, -6.0)) < 0.01);
        }
    }
    assert!(without > 10 && drawn > 10, "{without} frames without a snapshot, {drawn} drawn");
}

/// Starts a match of a player who tours the arena and one who watches.
fn start_watched_tour(conditions: LinkConditions) -> (Match, NetId) {
    let mut game = start_idle_match(2, LinkConditions::PERFECT);
    let mut tour = ScriptedPlayer::touring(3);
    tour.may_fire = false;
    game.clients[0].world_mut().insert_resource(tour);
    game.run(seconds(1.0));
    let world = game.clients[1].world_mut();
    world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| sim.down = conditions);
    let id = own_id(&mut game.clients[0]);
    (game, id)
}

/// Returns the share of a touring player's snapshots that a watcher on a lossy downlink never receives.
fn missing_share(repeat_acceleration: f32) -> f64 {
    let (mut game, id) = start_watched_tour(LinkConditions { loss: 0.15, ..LinkConditions::PERFECT });
    // Updates bring nothing of the one before.
    let lost_update_tolerance = f32::INFINITY;
    game.server.insert_resource(PathKnotConfig { repeat_acceleration, lost_update_tolerance, ..default() });
    let [mut sent, mut known] = [BTreeSet::new(), BTreeSet::new()];
    for _ in 0..60 {
        game.run(seconds(0.5));
        let world = game.server.world_mut();
        let mut paths = world.query::<(&NetId, &PublishedPath)>();
        let (_, path) = paths.iter(world).find(|(one, _)| **one == id).expect("the pawn");
        sent.extend(path.sent.iter().map(|snapshot| snapshot.tick.0));
        let world = game.clients[1].world_mut();
        let mut histories = world.query::<(&NetId, &SnapshotHistory)>();
        let (_, history) = histories.iter(world).find(|(one, _)| **one == id).expect("the pawn");
        known.extend(history.iter().map(|snapshot| snapshot.tick.0));
    }
    // The watcher does not know the first ones, nor the last.
    let sent: Vec<_> = sent.into_iter().skip(100).collect();
    let sent = &sent[..sent.len() - 3];
    assert!(sent.len() > 400, "{} snapshots", sent.len());
    sent.iter().filter(|tick| !known.contains(tick)).count() as f64 / sent.len() as f64
}

/// Fails if `publish` sends nothing again.
#[test]
fn update_that_a_client_cannot_foresee_is_sent_again_in_the_next_tick() {
    let always = missing_share(0.0);
    let never = missing_share(f32::INFINITY);
    assert!(never > 0.1, "control: {never} of the snapshots are missing");
    assert!(always < never * 0.6, "{always} of the snapshots are missing, and {never} if none is sent twice");
}

/// Fails if `publish` sends only what is due.
#[test]
fn snapshots_of_late_moves_are_sent_in_the_tick_in_which_they_run() {
    let (mut game, id) = start_watched_tour(LinkConditions::PERFECT);
    let mut off_beat = 0;
    for tick in 0..64 * 20 {
        // Every second the uplink waits for 80 ms.
        let late = if tick % 64 < 5 { 0.015_625 * f64::from(5 - tick % 64) } else { 0.0 };
        let world = game.clients[0].world_mut();
        world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| sim.up.latency = seconds(late));
        game.run(seconds(1.0 / 64.0));
        let world = game.server.world_mut();
        let mut paths = world.query::<(&NetId, &PublishedPath)>();
        let (_, path) = paths.iter(world).find(|(one, _)| **one == id).expect("the pawn");
        assert!(!path.is_overdue(), "in tick {tick}");
        let newest = path.sent.newest().map(|newest| newest.tick);
        let now = path.recorded().map(|(now, _)| now);
        off_beat += u32::from(newest == now && now.is_some_and(|now| !now.0.is_multiple_of(3)));
    }
    assert!(off_beat >= 3, "{off_beat} updates between the regular ones");
}
