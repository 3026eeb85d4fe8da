//! Walking on floors, over steps and along walls.

use bevy::{ecs::system::SystemState, prelude::*};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{MoveModel, PawnClass, PoseSample, StepContext, Tick, sin_cos_of_units};
use bevy_unlag_movement::{
    CapsuleConfig, CapsuleInput, CapsuleModel, CapsuleState, MoveEvent, MovementMode, MoverWorld,
};

use crate::common::*;

#[test]
fn a_pawn_at_rest_on_a_slope_does_not_creep() {
    for degrees in [5.0f32, 20.0, 40.0, 44.0] {
        let mut app = Level::new().ramp(Vec3::ZERO, degrees, 20.0).build();
        let place = Vec3::new(5.0, 5.0 * degrees.to_radians().tan(), 0.0);
        let start = expect_standing(&mut app, place);
        let (states, events) = run(&mut app, start, neutral_inputs(1_000), SETTLE);
        assert_eq!(last_state(&states), states[10], "creeps on {degrees}°");
        assert!(
            (last_state(&states).position.x - 5.0).abs() < 0.02,
            "slid on {degrees}°: {:?}",
            last_state(&states)
        );
        assert!(events.is_empty(), "{degrees}°: {events:?}");
    }
}

#[test]
fn every_gait_reaches_its_configured_speed() {
    let right = CapsuleInput { right: 127, ..default() };
    let forward = CapsuleInput { forward: 127, ..default() };
    let gaits = [
        ("a run", forward, 6.0),
        ("a run to the side", right, 6.0),
        ("a run along a diagonal", CapsuleInput { right: 127, ..forward }, 6.0),
        ("a half tilted stick", CapsuleInput { forward: 64, ..default() }, 6.0 * 64.0 / 127.0),
        ("a slightly tilted stick", CapsuleInput { right: 13, ..default() }, 6.0 * 13.0 / 127.0),
        ("a sprint", CapsuleInput { sprint: true, ..forward }, 9.0),
        ("a sprint to the side", CapsuleInput { sprint: true, ..right }, 6.0),
        ("a sprint backwards", CapsuleInput { forward: -127, sprint: true, ..default() }, 6.0),
        ("a slow walk", CapsuleInput { walk: true, ..forward }, 2.0),
        ("a slow walk that sprints", CapsuleInput { walk: true, sprint: true, ..forward }, 2.0),
        ("crouched", CapsuleInput { crouch: true, ..forward }, 3.0),
        ("a crouched sprint", CapsuleInput { crouch: true, sprint: true, ..forward }, 3.0),
    ];
    let mut app = Level::with_floor().build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    for (gait, input, speed) in gaits {
        let last = last_state(&run(&mut app, start, [input; 128], SETTLE).0);
        assert!((level_speed(&last) - speed).abs() < 2e-3, "{gait}: {} m/s for {speed}", level_speed(&last));
    }
}

#[test]
fn pawn_above_walk_speed_slows_down_to_the_limit_and_no_further() {
    let mut app = Level::with_floor().build();
    let start = CapsuleState { velocity: Vec3::X * 15.0, ..expect_standing(&mut app, Vec3::ZERO) };
    let (states, _) = run(&mut app, start, axis_inputs(127, 0, 32), SETTLE);
    let speeds: Vec<f32> = states.iter().map(|s| s.velocity.x).collect();
    assert!(speeds.windows(2).all(|pair| pair[1] <= pair[0] + 1e-4), "speeds must not increase: {speeds:?}");
    assert!(
        speeds.iter().all(|speed| *speed >= 6.0 - 1e-3),
        "speeds must not fall below the limit: {speeds:?}"
    );
    assert!((speeds[16] - 6.0).abs() < 1e-2, "the limit must be reached in 16 ticks: {speeds:?}");
}

