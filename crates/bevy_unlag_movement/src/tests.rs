//! The capsule in little levels, through the public API.

use core::time::Duration;

use bevy::{ecs::system::SystemState, prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{MoveModel, StepContext, Tick};

use crate::{
    CapsuleConfig, CapsuleInput, CapsuleModel, CapsuleState, MoveEvent, MovementMode, MovementPlugin,
    MoverWorld,
};

const DT: f32 = 1.0 / 64.0;

/// Half extents, middle, and a turn about +Z.
type Block = (Vec3, Vec3, f32);

const FLOOR: Block = (Vec3::new(60.0, 0.5, 60.0), Vec3::new(0.0, -0.5, 0.0), 0.0);

fn app(blocks: &[Block]) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, MovementPlugin::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(DT)));
    for (half, middle, turn) in blocks {
        app.world_mut().spawn((
            Collider::cuboid(half.x, half.y, half.z),
            Transform::from_translation(*middle).with_rotation(Quat::from_rotation_z(*turn)),
        ));
    }
    app.finish();
    app.cleanup();
    for _ in 0..4 {
        app.update();
    }
    app
}

/// Steps `state` through `inputs` and returns every state and all events.
fn run(
    app: &mut App,
    state: CapsuleState,
    inputs: impl IntoIterator<Item = CapsuleInput>,
) -> (Vec<CapsuleState>, Vec<MoveEvent>) {
    let entity = app.world_mut().spawn_empty().id();
    let mut system =
        SystemState::<(MoverWorld<'static, 'static>, Res<'static, CapsuleConfig>)>::new(app.world_mut());
    let Ok((world, config)) = system.get(app.world()) else { panic!("no world to move in") };
    let mut events = Vec::new();
    let mut states = vec![state];
    for (i, input) in inputs.into_iter().enumerate() {
        let ctx = StepContext { tick: Tick(i as u32), dt: DT, entity };
        let last = states[states.len() - 1];
        states.push(CapsuleModel::step(&config, &last, &input, &ctx, &world, &mut events));
    }
    (states, events)
}

fn end(states: &[CapsuleState]) -> CapsuleState {
    states[states.len() - 1]
}

fn nothing(ticks: usize) -> Vec<CapsuleInput> {
    vec![CapsuleInput::default(); ticks]
}

/// Runs towards +X (right, looking along -Z) and, with `forward`, towards -Z.
fn towards(right: i8, forward: i8, ticks: usize) -> Vec<CapsuleInput> {
    vec![CapsuleInput { right, forward, ..default() }; ticks]
}

/// A pawn at rest on the floor.
fn standing(app: &mut App, x: f32) -> CapsuleState {
    end(&run(app, CapsuleState::at(Vec3::new(x, 0.1, 0.0)), nothing(32)).0)
}

#[test]
fn it_lands_and_stands_still() {
    let mut app = app(&[FLOOR]);
    let (states, events) = run(&mut app, CapsuleState::at(Vec3::Y * 2.0), nothing(128));
    let rest = end(&states);
    assert_eq!(rest.mode, MovementMode::Walking);
    assert!((0.019..=0.024).contains(&rest.position.y), "hovers at {}", rest.position.y);
    assert_eq!(rest.velocity, Vec3::ZERO);
    assert_eq!(states[100], rest, "stands still");
    let [MoveEvent::Landed { speed }] = events[..] else { panic!("{events:?}") };
    assert!((speed - (2.0f32 * 9.8 * 2.0).sqrt()).abs() < 0.2, "landed with {speed}");
}

#[test]
fn nobody_falls_through_at_top_speed() {
    let mut app = app(&[(Vec3::new(20.0, 0.01, 20.0), Vec3::ZERO, 0.0)]);
    let state = CapsuleState { velocity: Vec3::Y * -900.0, ..CapsuleState::at(Vec3::Y * 30.0) };
    let (states, _) = run(&mut app, state, nothing(200));
    assert!(end(&states).position.y > 0.0 && end(&states).is_grounded());
}

#[test]
fn a_run_is_six_metres_a_second_and_loses_nothing() {
    let mut app = app(&[FLOOR]);
    let start = standing(&mut app, -50.0);
    let (states, events) = run(&mut app, start, towards(127, 0, 64 * 12));
    assert!(events.is_empty(), "{events:?}");
    assert!(states.iter().all(|s| s.velocity.y == 0.0 && s.is_grounded()));
    let (first, last) = (states[64], end(&states));
    assert!((last.velocity.length() - 6.0).abs() < 1e-4);
    let distance = last.position.x - first.position.x;
    assert!((distance - 66.0).abs() < 0.01, "{distance} m in 11 s");
    let stopped = end(&run(&mut app, last, nothing(64)).0);
    assert_eq!(stopped.velocity, Vec3::ZERO);
}

#[test]
fn a_jump_is_as_high_as_it_should_be() {
    let mut app = app(&[FLOOR]);
    let start = standing(&mut app, 0.0);
    let held = CapsuleInput { jump: true, ..default() };
    let (states, events) = run(&mut app, start, vec![held; 128]);
    let apex = states.iter().map(|s| s.position.y).fold(0.0, f32::max) - start.position.y;
    assert!((apex - 4.2 * 4.2 / (2.0 * 9.8)).abs() < 0.02, "{apex} m");
    assert!(matches!(events[..], [MoveEvent::Jumped, MoveEvent::Landed { .. }]), "one press: {events:?}");
}

#[test]
fn a_low_ceiling_ends_a_jump() {
    let mut app = app(&[FLOOR, (Vec3::new(5.0, 0.5, 5.0), Vec3::new(0.0, 2.5, 0.0), 0.0)]);
    let start = standing(&mut app, 0.0);
    let jump = CapsuleInput { jump: true, ..default() };
    let (states, _) = run(&mut app, start, vec![jump; 64]);
    assert!(states.iter().all(|s| s.position.y + 1.76 < 2.0));
    assert!(end(&states).is_grounded());
}

#[test]
fn a_wall_stops_and_lets_slide() {
    let wall = (Vec3::new(0.5, 3.0, 50.0), Vec3::new(3.5, 3.0, 0.0), 0.0);
    let mut app = app(&[FLOOR, wall]);
    let start = standing(&mut app, 0.0);
    let against = end(&run(&mut app, start, towards(127, 0, 128)).0);
    assert!((against.position.x - (3.0 - 0.345)).abs() < 2e-3, "stops at {}", against.position.x);
    assert!(against.velocity.length() < 1e-3);
    let (states, _) = run(&mut app, against, towards(127, 127, 128));
    let along = end(&states);
    assert!(along.position.x <= 3.0 - 0.34 && along.position.z < -4.0, "slides to {}", along.position);
    assert!(states.iter().all(|s| s.velocity.length() < 6.001), "walls give no speed");
    assert!(states.windows(2).all(|w| (w[1].position - w[0].position).length() < 6.001 * DT + 0.03));
}

#[test]
fn a_corner_holds() {
    let mut app = app(&[
        FLOOR,
        (Vec3::new(0.5, 3.0, 50.0), Vec3::new(3.5, 3.0, 0.0), 0.0),
        (Vec3::new(50.0, 3.0, 0.5), Vec3::new(0.0, 3.0, -3.5), 0.0),
    ]);
    let start = standing(&mut app, 0.0);
    let (states, _) = run(&mut app, start, towards(127, 127, 256));
    let last = end(&states);
    assert!(last.position.x < 2.66 && last.position.z > -2.66 && last.is_grounded());
    assert!((last.position - states[200].position).length() < 1e-3, "and does not shiver");
}

fn climbs(height: f32) -> bool {
    let step = (Vec3::new(3.0, height / 2.0, 5.0), Vec3::new(5.0, height / 2.0, 0.0), 0.0);
    let mut app = app(&[FLOOR, step]);
    let mut ends = [0.0, 1.64].map(|x| {
        let start = standing(&mut app, x);
        end(&run(&mut app, start, towards(127, 0, 64)).0)
    });
    ends.sort_by(|a, b| a.position.y.total_cmp(&b.position.y));
    let up = ends.map(|s| (s.position.y - height - 0.0215).abs() < 0.003 && s.position.x > 2.5);
    assert_eq!(up[0], up[1], "with a run-up and without: {ends:?}");
    up[0]
}

#[test]
fn a_low_step_is_climbed_a_high_one_is_not() {
    assert!(climbs(0.05));
    assert!(climbs(0.2));
    assert!(climbs(0.4));
    assert!(!climbs(0.6));
    assert!(!climbs(0.9));
}

#[test]
fn stairs_go_down_without_a_fall() {
    let steps: Vec<Block> = (0..5)
        .map(|i| i as f32)
        .map(|i| (Vec3::new(0.25, 0.15 * (5.0 - i), 5.0), Vec3::new(i * 0.5, 0.15 * (5.0 - i), 0.0), 0.0))
        .chain([FLOOR])
        .collect();
    let mut app = app(&steps);
    let start = end(&run(&mut app, CapsuleState::at(Vec3::Y * 1.6), nothing(32)).0);
    assert!((start.position.y - 1.5215).abs() < 0.003, "{}", start.position.y);
    let (states, events) = run(&mut app, start, towards(64, 0, 128));
    assert!(events.is_empty(), "{events:?}");
    assert!(end(&states).position.y < 0.03);
}

#[test]
fn slopes_are_walked_up_to_the_limit() {
    for (degrees, up) in [(30.0f32, true), (43.0, true), (47.0, false)] {
        let slope = (Vec3::new(20.0, 0.5, 5.0), Vec3::new(10.0, 0.0, 0.0), degrees.to_radians());
        let mut app = app(&[FLOOR, slope]);
        let start = standing(&mut app, -8.0);
        let (states, _) = run(&mut app, start, towards(127, 0, 64 * 4));
        let last = end(&states);
        assert_eq!(last.position.y > 3.0, up, "{degrees}°: {last:?}");
        if up {
            assert!((last.velocity.length() - 6.0).abs() < 1e-3, "level speed is kept: {last:?}");
        }
    }
}

#[test]
fn a_ledge_ends_the_walk() {
    let mut app = app(&[(Vec3::new(2.0, 0.5, 2.0), Vec3::new(0.0, 4.5, 0.0), 0.0), FLOOR]);
    let start = end(&run(&mut app, CapsuleState::at(Vec3::Y * 5.1), nothing(32)).0);
    let (states, events) = run(&mut app, start, towards(127, 0, 128));
    assert!(events.contains(&MoveEvent::WalkedOff), "{events:?}");
    assert!(end(&states).is_grounded() && end(&states).position.y < 0.03);
}

#[test]
fn a_crouched_pawn_stays_low_under_a_roof() {
    let mut app = app(&[FLOOR, (Vec3::new(1.0, 0.5, 5.0), Vec3::new(3.0, 1.6, 0.0), 0.0)]);
    let start = standing(&mut app, 0.0);
    let blocked = end(&run(&mut app, start, towards(127, 0, 64)).0);
    assert!(blocked.position.x < 2.0);
    let crouched = vec![CapsuleInput { right: 127, crouch: true, ..default() }; 64];
    let (states, _) = run(&mut app, start, crouched);
    let under = end(&states);
    assert!(under.crouched && under.position.x > 2.4 && under.velocity.length() < 3.01, "{under:?}");
    let (states, events) = run(&mut app, under, nothing(16));
    assert!(end(&states).crouched, "no room to stand");
    assert!(!events.contains(&MoveEvent::Stood));
    let (states, _) = run(&mut app, under, towards(127, 0, 192));
    assert!(!end(&states).crouched && end(&states).position.x > 4.3);
}

fn wild_inputs(ticks: usize) -> Vec<CapsuleInput> {
    let mut seed = 7u64;
    let mut input = CapsuleInput::default();
    (0..ticks)
        .map(|i| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if i % 16 == 0 {
                input.right = (seed >> 56) as i8;
                input.forward = (seed >> 48) as i8;
                input.yaw = (seed >> 32) as u16;
                input.jump = (seed >> 31) & 3 == 0;
                input.crouch = (seed >> 29) & 7 == 0;
            }
            input
        })
        .collect()
}

