//! Floors made of boxes, tiles, meshes and height fields.

use super::*;

#[test]
fn run_over_200_m_of_flat_floor_keeps_its_full_speed() {
    for rate in RATES {
        let mut app =
            Level::new().rate(rate).block(Vec3::new(-130.0, -1.0, -9.0), Vec3::new(130.0, 0.0, 9.0)).build();
        let start = expect_standing(&mut app, Vec3::X * -110.0);
        let running = last_state(&run(&mut app, start, axis_inputs(127, 0, rate as usize), SETTLE).0);
        let seconds = 200.0 / 6.0;
        let count = ticks(&app, seconds);
        let (states, events) = run(&mut app, running, axis_inputs(127, 0, count), 0);
        let way = last_state(&states).position.x - running.position.x;
        let expected = 6.0 * count as f32 * tick_seconds(&app);
        assert!((way / expected - 1.0).abs() < 1e-3, "{way} m instead of {expected} m at {rate}/s");
        assert!(events.is_empty(), "{events:?} at {rate}/s");
        assert!(states.iter().all(|s| s.velocity.y == 0.0 && HOVER.contains(&s.position.y)), "at {rate}/s");
    }
}

/// The same floor made of four kinds of colliders.
fn floors() -> [(&'static str, Level); 4] {
    [
        ("one box", Level::new().block(Vec3::new(-32.0, -1.0, -32.0), Vec3::new(32.0, 0.0, 32.0))),
        ("tiles", Level::new().tiles(32)),
        ("triangles", Level::new().mesh_floor(32.0, 40)),
        ("a height field", Level::new().height_field(32.0, 50)),
    ]
}

#[test]
fn equal_floors_of_different_colliders_give_the_same_movement() {
    let inputs = random_inputs(11, 1_200);
    let mut first: Option<Vec<CapsuleState>> = None;
    for (name, level) in floors() {
        let mut app = level.build();
        let start = expect_standing(&mut app, Vec3::new(0.25, 0.0, 0.25));
        let (states, events) = run(&mut app, start, inputs.iter().copied(), SETTLE);
        assert!(states.iter().all(|s| s.position.xz().abs().max_element() < 31.0), "the pawn left {name}");
        assert_eq!(walked_off(&events), 0, "{name}: {events:?}");
        let airborne = mode_changes(&events);
        assert!(airborne <= 2 * jumps(&events).len(), "{name}: mode flicker, {airborne} changes");
        assert!(!jumps(&events).is_empty(), "the script must contain jumps");
        assert!(
            states.iter().all(|s| s.position.y > if s.is_grounded() { HOVER.start() - 1e-3 } else { 4e-3 }),
            "the pawn sinks into {name}"
        );
        let first = first.get_or_insert_with(|| states.clone());
        for (i, (a, b)) in first.iter().zip(&states).enumerate() {
            let apart = a.position.distance(b.position);
            assert!(apart < 1e-3, "{name} differs by {apart} m at tick {i}: {a:?} and {b:?}");
        }
    }
}

#[test]
fn run_over_any_floor_keeps_its_height_and_speed() {
    for (name, level) in floors() {
        let mut app = level.build();
        // Across corners and edges, not along the grid.
        for direction in [Vec3::X, Vec3::new(1.0, 0.0, 1.0), Vec3::new(1.0, 0.0, -0.37)] {
            for sprint in [false, true] {
                let start = expect_standing(&mut app, Vec3::new(-14.0, 0.0, 0.0));
                let inputs = vec![CapsuleInput { sprint, ..input_along(direction) }; 192];
                let (states, events) = run(&mut app, start, inputs, SETTLE);
                assert!(events.is_empty(), "{name} towards {direction}: {events:?}");
                assert!(states.iter().all(|s| HOVER.contains(&s.position.y)), "{name} towards {direction}");
                let speed = if sprint { 9.0 } else { 6.0 };
                let way = states[64].position.distance(last_state(&states).position);
                assert!((way - 2.0 * speed).abs() < 0.01, "{name} towards {direction}: {way} m in 2 s");
            }
        }
    }
}

#[test]
fn runs_up_and_down_slopes_stay_grounded() {
    for degrees in [10.0f32, 30.0, 44.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let top = Vec3::new(20.0 * cos, 20.0 * sin, 0.0);
        let across = |p: Vec3| [p + Vec3::Z * 5.0, p - Vec3::Z * 5.0];
        let quad = |[a, b]: [Vec3; 2], [c, d]: [Vec3; 2]| [a, b, d, c];
        let meshed = Level::new().mesh(&[
            quad(across(Vec3::X * -20.0), across(Vec3::ZERO)),
            quad(across(Vec3::ZERO), across(top)),
            quad(across(top), across(top + Vec3::X * 40.0)),
        ]);
        let boxed = Level::with_floor()
            .ramp(Vec3::ZERO, degrees, 20.0)
            .block(Vec3::new(top.x, top.y - 1.0, -5.0), Vec3::new(top.x + 40.0, top.y, 5.0));
        for (name, level) in [("mesh", meshed), ("box", boxed)] {
            let mut app = level.build();
            for sprint in [false, true] {
                let start = expect_standing(&mut app, Vec3::X * -6.0);
                let up = vec![CapsuleInput { sprint, ..input_along(Vec3::X) }; 320];
                let (states, events) = run(&mut app, start, up, SETTLE);
                let high = last_state(&states);
                assert_eq!(mode_changes(&events), 0, "{name}, up {degrees}°: {events:?}");
                assert!((high.position.y - top.y).abs() < 0.03, "{name}, up {degrees}°: {high:?}");
                let resting = last_state(&run(&mut app, high, neutral_inputs(32), 0).0);
                let down = vec![CapsuleInput { sprint, ..input_along(Vec3::NEG_X) }; 320];
                let (states, events) = run(&mut app, resting, down, 0);
                assert_eq!(mode_changes(&events), 0, "{name}, down {degrees}°: {events:?}");
                assert!(
                    states.iter().all(|s| s.velocity.y == 0.0),
                    "{name}: walking velocity must be horizontal"
                );
                assert!(
                    HOVER.contains(&last_state(&states).position.y),
                    "{name}, down {degrees}°: {:?}",
                    last_state(&states)
                );
            }
        }
    }
}
