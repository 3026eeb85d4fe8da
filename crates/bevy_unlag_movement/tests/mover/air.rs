//! Jumps, falls and gravity in any direction.

use core::f32::consts::TAU;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::angle_to_units;
use bevy_unlag_movement::{
    CapsuleConfig, CapsuleInput, CapsuleState, GravityField, MoveEvent, MoveVolume, MovementMode, VolumeId,
};

use crate::common::*;

#[test]
fn held_jump_button_jumps_once_and_each_new_press_jumps_again() {
    let mut app = Level::with_floor().build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (_, events) = run(&mut app, start, jump_inputs(256), SETTLE);
    assert_eq!(jumps(&events), [1], "held: {events:?}");
    let (_, events) =
        run_with_feedback(&mut app, start, 256, SETTLE, |i, _| CapsuleInput { jump: i % 8 < 4, ..default() });
    assert!(jumps(&events).len() >= 3 && jumps(&events).iter().all(|count| *count == 1), "{events:?}");
    let (_, events) =
        run(&mut app, start, vec![CapsuleInput { crouch: true, jump: true, ..default() }; 64], 0);
    assert!(jumps(&events).is_empty(), "must not jump when crouched: {events:?}");
}

#[test]
fn jump_emits_jumped_landed_and_two_mode_changes() {
    let mut app = Level::with_floor().build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, events) = run(&mut app, start, jump_inputs(96), SETTLE);
    let changed = |from, to| MoveEvent::ModeChanged { from, to };
    let [jumped, off, landed, on] = events[..] else { panic!("{events:?}") };
    assert_eq!(jumped, MoveEvent::Jumped { count: 1 });
    assert_eq!(off, changed(MovementMode::Walking, MovementMode::Falling));
    assert!(matches!(landed, MoveEvent::Landed { speed } if (speed - 4.2).abs() < 0.2), "{landed:?}");
    assert_eq!(on, changed(MovementMode::Falling, MovementMode::Walking));
    let last = last_state(&states);
    assert_eq!((last.jumps, last.air_seconds), (0, 0.0));
}

#[test]
fn pawn_jumps_at_most_jump_max_count_times_in_the_air() {
    let cases: [(u8, &[u8]); 4] = [(0, &[]), (1, &[1]), (2, &[1, 2]), (4, &[1, 2, 3, 4])];
    for (most, expected) in cases {
        let mut app = Level::with_floor().tune(|config| config.jump_max_count = most).build();
        let start = expect_standing(&mut app, Vec3::ZERO);
        // A press every 12 ticks, long before the pawn lands.
        let (_, events) = run_with_feedback(&mut app, start, 12 * 4 + 1, SETTLE, |i, _| CapsuleInput {
            jump: i % 12 == 0,
            ..default()
        });
        assert_eq!(jumps(&events), expected, "{most} allowed");
    }
}

#[test]
fn walking_off_a_ledge_uses_up_the_first_jump() {
    let cases: [(u8, &[u8]); 2] = [(1, &[]), (2, &[2])];
    for (most, expected) in cases {
        let mut app = Level::new()
            .block(Vec3::new(-9.0, -1.0, -9.0), Vec3::new(2.0, 0.0, 9.0))
            .tune(|config| config.jump_max_count = most)
            .build();
        let start = expect_standing(&mut app, Vec3::ZERO);
        let (_, events) = run_with_feedback(&mut app, start, 96, SETTLE, |_, state| CapsuleInput {
            right: 127,
            jump: state.air_seconds > 0.2,
            ..default()
        });
        assert_eq!(walked_off(&events), 1, "{events:?}");
        assert_eq!(jumps(&events), expected, "{most} allowed");
    }
}