fn wild_level() -> Vec<Block> {
    let mut blocks = vec![FLOOR];
    for i in 0..60 {
        let at = Vec3::new((i * 7 % 23) as f32 - 11.0, (i % 5) as f32 * 0.2, (i * 11 % 19) as f32 - 9.0);
        blocks.push((Vec3::new(0.8, 0.25, 1.1), at, (i % 9) as f32 * 0.2));
    }
    blocks.push((Vec3::new(0.5, 4.0, 20.0), Vec3::new(14.0, 4.0, 0.0), 0.0));
    blocks.push((Vec3::new(0.5, 4.0, 20.0), Vec3::new(-14.0, 4.0, 0.0), 0.0));
    blocks.push((Vec3::new(20.0, 4.0, 0.5), Vec3::new(0.0, 4.0, 14.0), 0.0));
    blocks.push((Vec3::new(20.0, 4.0, 0.5), Vec3::new(0.0, 4.0, -14.0), 0.0));
    blocks
}

#[test]
fn equal_inputs_give_equal_bits_whatever_the_spawn_order() {
    let level = wild_level();
    let reversed: Vec<Block> = level.iter().rev().copied().collect();
    let start = CapsuleState::at(Vec3::Y * 4.0);
    let inputs = wild_inputs(4_000);
    let bits = |states: &[CapsuleState]| -> Vec<[u32; 6]> {
        let bits = |v: Vec3| v.to_array().map(f32::to_bits);
        states
            .iter()
            .map(|s| {
                let ([a, b, c], [d, e, f]) = (bits(s.position), bits(s.velocity));
                [a, b, c, d, e, f]
            })
            .collect()
    };
    let mut first = app(&level);
    let (once, _) = run(&mut first, start, inputs.clone());
    let (again, _) = run(&mut first, once[1_000], inputs[1_000..].to_vec());
    assert!(bits(&once[1_000..]) == bits(&again), "a replay differs");
    let (other, _) = run(&mut app(&reversed), start, inputs);
    assert!(bits(&once) == bits(&other), "the spawn order shows");
}

