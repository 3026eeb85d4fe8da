//! Inputs: the limits of axes, and which consecutive inputs may share a packet.

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, Wire};
use bevy_unlag_movement::{CapsuleInput, CapsuleModel, InputAccumulator};

use crate::common::{Level, axis_inputs, expect_standing, last_state, level_speed, run};

fn axes(axes: Vec2) -> CapsuleInput {
    let mut input = CapsuleInput::default();
    input.set_axes(axes);
    input
}

/// Full deflection along a heading, in degrees.
fn heading(degrees: f64) -> CapsuleInput {
    let mut input = CapsuleInput { forward: 127, ..default() };
    input.set_look(degrees.to_radians(), 0.0);
    input
}

/// Whether the moves of both inputs may share a packet, in either order.
fn can_combine(a: CapsuleInput, b: CapsuleInput) -> bool {
    let answers = [(a, b), (b, a)].map(|(older, newer)| CapsuleModel::can_combine_with(&older, &newer));
    assert_eq!(answers[0], answers[1], "{a:?} and {b:?}");
    answers[0]
}

/// Fails if the stick is clamped to 9 instead of 1: -9 would become -128.
#[test]
fn axes_beyond_one_equal_full_deflection() {
    for by in [1.0, 1.001, 1.5, 9.0, 1e9, f32::INFINITY] {
        for sign in [Vec2::ONE, Vec2::NEG_ONE, Vec2::new(1.0, -1.0)] {
            let input = axes(sign * by);
            let full = [sign.x, sign.y].map(|sign| 127 * sign as i8);
            assert_eq!([input.right, input.forward], full, "{sign} times {by}");
            assert_eq!(Wire::quantised(input), input, "the server must read the simulated input");
        }
    }
    // The sum of several sources is clamped, each of which is within ± 1.
    let mut accumulator = InputAccumulator::default();
    (0..9).for_each(|_| accumulator.axes(Vec2::new(-0.9, 0.9)));
    let input = accumulator.take_input();
    assert_eq!((input.right, input.forward), (-127, 127));
}

#[test]
fn diagonal_or_excessive_axes_are_no_faster_than_one_axis() {
    let mut app = Level::with_floor().build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let mut speed = |input: CapsuleInput| level_speed(&last_state(&run(&mut app, start, [input; 96], 40).0));
    let straight = speed(axis_inputs(0, 127, 1)[0]);
    assert!(straight > 1.0, "{straight} m/s");
    for excessive in [Vec2::ONE, Vec2::splat(9.0), Vec2::new(0.0, 9.0), Vec2::new(-9.0, 1.0)] {
        let input = axes(excessive);
        assert!(input.axes().length() <= 1.0 + 1e-6, "{excessive}: {}", input.axes());
        assert!(input.wish().length() <= 1.0 + 1e-4, "{excessive}: {}", input.wish());
        let speed = speed(input);
        assert!((speed - straight).abs() < 0.01 * straight, "{excessive}: {speed} m/s, not {straight}");
    }
}

/// Fails if `can_combine_with` ignores the angle between the directions.
#[test]
fn directions_within_5_degrees_combine_and_others_do_not() {
    for from in [0.0, 40.0, -137.0, 179.0] {
        for (by, expected) in [
            (0.0, true),
            (2.0, true),
            (4.9, true),
            (5.4, false),
            (10.0, false),
            (90.0, false),
            (180.0, false),
        ] {
            for by in [by, -by] {
                assert_eq!(can_combine(heading(from), heading(from + by)), expected, "{from}° and {by}°");
            }
        }
    }
    // The same with the stick instead of the view.
    let stick = |degrees: f32| axes(Vec2::from_angle(degrees.to_radians()));
    assert!(can_combine(stick(30.0), stick(33.0)));
    assert!(!can_combine(stick(30.0), stick(37.0)));
}

#[test]
fn inputs_that_differ_in_deflection_or_buttons_do_not_combine() {
    let full = heading(20.0);
    assert!(can_combine(full, CapsuleInput { forward: 125, ..full }));
    assert!(!can_combine(full, CapsuleInput { forward: 120, ..full }));
    assert!(!can_combine(full, CapsuleInput { forward: 0, ..full }), "standing and walking");
    for pressed in [
        CapsuleInput { jump: true, ..full },
        CapsuleInput { crouch: true, ..full },
        CapsuleInput { sprint: true, ..full },
        CapsuleInput { walk: true, ..full },
    ] {
        assert!(!can_combine(full, pressed), "{pressed:?}");
        assert!(can_combine(pressed, pressed), "{pressed:?}");
    }
    // Turning on the spot changes nothing that the server must learn at once.
    let still = CapsuleInput { forward: 0, ..full };
    assert!(can_combine(still, CapsuleInput { yaw: still.yaw.wrapping_add(20_000), pitch: 900, ..still }));
}
