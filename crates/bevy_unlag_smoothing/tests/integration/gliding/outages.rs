//! Gaps, late updates and reordering.

use bevy::prelude::*;
use bevy_unlag_core::{PathKnotConfig, Snapshot, Tick};
use bevy_unlag_smoothing::{PlayoutConfig, ProxyTime};

use super::harness::*;

fn straight(tick: u32) -> Snapshot {
    Snapshot::new(Tick(tick), Vec3::X * (6.0 * f64::from(tick) * TICK) as f32, Vec3::X * 6.0)
}

#[test]
fn pawn_is_extrapolated_held_and_recovered_smoothly_after_a_second_without_updates() {
    let mut stage = Harness::new();
    let pawn = stage.pawn(None, 10.0, straight, |_| 3, |sent| (!(4.0..5.0).contains(&sent)).then_some(0.05));
    stage.run(9.0);
    let seen = &stage.pawns[pawn].seen;
    let dark: Vec<_> = seen.iter().filter(|sight| (4.5..5.0).contains(&sight.now)).collect();
    assert!(dark.iter().all(|sight| sight.place == dark[0].place), "the pawn must stand still");
    let carried = dark[0].place.x - 6.0 * 4.0;
    assert!((0.0..=6.0 * 0.19).contains(&carried), "extrapolated by {carried} m");
    assert!(stage.stats().held > 20, "{:?}", stage.stats());
    // It has 6 m to catch up, and does so while an offset fades, not in one frame.
    let step = largest_step(stage.pawns[pawn].after(4.0));
    assert!(step < 1.0, "a jump of {step} m");
    let rest = stage.pawns[pawn].after(6.0);
    assert!(rest.iter().all(|sight| sight.place.distance(sight.pose) < 0.01), "the offset must have faded");
    assert_eq!(stage.stats().snaps, 0);
}

#[test]
fn reordering_and_loss_do_not_disturb_the_drawn_path() {
    let mut stage = Harness::new();
    let rough = |sent: f64| {
        let lost = jitter(sent + 100.0, 1.0) < 0.1;
        (!lost).then(|| 0.05 + jitter(sent, 0.08))
    };
    let pawn = stage.pawn(None, 40.0, circle, |_| 3, rough);
    stage.run(39.0);
    let seen = stage.pawns[pawn].after(8.0);
    assert_time_flows(seen, 0.92, 1.03);
    assert!(largest_step(seen) < 0.14, "{} m", largest_step(seen));
    assert!(distance_from_circle(seen) < 0.05, "{} m", distance_from_circle(seen));
}

#[test]
fn fast_pawn_is_blended_after_a_gap_and_a_teleport_is_not() {
    let fast = |tick: u32| {
        let jumped = tick >= 500;
        let x = 30.0 * f64::from(tick) * TICK + if jumped { 15.0 } else { 0.0 };
        Snapshot {
            teleports: u8::from(jumped),
            ..Snapshot::new(Tick(tick), Vec3::X * x as f32, Vec3::X * 30.0)
        }
    };
    let mut stage = Harness::new();
    let pawn = stage.pawn(None, 12.0, fast, |_| 6, |sent| (!(4.0..4.5).contains(&sent)).then_some(0.04));
    stage.run(10.0);
    assert_eq!(stage.stats().snaps, 0, "15 m after half a second at 30 m/s are no jump");
    let seen = stage.pawns[pawn].after(5.5);
    let jumps: Vec<f32> =
        seen.windows(2).map(|pair| pair[1].place.x - pair[0].place.x).filter(|step| *step > 0.7).collect();
    assert_eq!(jumps.len(), 1, "exactly one frame must jump: {jumps:?}");
    assert!((14.5..16.5).contains(&jumps[0]), "{jumps:?}");
}

/// Returns the number of the update that is sent at `sent`, at one every three ticks.
fn update_number(sent: f64) -> u32 {
    (sent / TICK).round() as u32 / 3
}

/// Runs at 6 m/s and turns by a right angle every 26 ticks.
fn corners(tick: u32) -> Snapshot {
    let (legs, into) = (tick / 26, tick % 26);
    let way =
        |half: u32, runs: bool| (6.0 * TICK * f64::from(half * 26 + if runs { into } else { 0 })) as f32;
    let along_x = legs.is_multiple_of(2);
    let place = Vec3::new(way(legs.div_ceil(2), along_x), 0.0, way(legs / 2, !along_x));
    let came_along_x = (tick.saturating_sub(1) / 26).is_multiple_of(2);
    Snapshot::new(Tick(tick), place, if came_along_x { Vec3::X } else { Vec3::Z } * 6.0)
}

/// Returns the largest distance of the drawn pawn from a path with corners, in metres, when every fifth update is lost
/// and the delay covers that.
fn corner_error(path_knots: PathKnotConfig) -> f32 {
    let mut stage = Harness::new();
    stage.app.insert_resource(PlayoutConfig { quantile: 1.0, ..PlayoutConfig::default() });
    stage.path_knots = path_knots;
    let lossy = |sent: f64| (update_number(sent) % 5 != 2).then_some(0.05);
    let pawn = stage.pawn(None, 30.0, corners, |_| 3, lossy);
    stage.run(29.0);
    let off = stage.pawns[pawn].after(10.0).iter().map(|sight| {
        let ticks = sight.view / TICK;
        let at = |tick: f64| corners(tick as u32).position();
        sight.place.distance(at(ticks.floor()).lerp(at(ticks.floor() + 1.0), ticks.fract() as f32))
    });
    off.fold(0.0, f32::max)
}

/// Fails without `ProxyUpdate::resending` in `PathRecorder`.
#[test]
fn lost_updates_at_corners_are_drawn_as_the_next_ones_bring_them() {
    let worst = corner_error(PathKnotConfig::default());
    assert!(worst < 0.06, "{worst} m");
    let control = PathKnotConfig { lost_update_tolerance: f32::INFINITY, ..PathKnotConfig::default() };
    let worst = corner_error(control);
    assert!(worst > 0.08, "the control must cut the corners, not by {worst} m");
}

/// Fails without `ProxyTime::missed`.
#[test]
fn overtaken_update_that_the_next_one_brought_is_no_duplicate_and_keeps_the_interval() {
    // Turns back at every update, so that each brings the one before. Every second one comes after the next.
    let back_and_forth = |tick: u32| {
        let (legs, into) = (tick / 3, tick % 3);
        let way = if legs.is_multiple_of(2) { into } else { 3 - into };
        let forth = (tick.saturating_sub(1) / 3).is_multiple_of(2);
        let velocity = if forth { Vec3::X } else { Vec3::NEG_X } * 6.0;
        Snapshot::new(Tick(tick), Vec3::X * (6.0 * TICK * f64::from(way)) as f32, velocity)
    };
    let mut stage = Harness::new();
    let overtaken = |sent: f64| Some(if update_number(sent).is_multiple_of(2) { 0.12 } else { 0.05 });
    let pawn = stage.pawn(None, 6.0, back_and_forth, |_| 3, overtaken);
    stage.run(5.0);
    let time = stage.app.world().get::<ProxyTime>(stage.pawns[pawn].entity).expect("a proxy");
    assert_eq!(time.interval(), 3);
    assert_eq!(stage.stats().duplicates, 0, "{:?}", stage.stats());
}