#[test]
fn a_wild_run_stays_in_its_walls() {
    let mut app = app(&wild_level());
    let (states, _) = run(&mut app, CapsuleState::at(Vec3::Y * 4.0), wild_inputs(8_000));
    for (i, state) in states.iter().enumerate() {
        let p = state.position;
        assert!(p.is_finite() && p.y > 0.0 && p.x.abs() < 13.2 && p.z.abs() < 13.2, "tick {i}: {state:?}");
        assert!(state.velocity.length() < 12.0, "tick {i}: {state:?}");
    }
}

#[test]
fn numbers_that_are_none_change_nothing() {
    let mut app = app(&[FLOOR]);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for state in [
            CapsuleState::at(Vec3::splat(bad)),
            CapsuleState { velocity: Vec3::X * bad, ..CapsuleState::at(Vec3::Y) },
        ] {
            let (states, events) = run(&mut app, state, towards(i8::MIN, i8::MIN, 3));
            assert!(events.is_empty());
            assert_eq!(
                end(&states).position.to_array().map(f32::to_bits),
                state.position.to_array().map(f32::to_bits)
            );
        }
    }
    let far = CapsuleState::at(Vec3::splat(1e30));
    assert_eq!(end(&run(&mut app, far, nothing(3)).0), far);
}