/// Walks off an edge, presses jump after `late` seconds in the air and returns the jumps.
fn expect_late_press_jumps(app: &mut App, late: f32) -> Vec<u8> {
    let start = expect_standing(app, Vec3::ZERO);
    let (states, events) = run_with_feedback(app, start, 128, SETTLE, |_, state| CapsuleInput {
        right: 127,
        jump: !state.is_grounded() && state.air_seconds >= late,
        ..default()
    });
    assert!(
        last_state(&states).position.y < -1.0,
        "the pawn must walk off the edge: {:?}",
        last_state(&states)
    );
    jumps(&events)
}

#[test]
fn late_press_jumps_only_within_the_coyote_time() {
    let cliff = |time: f32| {
        Level::new()
            .block(Vec3::new(-9.0, -1.0, -9.0), Vec3::new(2.0, 0.0, 9.0))
            .tune(|config| config.coyote_time = time)
            .build()
    };
    let mut app = cliff(0.1);
    assert_eq!(expect_late_press_jumps(&mut app, 0.0), [1]);
    assert_eq!(expect_late_press_jumps(&mut app, 0.08), [1]);
    assert!(expect_late_press_jumps(&mut app, 0.12).is_empty());
    assert!(expect_late_press_jumps(&mut cliff(0.0), 0.0).is_empty(), "coyote time must be off by default");
}

#[test]
fn early_press_jumps_at_the_landing_only_within_the_jump_buffer() {
    for (buffer, early, expected) in [(0.1, 3, true), (0.1, 5, true), (0.1, 9, false), (0.0, 1, false)] {
        let mut app = Level::with_floor().tune(|config| config.jump_buffer = buffer).build();
        let start = CapsuleState::at(Vec3::Y * 2.0);
        let (states, _) = run(&mut app, start, neutral_inputs(96), 0);
        let landing = states.iter().position(CapsuleState::is_grounded).expect("the pawn must land");
        let (_, events) = run_with_feedback(&mut app, start, 96, 0, |i, _| CapsuleInput {
            jump: i + early == landing,
            ..default()
        });
        let jumped = jumps(&events);
        assert_eq!(jumped == [1], expected, "{early} ticks early with {buffer} s: {jumped:?}");
    }
}

#[test]
fn arcade_preset_has_coyote_time_a_double_jump_and_air_control() {
    let mut app = Level::new()
        .block(Vec3::new(-9.0, -1.0, -9.0), Vec3::new(2.0, 0.0, 9.0))
        .config(CapsuleConfig::arcade())
        .build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    // A late press, and another one in the air.
    let (states, events) = run_with_feedback(&mut app, start, 80, SETTLE, |_, state| CapsuleInput {
        right: 127,
        jump: (0.05..0.1).contains(&state.air_seconds) && state.jumps == 0 || state.air_seconds > 0.4,
        ..default()
    });
    assert_eq!(jumps(&events), [1, 2], "{events:?}");
    assert!(highest(&states) > 1.8, "{} m", highest(&states));
    // The pawn reverses its direction in the air.
    let mut app = Level::with_floor().config(CapsuleConfig::arcade()).build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let running = last_state(&run(&mut app, start, axis_inputs(127, 0, 64), SETTLE).0);
    let (states, _) = run(&mut app, running, [CapsuleInput { right: -127, jump: true, ..default() }; 32], 0);
    assert!(
        last_state(&states).velocity.x < 0.0 && !last_state(&states).is_grounded(),
        "{:?}",
        last_state(&states)
    );
}

#[test]
fn jump_hold_delays_gravity_equally_in_one_long_step() {
    let mut app = Level::with_floor().config(CapsuleConfig::arcade()).build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let held = CapsuleInput { jump: true, ..default() };
    let long = step_once(&mut app, start, held, 0.2);
    let falls = 0.2 - 0.12;
    let speed = 7.0 - 22.0 * falls;
    assert!(
        (long.velocity.y - speed).abs() < 0.05,
        "{} m/s instead of {speed} m/s: {long:?}",
        long.velocity.y
    );
    let rise = long.position.y - start.position.y;
    let expected = 7.0 * 0.2 - 11.0 * falls * falls;
    assert!((rise - expected).abs() < 0.03, "rose {rise} m instead of {expected} m");
}