#[test]
fn higher_braking_friction_factor_shortens_stops_but_not_turns() {
    let mut ways = Vec::new();
    let mut turns = Vec::new();
    for factor in [0.5, 2.0, 4.0] {
        let mut app = Level::with_floor().tune(|config| config.braking_friction_factor = factor).build();
        let start = expect_standing(&mut app, Vec3::ZERO);
        let running = last_state(&run(&mut app, start, axis_inputs(127, 0, 64), SETTLE).0);
        ways.push(
            last_state(&run(&mut app, running, neutral_inputs(128), 0).0).position.x - running.position.x,
        );
        turns.push(last_state(&run(&mut app, running, axis_inputs(0, 127, 16), 0).0).velocity);
    }
    assert!(ways[0] > ways[1] * 1.3 && ways[1] > ways[2] * 1.3, "{ways:?}");
    assert!(turns[0] == turns[1] && turns[1] == turns[2], "{turns:?}");
}

#[test]
fn disabled_pawn_falls_and_brakes_and_ignores_input() {
    let mut app = Level::with_floor().build();
    let state = CapsuleState { disabled: true, ..CapsuleState::at(Vec3::Y * 2.0) };
    let last = last_state(&run(&mut app, state, random_inputs(3, 128), 0).0);
    assert!(last.is_grounded() && last.position.with_y(0.0) == Vec3::ZERO && last.yaw == 0, "{last:?}");
    let running = CapsuleState { velocity: Vec3::X * 6.0, ..last };
    let stopped = last_state(&run(&mut app, running, axis_inputs(127, 127, 64), 128).0);
    assert_eq!(stopped.velocity, Vec3::ZERO, "{stopped:?}");
}

#[test]
fn pawn_walks_up_and_down_stairs_without_falling() {
    for rate in RATES {
        for sprint in [false, true] {
            let mut app = Level::with_floor().rate(rate).stairs(10, 0.15, 0.3).build();
            let start = expect_standing(&mut app, Vec3::X * -3.0);
            let up = vec![CapsuleInput { sprint, ..input_along(Vec3::X) }; 2 * rate as usize];
            let (states, events) = run(&mut app, start, up, SETTLE);
            assert_eq!(mode_changes(&events), 0, "up at {rate}/s: {events:?}");
            let top = last_state(&states);
            assert!(HOVER.contains(&(top.position.y - 1.5)), "up at {rate}/s: {top:?}");
            let on_stairs = states.iter().filter(|s| (0.0..3.0).contains(&s.position.x)).count();
            let speed = 3.0 * rate / on_stairs as f32;
            assert!(speed > 4.8, "climbs at {speed} m/s at {rate}/s");

            let start = expect_standing(&mut app, Vec3::new(6.0, 1.5, 0.0));
            let down = vec![CapsuleInput { sprint, ..input_along(Vec3::NEG_X) }; 2 * rate as usize];
            let (states, events) = run(&mut app, start, down, SETTLE);
            assert_eq!(mode_changes(&events), 0, "down at {rate}/s: {events:?}");
            assert!(
                HOVER.contains(&last_state(&states).position.y),
                "down at {rate}/s: {:?}",
                last_state(&states)
            );
        }
    }
}

fn step_heights(events: &[MoveEvent]) -> Vec<f32> {
    events
        .iter()
        .filter_map(|event| match event {
            MoveEvent::Stepped { height } => Some(*height),
            _ => None,
        })
        .collect()
}

#[test]
fn each_stair_emits_one_stepped_event_up_and_down() {
    let mut app = Level::with_floor().stairs(6, 0.3, 0.6).build();
    for speed in [40, 127] {
        let start = expect_standing(&mut app, Vec3::X * -2.0);
        let (_, events) = run(&mut app, start, axis_inputs(speed, 0, 300), SETTLE);
        let steps = step_heights(&events);
        let right = steps.len() == 6 && steps.iter().all(|step| (step - 0.3).abs() < 0.02);
        assert!(right, "up at {speed}: {steps:?}");
        let start = expect_standing(&mut app, Vec3::new(5.0, 1.8, 0.0));
        let (_, events) = run(&mut app, start, axis_inputs(-speed, 0, 300), SETTLE);
        let steps = step_heights(&events);
        let right = steps.len() == 6 && steps.iter().all(|step| (step + 0.3).abs() < 0.02);
        assert!(right, "down at {speed}: {steps:?}");
    }
}

