//! Simulated link conditions, changed at run time.

use bevy_unlag::{link_conditioner::LinkConditions, prelude::*};
use core::time::Duration;
use unlag_examples::stepped_match::MatchOptions;

use crate::{seconds, start, stats};

#[test]
fn measured_round_trip_follows_a_latency_change_within_1_s() {
    let mut game = start(MatchOptions { players: 1, ..MatchOptions::default() });
    game.run(seconds(2.0));
    let before = stats(&mut game.clients[0]).rtt;
    assert!(before < Duration::from_millis(60), "{before:?}");
    let mut set = |latency| {
        let world = game.clients[0].world_mut();
        for mut sim in world.query::<&mut NetSim>().iter_mut(world) {
            sim.set(LinkConditions { latency: Duration::from_millis(latency), ..LinkConditions::PERFECT });
        }
        game.run(seconds(1.0));
        stats(&mut game.clients[0]).rtt
    };
    let slow = set(200);
    assert!(slow > Duration::from_millis(360) && slow < Duration::from_millis(470), "{slow:?}");
    let fast = set(0);
    assert!(fast < Duration::from_millis(90), "{fast:?}");
}

#[test]
fn every_received_snapshot_is_buffered_at_8_frames_per_second() {
    // Each frame of 125 ms receives two or three snapshots.
    let mut game = start(MatchOptions { players: 2, fps: 8.0, ..MatchOptions::default() });
    game.run(seconds(4.0));
    let world = game.clients[0].world_mut();
    let mut proxies = world.query::<(&NetRole, &bevy_unlag::core::SnapshotHistory)>();
    let history = proxies.iter(world).find(|(role, _)| **role == NetRole::SimulatedProxy).expect("a proxy").1;
    let ticks: Vec<_> = history.iter().map(|snapshot| snapshot.tick).collect();
    assert!(ticks.len() > 40, "{ticks:?}");
    // Snapshots carry the owner's tick: that of a late move is a tick or two earlier, and one without changes
    // is not sent.
    let late = ticks.windows(2).filter(|pair| pair[1].since(pair[0]) != 3).count();
    assert!(late * 10 <= ticks.len(), "snapshots are missing: {ticks:?}");
    assert!(ticks.windows(2).all(|pair| (1..=6).contains(&pair[1].since(pair[0]))), "{ticks:?}");
}
