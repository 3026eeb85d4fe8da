//! Walking over ledges: overhang, perching and the refusal to walk off.

use bevy::prelude::*;
use bevy_unlag_movement::{CapsuleInput, CapsuleState};

use crate::common::*;

/// A table, 3 m high, that ends at x = 3 m and is long in z.
fn table() -> Level {
    Level::with_floor().block(Vec3::new(-9.0, 2.0, -50.0), Vec3::new(3.0, 3.0, 50.0))
}

#[test]
fn pawn_that_walks_over_a_ledge_falls_and_lands_below() {
    let mut app = table().build();
    let start = expect_standing(&mut app, Vec3::Y * 3.0);
    let (states, events) = run(&mut app, start, axis_inputs(127, 0, 128), SETTLE);
    assert_eq!(walked_off(&events), 1, "{events:?}");
    assert!(
        last_state(&states).is_grounded() && HOVER.contains(&last_state(&states).position.y),
        "{:?}",
        last_state(&states)
    );
}

/// Walks slowly over the edge at x = 3 m and returns the greatest overhang at which the pawn stayed
/// grounded.
fn expect_overhang(level: Level) -> f32 {
    let mut app = level.build();
    let start = expect_standing(&mut app, Vec3::new(2.0, 3.0, 0.0));
    let (states, _) = run(&mut app, start, axis_inputs(20, 0, 256), SETTLE);
    assert!(
        !states.iter().all(|s| s.is_grounded() && s.position.y > 2.6),
        "the pawn never walked off the table"
    );
    let up = states.iter().filter(|s| s.is_grounded() && s.position.y > 2.6);
    up.map(|s| s.position.x - 3.0).fold(0.0, f32::max)
}

#[test]
fn pawn_stands_over_an_edge_as_far_out_as_its_perch_radius_allows() {
    let whole = expect_overhang(table());
    assert!((0.31..0.345).contains(&whole), "{whole} m over the edge");
    let perched = expect_overhang(table().tune(|config| config.perch_radius_threshold = 0.15));
    assert!((0.16..0.195).contains(&perched), "{perched} m over the edge, with a threshold of 0.15 m");
}

#[test]
fn pawn_perches_on_an_edge_while_a_floor_is_close_below_its_centre() {
    for (drop, stays) in [(0.6, true), (1.1, false)] {
        let mut app = Level::new()
            .block(Vec3::new(-9.0, -1.0, -9.0), Vec3::new(3.0, 0.0, 9.0))
            .block(Vec3::new(3.0, -3.0, -9.0), Vec3::new(9.0, -drop, 9.0))
            .tune(|config| config.perch_radius_threshold = 0.15)
            .build();
        // Its centre is 0.25 m over the edge: outside the perch radius, on the capsule's rim.
        let start = CapsuleState::at(Vec3::new(3.25, 0.2, 0.0));
        let last = last_state(&run(&mut app, start, neutral_inputs(96), 0).0);
        assert_eq!(last.position.y > -0.3, stays, "a drop of {drop} m: {last:?}");
        assert!(last.is_grounded(), "a drop of {drop} m: {last:?}");
    }
}

#[test]
fn pawn_without_walk_off_ledges_stops_at_a_ledge() {
    for (sprint, crouch) in [(false, false), (true, false), (false, true)] {
        // Crouched pawns never walk off ledges by default.
        let mut app = table().tune(|config| config.walk_off_ledges = crouch).build();
        let start = expect_standing(&mut app, Vec3::Y * 3.0);
        let input = CapsuleInput { sprint, crouch, ..input_along(Vec3::X) };
        let (states, events) = run(&mut app, start, [input; 192], SETTLE);
        assert_eq!(walked_off(&events), 0, "sprint {sprint}, crouch {crouch}: {events:?}");
        let last = last_state(&states);
        assert!(last.position.y > 2.6 && last.is_grounded(), "sprint {sprint}, crouch {crouch}: {last:?}");
        assert!(last.position.x > 2.7, "the pawn stopped before the edge: {last:?}");
        let moved = last.position.distance(states[160].position);
        assert!(moved < 2e-3, "the pawn jitters at the edge: {moved} m in half a second");
    }
}

#[test]
fn pawn_without_walk_off_ledges_slides_along_a_ledge() {
    for rate in RATES {
        let mut app = table().rate(rate).tune(|config| config.walk_off_ledges = false).build();
        let start = expect_standing(&mut app, Vec3::new(2.5, 3.0, 0.0));
        let (states, events) = run(&mut app, start, axis_inputs(127, 127, 3 * rate as usize), SETTLE);
        let last = last_state(&states);
        assert_eq!(walked_off(&events), 0, "{events:?} at {rate}/s");
        assert!(last.position.y > 2.6 && last.is_grounded(), "at {rate}/s: {last:?}");
        // 4.2 m/s of the run are parallel to the edge.
        assert!(last.position.z < -6.0, "slid only {} m in 3 s at {rate}/s", -last.position.z);
    }
}

#[test]
fn pawn_without_walk_off_ledges_still_descends_stairs_and_jumps_off() {
    let mut app = Level::with_floor()
        .stairs(4, 0.3, 0.5)
        .tune(|config| {
            config.walk_off_ledges = false;
        })
        .build();
    let start = expect_standing(&mut app, Vec3::new(4.0, 1.2, 0.0));
    let (states, events) = run(&mut app, start, axis_inputs(-64, 0, 192), SETTLE);
    assert!(HOVER.contains(&last_state(&states).position.y), "down the stairs: {:?}", last_state(&states));
    assert_eq!(walked_off(&events), 0, "{events:?}");

    let mut app = table().tune(|config| config.walk_off_ledges = false).build();
    let start = expect_standing(&mut app, Vec3::Y * 3.0);
    let inputs =
        axis_inputs(127, 0, 24)
            .into_iter()
            .chain(vec![CapsuleInput { right: 127, jump: true, ..default() }; 128]);
    let last = last_state(&run(&mut app, start, inputs, SETTLE).0);
    assert!(HOVER.contains(&last.position.y) && last.position.x > 3.5, "off by a jump: {last:?}");
}