#[test]
fn level_ground_and_slopes_emit_no_stepped_events() {
    let mut app = Level::with_floor().ramp(Vec3::X * 3.0, 30.0, 20.0).build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, events) = run(&mut app, start, axis_inputs(127, 0, 128), SETTLE);
    assert!(
        last_state(&states).position.y > 2.0,
        "the pawn must walk up the ramp: {:?}",
        last_state(&states)
    );
    assert!(step_heights(&events).is_empty(), "{events:?}");
}

#[test]
fn wall_stops_a_head_on_run_and_lets_an_oblique_run_slide() {
    let mut app = Level::with_floor().block(Vec3::new(3.0, 0.0, -50.0), Vec3::new(4.0, 6.0, 50.0)).build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, events) = run(&mut app, start, axis_inputs(127, 0, 128), SETTLE);
    let against = last_state(&states);
    assert!((against.position.x - (3.0 - 0.345)).abs() < 2e-3, "stops at {}", against.position.x);
    assert!(against.velocity.length() < 1e-3, "{against:?}");
    let hits: Vec<_> = events.iter().filter(|e| matches!(e, MoveEvent::HitWall { .. })).collect();
    let [MoveEvent::HitWall { normal, speed }] = hits[..] else {
        panic!("expected exactly one hit: {hits:?}")
    };
    assert!((*normal - Vec3::NEG_X).length() < 1e-3 && (*speed - 6.0).abs() < 0.01, "{hits:?}");
    let (states, _) = run(&mut app, against, axis_inputs(127, 127, 128), 0);
    let along = last_state(&states);
    assert!(along.position.x <= 3.0 - 0.34 && along.position.z < -4.0, "slides to {}", along.position);
    assert!(states.iter().all(|s| s.velocity.length() < 6.001), "the wall added speed");
    let longest = states.windows(2).map(|w| w[1].position.distance(w[0].position)).fold(0.0, f32::max);
    assert!(longest < 6.001 * DT + 1e-3, "a jerk of {longest} m");
}

#[test]
fn inner_corner_stops_a_diagonal_run_without_jitter() {
    let mut app = Level::with_floor()
        .block(Vec3::new(3.0, 0.0, -50.0), Vec3::new(4.0, 6.0, 50.0))
        .block(Vec3::new(-50.0, 0.0, -4.0), Vec3::new(50.0, 6.0, -3.0))
        .build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let (states, _) = run(&mut app, start, axis_inputs(127, 127, 256), SETTLE);
    let last = last_state(&states);
    assert!(last.position.x < 2.66 && last.position.z > -2.66 && last.is_grounded(), "{last:?}");
    assert!((last.position - states[200].position).length() < 1e-3, "the pawn jitters in the corner");
}

#[test]
fn pawn_comes_to_rest_without_jitter_between_converging_walls() {
    for rate in RATES {
        // Half the angle between the walls.
        for half in [20.0f32, 45.0, 60.0, 80.0] {
            let mut level = Level::with_floor().rate(rate);
            for side in [1.0, -1.0] {
                let turn = Quat::from_rotation_y(half.to_radians() * side);
                let middle = Vec3::X * 5.0 + turn * Vec3::new(-8.0, 2.0, 0.5 * side);
                level = level.collider(
                    Collider::cuboid(10.0, 4.0, 0.5),
                    Transform::from_translation(middle).with_rotation(turn),
                );
            }
            let mut app = level.build();
            for degrees in [0.0f32, 5.0, -12.0] {
                if half + degrees.abs() > 88.0 {
                    // A pawn can slide out of so blunt a corner on the other side.
                    continue;
                }
                let start = expect_standing(&mut app, Vec3::ZERO);
                let direction = Quat::from_rotation_y(degrees.to_radians()) * Vec3::X;
                let inputs = vec![input_along(direction); 3 * rate as usize];
                let (states, _) = run(&mut app, start, inputs, SETTLE);
                let how = format!("{degrees}° off the bisector of {}° at {rate}/s", 2.0 * half);
                let last = last_state(&states);
                assert!(last.position.x < 5.0 && last.is_grounded(), "{how}: {last:?}");
                assert!(last.position.x > 1.5, "the pawn must get near the corner: {how}: {last:?}");
                let late = &states[states.len() - rate as usize / 4..];
                let shiver = late.iter().map(|s| s.position.distance(last.position)).fold(0.0, f32::max);
                assert!(shiver < 2e-3, "jitter of {shiver} m, {how}");
            }
        }
    }
}