#[test]
fn pawn_caught_in_a_steep_ditch_can_jump_out() {
    let mut level = Level::new();
    for side in [1.0, -1.0] {
        let turn = Quat::from_rotation_z(side * 60f32.to_radians());
        let middle = turn * Vec3::new(side * 5.0, -0.5, 0.0);
        let transform = Transform::from_translation(middle).with_rotation(turn);
        level = level.collider(Collider::cuboid(5.0, 0.5, 8.0), transform);
    }
    let mut app = level.build();
    for x in [0.0, 0.8, -1.3] {
        let dropped = CapsuleState::at(Vec3::new(x, 4.0, 0.0));
        let (states, _) = run(&mut app, dropped, neutral_inputs(256), 0);
        let caught = last_state(&states);
        assert!(caught.velocity.length() < 0.3, "must come to rest in the ditch: {caught:?}");
        assert!((caught.position - states[200].position).length() < 5e-3, "{caught:?}");
        let (states, events) = run(&mut app, caught, jump_inputs(64), 256);
        assert_eq!(jumps(&events), [1], "dropped at {x}: {events:?}");
        let rise = highest(&states) - caught.position.y;
        assert!((0.5..1.0).contains(&rise), "jumped {rise} m high");
    }
}

#[test]
fn launched_pawn_follows_a_parabola_at_every_tick_rate() {
    for rate in RATES {
        let mut app = Level::with_floor().rate(rate).build();
        let mut state = expect_standing(&mut app, Vec3::ZERO);
        let from = state.position;
        let velocity = Vec3::new(5.0, 8.0, -3.0);
        state.launch(velocity);
        let count = ticks(&app, 1.0);
        let (states, events) = run(&mut app, state, neutral_inputs(count), SETTLE);
        for (i, state) in states.iter().enumerate() {
            let t = i as f32 * tick_seconds(&app);
            let expected = from + velocity * t - Vec3::Y * (0.5 * GRAVITY * t * t);
            assert!(
                state.position.distance(expected) < 2e-3,
                "{} instead of {expected} at {rate}/s",
                state.position
            );
        }
        assert!(landings(&events).is_empty(), "{events:?}");
    }
}

#[test]
fn launch_adds_to_the_world_velocity_and_rejects_nan() {
    let mut state = CapsuleState {
        velocity: Vec3::X,
        base_velocity: Vec3::new(0.0, 0.0, 2.0),
        mode: MovementMode::Walking,
        ..CapsuleState::at(Vec3::ZERO)
    };
    let before = state;
    state.launch(Vec3::NAN);
    assert_eq!(state, before);
    state.launch(Vec3::Y * 9.0);
    assert_eq!(state.velocity, Vec3::new(1.0, 9.0, 2.0));
    assert_eq!((state.mode, state.base_velocity), (MovementMode::Falling, Vec3::ZERO));
}

/// A course with a step, a ramp, a wall and a ceiling.
fn obstacle_course() -> Level {
    Level::with_floor()
        .block(Vec3::new(3.0, -0.5, -9.0), Vec3::new(6.0, 0.3, 9.0))
        .ramp(Vec3::X * 9.0, 25.0, 20.0)
        .block(Vec3::new(-9.0, 0.0, -3.0), Vec3::new(30.0, 9.0, -2.0))
        .block(Vec3::new(-3.0, 2.2, -9.0), Vec3::new(1.0, 3.0, 9.0))
}

/// Runs over the step and the ramp, jumps against the ceiling and on the ramp, and leans on the wall.
fn course_input(i: usize) -> CapsuleInput {
    CapsuleInput {
        right: 127,
        forward: if i > 96 { 60 } else { 0 },
        jump: i < 6 || (130..150).contains(&i),
        crouch: (40..60).contains(&i),
        sprint: i > 150,
        ..default()
    }
}

