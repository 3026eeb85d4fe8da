//! Gaps, late updates and reordering.

use bevy::prelude::*;
use bevy_unlag_core::{Snapshot, Tick};

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