#[test]
fn jumping_into_walls_and_steep_slopes_does_not_climb_them() {
    let apex = 0.9 + 0.024;
    let wall = Level::with_floor().block(Vec3::new(3.0, 0.0, -20.0), Vec3::new(4.0, 9.0, 20.0));
    let edge = Level::with_floor().block(Vec3::new(3.0, 0.0, -20.0), Vec3::new(9.0, 1.5, 20.0));
    let steep = Level::with_floor().ramp(Vec3::X * 3.0, 60.0, 20.0);
    let barely = Level::with_floor().ramp(Vec3::X * 3.0, 47.0, 20.0);
    let levels = [("a wall", wall), ("a box", edge), ("a slope of 60°", steep), ("a slope of 47°", barely)];
    for (name, level) in levels {
        let mut app = level.build();
        for forward in [0, 60] {
            for pause in [2, 7, 20] {
                let start = expect_standing(&mut app, Vec3::ZERO);
                let (states, _) = run_with_feedback(&mut app, start, 640, SETTLE, |i, _| CapsuleInput {
                    right: 127,
                    // Alternates so that the pawn stays in front of the wall.
                    forward: if i / 64 % 2 == 0 { forward } else { -forward },
                    jump: i % pause == 0,
                    ..default()
                });
                let top = highest(&states);
                assert!(top < apex + 0.1, "{name}: up to {top} m, jumping every {pause} ticks");
                let furthest = states.iter().map(|s| s.position.x).fold(0.0, f32::max);
                assert!(furthest > 2.0, "{name}: the pawn must reach the wall, not only x = {furthest}");
            }
        }
    }
}

#[test]
fn crouched_pawn_stands_up_only_after_leaving_a_low_roof() {
    let mut app = Level::with_floor().block(Vec3::new(2.0, 1.1, -5.0), Vec3::new(4.0, 2.1, 5.0)).build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let blocked = last_state(&run(&mut app, start, axis_inputs(127, 0, 64), SETTLE).0);
    assert!(blocked.position.x < 2.0, "{blocked:?}");
    let crouched = vec![CapsuleInput { right: 127, crouch: true, ..default() }; 64];
    let (states, events) = run(&mut app, start, crouched, SETTLE);
    let under = last_state(&states);
    assert!(under.crouched && under.position.x > 2.4 && under.velocity.length() < 3.01, "{under:?}");
    assert!(events.contains(&MoveEvent::Crouched), "{events:?}");
    let (states, events) = run(&mut app, under, neutral_inputs(16), 0);
    assert!(
        last_state(&states).crouched && !events.contains(&MoveEvent::Stood),
        "no room to stand: {events:?}"
    );
    let (states, events) = run(&mut app, under, axis_inputs(127, 0, 192), 0);
    assert!(
        !last_state(&states).crouched && last_state(&states).position.x > 4.3,
        "{:?}",
        last_state(&states)
    );
    assert_eq!(count(&events, |event| *event == MoveEvent::Stood), 1, "{events:?}");
}

/// Jumps at every landing and, in the air, steers as far from the velocity as still gains speed.
fn expect_strafe_jump_speed(config: CapsuleConfig, seconds: usize) -> f32 {
    let block = (Vec3::new(-600.0, -1.0, -600.0), Vec3::new(600.0, 0.0, 600.0));
    let mut app = Level::new().config(config.clone()).block(block.0, block.1).build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let running = last_state(&run(&mut app, start, axis_inputs(0, 127, 64), SETTLE).0);
    let (states, events) = run_with_feedback(&mut app, running, seconds * 64, 0, |_, state| {
        let flat = state.velocity.with_y(0.0);
        let gain = config.acceleration * config.air_control * DT;
        let cos = ((config.max_walk_speed - gain) / flat.length().max(1.0)).min(1.0);
        let beside = Quat::from_rotation_y(cos.acos()) * flat;
        CapsuleInput { jump: state.is_grounded(), ..input_along(beside) }
    });
    assert!(jumps(&events).len() > seconds / 2, "too few jumps: {}", jumps(&events).len());
    level_speed(&last_state(&states))
}