#[test]
fn movement_in_a_rotated_world_matches_the_upright_one() {
    let mut app = obstacle_course().build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (upright, upright_events) = run_with_feedback(&mut app, start, 192, SETTLE, |i, _| course_input(i));
    assert!(
        last_state(&upright).position.x > 9.0,
        "the pawn must get past the ramp: {:?}",
        last_state(&upright)
    );
    assert!(jumps(&upright_events).len() == 2, "{upright_events:?}");

    let ups = [
        Vec3::NEG_Y,
        Vec3::X,
        Vec3::NEG_X,
        Vec3::Z,
        Vec3::new(1.0, 1.0, 1.0),
        Vec3::new(0.3, -0.9, 0.2),
        Vec3::new(0.01, 1.0, -0.02),
    ];
    for up in ups.map(Vec3::normalize) {
        for turned_by in [0.0f32, 2.0] {
            // The mover's own rotation: half a turn about X when upside down.
            let swing = if up == Vec3::NEG_Y {
                Quat::from_xyzw(1.0, 0.0, 0.0, 0.0)
            } else {
                Quat::from_rotation_arc(Vec3::Y, up)
            };
            // In whole units of a heading.
            let units = angle_to_units(turned_by);
            let twist = Quat::from_rotation_y(f32::from(units) / 65_536.0 * TAU);
            let turn = swing * twist;
            let mut app = obstacle_course().turned(turn).build();
            let start = expect_standing(&mut app, Vec3::ZERO);
            let (states, events) = run_with_feedback(&mut app, start, 192, SETTLE, |i, _| CapsuleInput {
                yaw: units,
                ..course_input(i)
            });
            for (i, (a, b)) in upright.iter().zip(&states).enumerate() {
                let apart = a.position.distance(turn.inverse() * b.position);
                assert!(apart < 0.01, "up {up}, twist {turned_by}: {apart} m at tick {i}: {a:?} and {b:?}");
                assert!(b.up.distance(up) < 1e-5, "{b:?}");
            }
            let modes = [mode_changes(&upright_events), mode_changes(&events)];
            assert_eq!(modes[0], modes[1], "up {up}: {events:?}");
        }
    }
}

#[test]
fn pawn_at_rest_does_not_creep_for_any_up_direction() {
    for up in [Vec3::NEG_Y, Vec3::X, Vec3::new(1.0, 1.0, 1.0), Vec3::new(0.3, -0.9, 0.2)] {
        let turn = Quat::from_rotation_arc(Vec3::Y, up.normalize());
        // Far from the origin, where floats are coarser.
        let level = Level::with_floor().turned(turn).ramp(Vec3::new(30.0, 0.0, 0.0), 30.0, 20.0);
        let mut app = level.build();
        for place in [Vec3::new(20.0, 0.0, 13.0), Vec3::new(35.0, 5.0 * 30f32.to_radians().tan(), 0.0)] {
            let start = expect_standing(&mut app, turn * place);
            let (states, events) = run(&mut app, start, neutral_inputs(1_000), SETTLE);
            assert_eq!(last_state(&states), states[10], "creeps with up {up}");
            assert!(events.is_empty(), "up {up}: {events:?}");
        }
    }
}

#[test]
fn pawn_walks_all_the_way_round_a_planet() {
    let mut app = Level::new().collider(Collider::ball(10.0), Transform::default()).build();
    spawn(
        &mut app,
        (
            MoveVolume {
                gravity: Some(GravityField::Towards { centre: Vec3::ZERO, strength: 9.8 }),
                ..MoveVolume::trigger(VolumeId(1))
            },
            Collider::ball(30.0),
            Transform::default(),
        ),
    );
    let start = expect_standing(&mut app, Vec3::Y * 10.0);
    let forward = CapsuleInput { forward: 127, ..default() };
    let (states, events) = run(&mut app, start, [forward; 1_000], SETTLE);
    assert_eq!(mode_changes(&events), 0, "{events:?}");
    let mut angle = 0.0;
    for (i, pair) in states.windows(2).enumerate() {
        // The chord, because an arc cosine is too inaccurate here.
        angle += pair[0].position.normalize().distance(pair[1].position.normalize());
        let height = pair[1].position.length() - 10.0;
        assert!((0.0..0.06).contains(&height), "tick {i}: {height} m above ground: {:?}", pair[1]);
        let up = pair[1].position.normalize();
        assert!(pair[1].up.distance(up) < 0.02, "tick {i}: {:?}", pair[1]);
        assert!(pair[1].velocity.dot(up).abs() < 0.2, "tick {i}: velocity must be tangential: {:?}", pair[1]);
    }
    // 6 m/s at a radius of 10 m are 0.6 rad/s.
    let expected = 0.6 * (1_000.0 / 64.0 - 0.146);
    assert!((angle / expected - 1.0).abs() < 0.02, "walked {angle} rad instead of {expected} rad");
    assert!(angle > TAU, "must walk all the way round");
    assert!(states.iter().any(|s| s.position.y < -9.9), "must pass the far pole");
}