#[test]
fn the_disabled_fall_and_want_nothing() {
    let mut app = app(&[FLOOR]);
    let state = CapsuleState { disabled: true, ..CapsuleState::at(Vec3::Y * 2.0) };
    let (states, _) = run(&mut app, state, wild_inputs(128));
    let last = end(&states);
    assert!(last.is_grounded() && last.position.with_y(0.0) == Vec3::ZERO && last.yaw == 0);
}

/// A mesh, whose triangles are measured by other code than boxes.
#[test]
fn a_mesh_is_a_floor_too() {
    let mut app = app(&[]);
    let corners = |i: u32| Vec3::new((i % 9) as f32 * 4.0 - 16.0, 0.0, (i / 9) as f32 * 4.0 - 16.0);
    let vertices: Vec<Vec3> = (0..81).map(corners).collect();
    let triangles: Vec<[u32; 3]> = (0..64)
        .map(|i| i / 8 * 9 + i % 8)
        .flat_map(|i| [[i, i + 9, i + 1], [i + 1, i + 9, i + 10]])
        .collect();
    let Ok(mesh) = Collider::trimesh(vertices, triangles) else { panic!("no mesh") };
    app.world_mut().spawn((mesh, Transform::default()));
    for _ in 0..3 {
        app.update();
    }
    let start = standing(&mut app, -14.0);
    let (states, events) = run(&mut app, start, towards(127, 0, 64 * 4));
    assert!(events.is_empty(), "{events:?}");
    assert!(states.iter().all(|s| s.is_grounded() && (0.019..=0.024).contains(&s.position.y)));
    assert!((end(&states).position.x - states[64].position.x - 18.0).abs() < 0.01);
}
