//! Blending of jumps by its settings: what is blended, for how long, and what snaps.

use bevy::prelude::*;
use bevy_unlag_core::{ProxySmoothing, Snapshot, Tick};
use bevy_unlag_smoothing::{BlendConfig, SmoothingStats};

use super::harness::*;

/// Tick of the jump, five seconds after the start.
const JUMP: u32 = 320;
/// Frames in a tenth of a second.
const TENTH: usize = 6;

/// Draws a pawn at rest that from tick [`JUMP`] on is `by` metres away, without counting a teleport, and is sent
/// every `every` ticks. Returns the distances between the drawn and the sampled position, from the first frame
/// after the jump on, and the statistics.
fn offsets(
    mode: ProxySmoothing,
    every: u32,
    by: f32,
    tune: impl FnOnce(&mut BlendConfig),
) -> (Vec<f32>, SmoothingStats) {
    let mut stage = Harness::new();
    tune(&mut stage.app.world_mut().resource_mut::<BlendConfig>());
    let path = move |tick: u32| {
        let x = if tick < JUMP { 0.0 } else { by };
        Snapshot::new(Tick(tick), Vec3::X * x, Vec3::ZERO)
    };
    let pawn = stage.pawn(Some(mode), 9.0, path, |_| every, |_| Some(0.02));
    stage.run(8.0);
    let seen = stage.pawns[pawn].after(3.0);
    let before =
        seen.windows(2).position(|pair| pair[0].pose != pair[1].pose).expect("the jump must be drawn");
    let offsets = seen[before + 1..].iter().map(|sight| sight.place.distance(sight.pose)).collect();
    (offsets, stage.stats())
}

fn simulated(every: u32, by: f32, tune: impl FnOnce(&mut BlendConfig)) -> (Vec<f32>, SmoothingStats) {
    offsets(ProxySmoothing::Simulate, every, by, tune)
}

/// Asserts that a jump is blended: the pawn is drawn where it was, but for the centimetre that nobody sees.
fn assert_blended((offsets, stats): &(Vec<f32>, SmoothingStats), by: f32) {
    assert!((offsets[0] - (by - 0.01)).abs() < 0.002, "{} m of {by} m", offsets[0]);
    assert_eq!(stats.snaps, 0, "{stats:?}");
    assert!(stats.blends > 0, "{stats:?}");
}

/// Asserts that a jump is drawn at once.
fn assert_snapped((offsets, stats): &(Vec<f32>, SmoothingStats), by: f32) {
    assert!(offsets.iter().all(|offset| *offset < 1e-3), "{} m of {by} m", offsets[0]);
    assert_eq!(stats.snaps, 1, "{stats:?}");
}

/// Fails if a jump beyond the snap distance is blended, too.
#[test]
fn jump_up_to_the_snap_distance_is_blended_and_a_larger_one_snaps() {
    for by in [0.5, 2.0, 3.7] {
        assert_blended(&simulated(3, by, |_| ()), by);
    }
    for by in [3.95, 10.0, 300.0] {
        assert_snapped(&simulated(3, by, |_| ()), by);
    }
    let near = |config: &mut BlendConfig| config.snap_distance = 1.0;
    assert_blended(&simulated(3, 0.9, near), 0.9);
    assert_snapped(&simulated(3, 1.1, near), 1.1);
    // A pawn that may have been knocked away that fast since its last update has not been teleported.
    assert_blended(&simulated(3, 3.95, |config| config.snap_speed = 100.0), 3.95);
}

/// Fails if `bridge_seconds` is ignored.
#[test]
fn simulated_pawn_is_back_on_its_path_after_the_bridge_time() {
    // Updates are further apart than the longest bridge, so that none starts it again.
    let (usual, _) = simulated(24, 2.0, |_| ());
    assert!(usual[1] > 0.5 && usual[TENTH] < 1e-3, "{usual:?}");
    let (long, _) = simulated(24, 2.0, |config| config.bridge_seconds = 0.3);
    assert!(long[TENTH] > 1.0, "{} m after a tenth of a second", long[TENTH]);
    assert!(long[2 * TENTH] > 0.3, "{} m after two tenths", long[2 * TENTH]);
    assert!(long[3 * TENTH + 1] < 1e-3, "{} m after the bridge", long[3 * TENTH + 1]);
    assert!(long.windows(2).take(3 * TENTH).all(|pair| pair[1] < pair[0]), "{long:?}");
}

/// Fails if `exponential_max_distance` is ignored.
#[test]
fn exponential_visuals_lag_by_at_most_the_maximum_distance() {
    let jumped = |by: f32, tune: fn(&mut BlendConfig)| offsets(ProxySmoothing::Exponential, 3, by, tune).0;
    for (by, expected) in [(1.5, 1.5), (2.5, 2.5), (3.5, 2.56)] {
        let offset = jumped(by, |_| ())[0];
        assert!((offset - expected).abs() < 1e-3, "{offset} m after a jump of {by} m");
    }
    let offset = jumped(1.5, |config| config.exponential_max_distance = 1.0)[0];
    assert!((offset - 1.0).abs() < 1e-3, "{offset} m");
}

#[test]
fn exponential_visuals_keep_37_percent_of_a_jump_after_their_time() {
    for seconds in [0.1, 0.2, 0.3] {
        // No second update within these frames.
        let (offsets, _) = offsets(ProxySmoothing::Exponential, 24, 2.0, |config| {
            config.exponential_seconds = seconds;
        });
        let frames = (seconds / FRAME as f32).round() as usize;
        let left = offsets[frames] / offsets[0];
        assert!((left - (-1f32).exp()).abs() < 0.01, "{left} after {seconds} s");
    }
}