#[test]
fn pawn_falls_towards_a_planet_and_lands_on_it() {
    let mut app = Level::new().collider(Collider::ball(5.0), Transform::from_xyz(0.0, 0.0, 20.0)).build();
    let centre = Vec3::Z * 20.0;
    spawn(
        &mut app,
        (
            MoveVolume {
                gravity: Some(GravityField::Towards { centre, strength: 9.8 }),
                ..MoveVolume::trigger(VolumeId(1))
            },
            Collider::ball(14.0),
            Transform::from_translation(centre),
        ),
    );
    let (states, events) = run(&mut app, CapsuleState::at(Vec3::new(3.0, 4.0, 12.0)), neutral_inputs(256), 0);
    let last = last_state(&states);
    assert!(last.is_grounded() && landings(&events).len() == 1, "{last:?}: {events:?}");
    let out = last.position - centre;
    assert!((out.length() - 5.02).abs() < 0.01, "{} m from the centre", out.length());
    assert!(last.up.distance(out.normalize()) < 1e-3, "{last:?}");
    assert!(
        (states[1].position - states[0].position).dot(centre - states[0].position) > 0.0,
        "must fall towards the planet from the first tick"
    );
}

#[test]
fn landed_event_reports_the_impact_speed_at_every_tick_rate() {
    for rate in [20.0, 64.0, 128.0] {
        let mut app = Level::with_floor().rate(rate).build();
        let (_, events) =
            run(&mut app, CapsuleState::at(Vec3::Y * 3.0), neutral_inputs(2 * rate as usize), 0);
        let speed = events.iter().find_map(|event| match event {
            MoveEvent::Landed { speed } => Some(*speed),
            _ => None,
        });
        let expected = (2.0 * 9.8 * 3.0f32).sqrt();
        assert!(speed.is_some_and(|speed| (speed - expected).abs() < 0.03), "{speed:?} at {rate}/s");
    }
}

#[test]
fn passing_near_the_far_pole_of_a_planet_does_not_spin_the_view() {
    let mut app = Level::new().collider(Collider::ball(10.0), Transform::default()).build();
    let pull = GravityField::Towards { centre: Vec3::ZERO, strength: 9.8 };
    let volume = MoveVolume { gravity: Some(pull), ..MoveVolume::trigger(VolumeId(1)) };
    spawn(&mut app, (volume, Collider::ball(30.0), Transform::default()));
    // Carried past the far pole at a distance of 30 cm, as by a train.
    let place = |i: usize| Vec3::new(0.3, -10.0, -1.5 + 0.03 * i as f32).normalize() * 10.021_5;
    let mut state = expect_standing(&mut app, place(0));
    for i in 1..100 {
        let before = state.rotation() * Vec3::NEG_Z;
        state.position = place(i);
        state = last_state(&run(&mut app, state, neutral_inputs(1), 0).0);
        let after = state.rotation() * Vec3::NEG_Z;
        let turned = before.angle_between(after).to_degrees();
        assert!(turned < 1.0, "by {turned}° at {i}: from {before} to {after}");
    }
}
