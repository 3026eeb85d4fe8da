//! Updates that no honest server sends.

use bevy::prelude::*;
use bevy_unlag_core::{ProxyUpdate, Snapshot, SnapshotHistory, Tick};
use bevy_unlag_smoothing::SnapshotInbox;

use super::harness::*;

#[test]
fn update_with_an_implausible_tick_is_dropped_and_counted() {
    let mut stage = Harness::new();
    let pawn = stage.pawn(None, 10.0, circle, |_| 3, |_| Some(0.05));
    stage.run(3.0);
    let entity = stage.pawns[pawn].entity;
    for tick in [FIRST.offset(1_000_000), FIRST.offset(-1_000_000), Tick(FIRST.0 ^ 0x8000_0000)] {
        let mut inbox = stage.app.world_mut().get_mut::<SnapshotInbox>(entity).expect("an inbox");
        inbox.0.push(Snapshot::new(tick, Vec3::splat(8_000.0), Vec3::ZERO).into());
        // A stray path knot invalidates its whole update.
        let now = FIRST.offset(3 * 64);
        let knot = Snapshot::new(tick, Vec3::splat(8_000.0), Vec3::ZERO);
        inbox.0.push(ProxyUpdate::new(Snapshot::new(now, Vec3::ZERO, Vec3::ZERO), &[knot]));
        stage.run(0.1);
    }
    stage.run(4.0);
    let seen = stage.pawns[pawn].after(2.0);
    assert_eq!(stage.stats().implausible, 6);
    assert!(
        distance_from_circle(seen) < 0.003 && largest_step(seen) < 0.11,
        "{}",
        distance_from_circle(seen)
    );
}

#[test]
fn history_is_bounded_and_poses_are_finite_under_a_flood_of_extreme_updates() {
    let mut stage = Harness::new();
    let pawn = stage.pawn(None, 10.0, circle, |_| 3, |_| Some(0.05));
    stage.run(2.0);
    let entity = stage.pawns[pawn].entity;
    for round in 0..50u32 {
        let mut inbox = stage.app.world_mut().get_mut::<SnapshotInbox>(entity).expect("an inbox");
        for k in 0..200 {
            let tick = FIRST.offset(128 + (round * 3 + k % 90).cast_signed());
            let odd = Snapshot {
                position: [i32::MAX, i32::MIN, k as i32],
                velocity: [i16::MIN, i16::MAX, 0],
                acceleration: [i8::MIN; 3],
                spin: Some(i16::MIN),
                crouch: 255,
                ..Snapshot::new(tick, Vec3::ZERO, Vec3::ZERO)
            };
            inbox.0.push(odd.into());
        }
        stage.run(0.05);
    }
    let history = stage.app.world().get::<SnapshotHistory>(entity).expect("a history");
    assert!(history.iter().len() <= 64);
    assert!(stage.pawns[pawn].seen.iter().all(|sight| sight.place.is_finite()));
}

#[test]
fn proxy_follows_another_server_after_a_restart() {
    let mut stage = Harness::new();
    let pawn = stage.pawn(None, 4.0, circle, |_| 3, |_| Some(0.05));
    stage.run(4.0);
    let entity = stage.pawns[pawn].entity;
    for tick in 0..200u32 {
        if tick.is_multiple_of(3) {
            let mut inbox = stage.app.world_mut().get_mut::<SnapshotInbox>(entity).expect("an inbox");
            inbox.0.push(Snapshot { tick: Tick(9_000_000 + tick), ..circle(tick) }.into());
        }
        stage.run(TICK);
    }
    let last = stage.pawns[pawn].seen.last().expect("seen");
    assert!(last.alive && last.place.length() > 4.9, "{last:?}");
    let moved = largest_step(&stage.pawns[pawn].seen[stage.pawns[pawn].seen.len() - 30..]);
    assert!(moved > 0.05, "the proxy must move again: {moved}");
}