#[test]
fn strafe_jumps_gain_speed_with_the_quake_preset_and_none_by_default() {
    let quake = expect_strafe_jump_speed(CapsuleConfig::quake(), 5);
    assert!(quake > 12.0, "{quake} m/s");
    let unreal = expect_strafe_jump_speed(CapsuleConfig::default(), 5);
    assert!(unreal < 6.01, "{unreal} m/s");
}

#[test]
fn quake_preset_runs_at_320_units_per_second_and_stops() {
    let mut app = Level::with_floor().config(CapsuleConfig::quake()).build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let running = last_state(&run(&mut app, start, axis_inputs(127, 0, 128), SETTLE).0);
    assert!((level_speed(&running) - 320.0 * 0.0254).abs() < 0.05, "{running:?}");
    let stopped = last_state(&run(&mut app, running, neutral_inputs(64), 0).0);
    assert_eq!(stopped.velocity, Vec3::ZERO, "{stopped:?}");
}

#[test]
fn one_long_step_matches_many_short_steps() {
    let mut app = Level::with_floor().ramp(Vec3::X * 3.0, 30.0, 20.0).build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let input = CapsuleInput { right: 127, ..default() };
    let running = last_state(&run(&mut app, start, [input; 64], SETTLE).0);
    for state in [running, CapsuleState { velocity: Vec3::X * 5.9, ..start }] {
        let long = step_once(&mut app, state, input, 0.2);
        let short = last_state(&run(&mut app, state, [input; 12], 0).0);
        let short = step_once(&mut app, short, input, 0.2 - 12.0 * DT);
        let apart = long.position.distance(short.position);
        assert!(apart < 0.05, "{apart} m: {long:?} and {short:?}");
        assert!((long.velocity - short.velocity).length() < 0.1, "{long:?} and {short:?}");
    }
    // Airborne paths are parabolas, for which one step is exact.
    let falling = CapsuleState { velocity: Vec3::new(3.0, 2.0, 0.0), ..CapsuleState::at(Vec3::Y * 20.0) };
    let long = step_once(&mut app, falling, CapsuleInput::default(), 0.2);
    let expected = falling.position + falling.velocity * 0.2 - Vec3::Y * (0.5 * GRAVITY * 0.04);
    assert!(long.position.distance(expected) < 1e-3, "{} for {expected}", long.position);
}

#[test]
fn long_step_does_not_tunnel_through_a_thin_wall() {
    let mut app = Level::with_floor().block(Vec3::new(2.0, 0.0, -5.0), Vec3::new(2.05, 3.0, 5.0)).build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let input = CapsuleInput { sprint: true, ..input_along(Vec3::X) };
    for (velocity, dt) in [(9.0, 0.4), (9.0, 0.2), (9.0, 5.0), (60.0, 0.05), (60.0, 0.4)] {
        let mut state = CapsuleState { velocity: Vec3::X * velocity, ..start };
        for _ in 0..4 {
            state = step_once(&mut app, state, input, dt);
            assert!(state.position.x < 2.0 - 0.33, "a step of {dt} s at {velocity} m/s: {state:?}");
        }
        assert!(state.position.x > 1.6, "the pawn must reach the wall: {state:?}");
    }
}

