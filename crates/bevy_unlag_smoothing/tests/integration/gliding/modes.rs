//! Comparison of the smoothing modes, and changes between them.

use bevy_unlag_core::{ProxySmoothing, Snapshot, Tick, ViewStamp};

use super::harness::*;
use bevy::prelude::*;
use bevy_unlag_core::DrawnPose;

const MODES: [ProxySmoothing; 5] = [
    ProxySmoothing::Raw,
    ProxySmoothing::Linear,
    ProxySmoothing::Hermite,
    ProxySmoothing::Simulate,
    ProxySmoothing::Exponential,
];

#[test]
fn raw_mode_steps_and_all_other_modes_move_smoothly() {
    let mut stage = Harness::new();
    for mode in MODES {
        stage.pawn(Some(mode), 10.0, circle, |_| 6, |_| Some(0.05));
    }
    stage.run(9.0);
    let step = |mode: usize| largest_step(stage.pawns[mode].after(4.0));
    let [raw, linear, hermite, simulated, exponential] = [0, 1, 2, 3, 4].map(step);
    // 0.1 m per frame is the true speed, 0.56 m is a whole interval.
    assert!(raw > 0.5, "{raw}");
    assert!(linear < 0.12 && hermite < 0.105, "{linear} {hermite}");
    assert!(simulated < 0.16 && exponential < 0.2, "{simulated} {exponential}");
    let off = |mode: usize| distance_from_circle(stage.pawns[mode].after(4.0));
    assert!(off(2) < 0.003 && off(1) > 0.005, "Hermite {} m, linear {} m", off(2), off(1));
    let age = |mode: usize| {
        let seen = stage.pawns[mode].after(4.0);
        seen.iter().map(|sight| sight.now - sight.view).sum::<f64>() / seen.len() as f64
    };
    assert!(age(0) < age(2), "raw must add no delay: {} {}", age(0), age(2));
    assert!(age(2) < 0.05 + 6.0 * TICK + FRAME + 0.005, "{}", age(2));
}

#[test]
fn only_simulated_pawns_overshoot_a_stop() {
    // Runs for a second, stands for half a second.
    let stop = |tick: u32| {
        let (round, into) = (tick / 96, (tick % 96).min(64));
        let runs = into < 64 && into > 0;
        let x = 6.0 * (round * 64 + into) as f32 * TICK as f32;
        Snapshot::new(Tick(tick), Vec3::X * x, if runs { Vec3::X * 6.0 } else { Vec3::ZERO })
    };
    let mut stage = Harness::new();
    for mode in MODES {
        stage.pawn(Some(mode), 10.0, stop, |_| 3, |_| Some(0.03));
    }
    stage.run(9.0);
    let overshoot = |mode: usize| {
        let seen = stage.pawns[mode].after(2.0);
        let back = seen.windows(2).map(|pair| pair[0].place.x - pair[1].place.x);
        back.fold(0.0, f32::max)
    };
    for mode in [0, 1, 2, 4] {
        assert!(overshoot(mode) < 0.002, "{:?} came back by {} m", MODES[mode], overshoot(mode));
    }
    assert!(overshoot(3) > 0.002, "the control: a simulated proxy must overshoot");
}

#[test]
fn smoothing_mode_changes_without_a_visible_jump() {
    let mut stage = Harness::new();
    let pawn = stage.pawn(Some(ProxySmoothing::Hermite), 12.0, circle, |_| 3, |_| Some(0.05));
    stage.run(3.0);
    for mode in [
        ProxySmoothing::Simulate,
        ProxySmoothing::Linear,
        ProxySmoothing::Exponential,
        ProxySmoothing::Hermite,
    ] {
        let entity = stage.pawns[pawn].entity;
        stage.app.world_mut().entity_mut(entity).insert(mode);
        let before = stage.pawns[pawn].seen.last().copied().expect("seen");
        stage.run(1.5);
        let first = stage.pawns[pawn].after(before.now)[1];
        let step = first.place.distance(before.place);
        assert!(step < 0.25, "{mode:?}: {step} m in one frame");
    }
    let drawn = stage.app.world().get::<DrawnPose>(stage.pawns[pawn].entity).expect("drawn");
    assert!(matches!(drawn.stamp, ViewStamp::Interpolated { .. }), "{:?}", drawn.stamp);
    assert!(drawn.pose.velocity.length() > 5.9, "the pose must include the drawn velocity");
}

/// Fails if positions are interpolated or blended across a teleport.
#[test]
fn teleport_is_drawn_as_a_jump_in_every_mode_and_an_uncounted_one_is_interpolated() {
    let between = |mode: ProxySmoothing, counted: bool, latency: f64| {
        let path = move |tick: u32| {
            let there = tick >= 320;
            let position = if there { Vec3::X * 2.0 } else { Vec3::ZERO };
            Snapshot {
                teleports: u8::from(there && counted),
                ..Snapshot::new(Tick(tick), position, Vec3::ZERO)
            }
        };
        let mut stage = Harness::new();
        let pawn = stage.pawn(Some(mode), 9.0, path, |_| 6, |_| Some(latency));
        stage.run(8.0);
        let seen = stage.pawns[pawn].after(3.0);
        assert!(seen.first().is_some_and(|sight| sight.place.x.abs() < 1e-3), "{mode:?}");
        assert!(seen.last().is_some_and(|sight| (sight.place.x - 2.0).abs() < 1e-3), "{mode:?}");
        seen.iter().filter(|sight| (0.001..1.999).contains(&sight.place.x)).count()
    };
    // Frames fall on other moments of the jump with each latency.
    let latencies = [0.02, 0.024, 0.028];
    for mode in MODES {
        for latency in latencies {
            assert_eq!(between(mode, true, latency), 0, "{mode:?}: frames between both places");
        }
    }
    for mode in [ProxySmoothing::Linear, ProxySmoothing::Hermite] {
        let frames: usize = latencies.map(|latency| between(mode, false, latency)).iter().sum();
        assert!(frames > 0, "the control: {mode:?}");
    }
}