#[test]
fn cheap_step_follows_the_ground_and_stops_at_walls() {
    let mut app = Level::with_floor()
        .ramp(Vec3::X * 3.0, 30.0, 20.0)
        .block(Vec3::new(-4.0, 0.0, -9.0), Vec3::new(-3.0, 3.0, 9.0))
        .build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    for (velocity, ends) in [(6.0, 6.0), (-6.0, -2.655)] {
        let running = CapsuleState { velocity: Vec3::X * velocity, ..start };
        let states = run_cheap_steps(&mut app, running, 64);
        let last = last_state(&states);
        assert!((last.position.x - ends).abs() < 0.1, "{last:?}");
        let ground = (last.position.x - 3.0).max(0.0) * 30f32.to_radians().tan();
        let above = last.position.y - ground;
        assert!((0.0..0.1).contains(&above), "{above} m above the ground: {last:?}");
    }
}

#[test]
fn falling_proxy_takes_the_gravity_of_its_class() {
    let mut config = CapsuleConfig::default();
    let light = CapsuleConfig { gravity: config.gravity / 4.0, ..CapsuleConfig::default() };
    let light = config.add_class(light).expect("there is room for a class");
    let mut app = Level::with_floor().config(config).build();
    let start = CapsuleState { mode: MovementMode::Falling, ..CapsuleState::at(Vec3::Y * 50.0) };
    let start = PoseSample::from(&CapsuleModel::snapshot(&start, Tick(1)));
    let entity = app.world_mut().spawn_empty().id();
    let mut system =
        SystemState::<(MoverWorld<'static, 'static>, Res<'static, CapsuleConfig>)>::new(app.world_mut());
    let (world, config) = system.get(app.world()).expect("a level has a world to move in");
    let ctx = StepContext { tick: Tick(2), dt: DT, entity, replaying: true };
    let [usual, light] = [PawnClass::default(), light].map(|class| {
        (0..32).fold(start, |pose, _| CapsuleModel::proxy_step(&config, class, &pose, &ctx, &world))
    });
    let [usual, light] = [usual, light].map(|pose| pose.velocity.y);
    assert!(usual < -4.0 && (usual / light - 4.0).abs() < 0.1, "{usual} and {light} m/s");
}

/// Steps without input, through [`CapsuleModel::simplified_step`].
fn run_cheap_steps(app: &mut App, state: CapsuleState, ticks: usize) -> Vec<CapsuleState> {
    let entity = app.world_mut().spawn_empty().id();
    let mut system =
        SystemState::<(MoverWorld<'static, 'static>, Res<'static, CapsuleConfig>)>::new(app.world_mut());
    let (world, config) = system.get(app.world()).expect("a level has a world to move in");
    let mut states = vec![state];
    for i in 0..ticks {
        let ctx = StepContext { tick: Tick(i as u32), dt: DT, entity, replaying: false };
        states.push(CapsuleModel::simplified_step(&config, &states[i], &ctx, &world));
    }
    states
}

#[test]
fn pawn_runs_along_the_heading_of_its_input() {
    let mut app = Level::with_floor().build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    for yaw in [0u16, 9_000, 16_384, 40_000, 65_535] {
        let input = CapsuleInput { forward: 127, yaw, pitch: -900, ..default() };
        let last = last_state(&run(&mut app, start, [input; 64], SETTLE).0);
        let (sin, cos) = sin_cos_of_units(yaw);
        let direction = last.velocity.normalize();
        assert!(direction.distance(Vec3::new(-sin, 0.0, -cos)) < 1e-3, "{yaw}: {direction}");
        assert_eq!((last.yaw, last.pitch), (yaw, -900));
    }
}

#[test]
fn leaning_on_a_wall_emits_one_hit_event_with_every_preset() {
    for config in [CapsuleConfig::default(), CapsuleConfig::quake(), CapsuleConfig::arcade()] {
        for rate in [20.0, 64.0] {
            let level = Level::with_floor().config(config.clone()).rate(rate);
            let mut app = level.block(Vec3::new(3.0, 0.0, -9.0), Vec3::new(4.0, 6.0, 9.0)).build();
            let start = expect_standing(&mut app, Vec3::ZERO);
            let (_, events) = run(&mut app, start, axis_inputs(127, 0, 3 * rate as usize), SETTLE);
            let hits = events.iter().filter(|e| matches!(e, MoveEvent::HitWall { .. })).count();
            assert_eq!(hits, 1, "at {rate}/s: {events:?}");
        }
    }
}
