//! Pawns whose own time has another rate than the world's.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{ExtendedState, MoveModel, Tick, TimeDilation};
use bevy_unlag_movement::{
    BaseId, BaseTrack, CapsuleConfig, CapsuleInput, CapsuleModel, CapsulePush, CapsuleState, CapsuleWith,
    MovementBase, Turntable,
    abilities::{Dash, DashConfig, DashEvent, DashInput},
};

use crate::common::*;

const FACTORS: [f32; 5] = [0.1, 0.24, 0.5, 2.0, 4.0];

/// The state after the push that a server schedules.
fn at_rate(state: CapsuleState, factor: f32) -> CapsuleState {
    let push = CapsulePush::TimeDilation(TimeDilation::new(factor));
    CapsuleModel::push(&CapsuleConfig::default(), &state, &push)
}

#[test]
fn distance_and_world_velocity_are_proportional_to_the_rate() {
    let mut app = Level::with_floor().build();
    let start = expect_standing(&mut app, Vec3::X * -50.0);
    let running = last_state(&run(&mut app, start, axis_inputs(127, 0, 64), SETTLE).0);
    for factor in FACTORS {
        let (states, events) = run(&mut app, at_rate(running, factor), axis_inputs(127, 0, 64), 200);
        let moved = last_state(&states).position.x - running.position.x;
        assert!((moved - 6.0 * factor).abs() < 0.01, "{factor}: {moved} m in a second");
        let velocity = last_state(&states).world_velocity();
        assert!((velocity.x - 6.0 * factor).abs() < 1e-3, "{factor}: {velocity}");
        assert_eq!(CapsuleModel::velocity(&last_state(&states)), velocity);
        let drawn = CapsuleModel::snapshot(&last_state(&states), Tick(0)).velocity();
        assert!(drawn.distance(velocity) < 0.04, "{factor}: {drawn} is sent, {velocity} is true");
        assert!(events.is_empty(), "{factor}: {events:?}");
    }
}

#[test]
fn jump_is_as_high_and_takes_as_long_in_the_own_time() {
    let mut app = Level::with_floor().build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let in_air = |states: &[CapsuleState]| states.iter().filter(|state| !state.is_grounded()).count() as f32;
    let (usual, _) = run(&mut app, start, jump_inputs(70), SETTLE);
    for factor in [0.1, 0.5, 2.0] {
        let ticks = (70.0 / factor) as usize;
        let (states, events) = run(&mut app, at_rate(start, factor), jump_inputs(ticks), SETTLE);
        assert_eq!(jumps(&events), [1], "{factor}");
        let (height, usual_height) = (highest(&states), highest(&usual));
        assert!((height - usual_height).abs() < 0.02, "{factor}: {height} m instead of {usual_height} m");
        let (ticks, expected) = (in_air(&states), in_air(&usual) / factor);
        assert!((ticks - expected).abs() <= 1.0 + 1.0 / factor, "{factor}: {ticks} of {expected} ticks");
    }
}

#[test]
fn change_of_the_rate_changes_the_speed_in_the_world_at_once() {
    let mut app = Level::with_floor().build();
    let start = expect_standing(&mut app, Vec3::ZERO);
    let running = last_state(&run(&mut app, start, axis_inputs(127, 0, 64), SETTLE).0);
    let slow = at_rate(running, 0.5);
    assert_eq!(slow.velocity, running.velocity);
    assert_eq!(slow.world_velocity(), running.world_velocity() * 0.5);
    assert_ne!(CapsuleModel::kind(&slow), CapsuleModel::kind(&running), "a difference must be noticed");
    let again = at_rate(slow, 1.0);
    assert_eq!(bits(&again), bits(&running));
}

fn spawn_base(app: &mut App, track: BaseTrack) {
    let base = MovementBase { id: BaseId(1), track };
    spawn(app, (base, Collider::cuboid(8.0, 0.25, 8.0), Transform::default()));
}

#[test]
fn base_moves_a_pawn_in_the_time_of_the_world_and_imparts_its_velocity() {
    for factor in [0.5, 1.0, 2.0] {
        let mut app = Level::new().build();
        let at = |seconds: f64| Isometry3d::from_translation(Vec3::X * (2.0 * seconds) as f32);
        spawn_base(&mut app, BaseTrack::Custom(Arc::new(at)));
        let rider = at_rate(expect_standing(&mut app, Vec3::Y * 0.25), factor);
        let (states, events) = run(&mut app, rider, neutral_inputs(64), SETTLE);
        assert!(events.is_empty(), "{factor}: {events:?}");
        let last = last_state(&states);
        assert_eq!(last.base_position, rider.base_position, "{factor}: creeps");
        let speed = CapsuleModel::velocity(&last).x;
        let moved = last.position.x - states[1].position.x;
        assert!((moved - speed * 63.0 / 64.0).abs() < 0.01, "{factor}: {moved} m at {speed} m/s");
        assert!((speed - 2.0).abs() < 0.01, "{factor}: the base moves at {speed} m/s");
        let (states, _) = run(&mut app, last, jump_inputs(8), SETTLE + 64);
        let airborne = last_state(&states);
        assert!(!airborne.is_grounded(), "{factor}: {airborne:?}");
        let kept = airborne.world_velocity().x;
        assert!((kept - speed).abs() < 0.01, "{factor}: {kept} m/s in the air, {speed} m/s on the base");
    }
}

#[test]
fn turning_base_turns_the_view_as_much_at_any_rate() {
    let turned = |factor: f32| {
        let mut app = Level::new().tune(|config| config.turn_with_base = true).build();
        spawn_base(&mut app, BaseTrack::Turntable(Turntable::default()));
        let rider = at_rate(expect_standing(&mut app, Vec3::new(1.0, 0.25, 0.0)), factor);
        let last = last_state(&run(&mut app, rider, neutral_inputs(64), SETTLE).0);
        last.base_turn.wrapping_sub(rider.base_turn)
    };
    let usual = turned(1.0);
    assert!(usual > 100 && usual < 65_000, "{usual}");
    for factor in [0.5, 2.0] {
        assert!(turned(factor).abs_diff(usual) < 100, "{factor}: {} of {usual}", turned(factor));
    }
}

#[test]
fn dash_goes_as_far_and_cools_down_in_the_own_time() {
    let mut dash = DashConfig::default();
    let level = Level::with_floor();
    let mut app =
        level.tune(|config| dash = DashConfig::register(config).expect("room for another mode")).build();
    app.insert_resource(dash);
    let start = expect_standing(&mut app, Vec3::Z * 50.0);
    let dashes = |app: &mut App, factor: f32| {
        let state = ExtendedState::new(at_rate(start, factor));
        let ticks = (200.0 / factor) as usize;
        let (states, events) = drive::<CapsuleWith<Dash>>(app, state, ticks, SETTLE, DT, |i, _| {
            let extension = DashInput { pressed: i % 2 == 0 };
            bevy_unlag_core::ExtendedInput { body: CapsuleInput::default(), extension }
        });
        let started: Vec<usize> = (0..ticks)
            .filter(|tick| {
                events[*tick].iter().any(|event| {
                    matches!(event, bevy_unlag_core::ExtendedEvent::Extension(DashEvent::Started { .. }))
                })
            })
            .collect();
        (started, start.position.distance(last_state(&states).body.position))
    };
    let (usual, way) = dashes(&mut app, 1.0);
    assert!(usual.len() >= 3, "{usual:?}");
    for factor in [0.5, 2.0] {
        let (started, far) = dashes(&mut app, factor);
        assert_eq!(started.len(), usual.len(), "{factor}: {started:?} instead of {usual:?}");
        let (pause, expected) = ((started[1] - started[0]) as f32, (usual[1] - usual[0]) as f32 / factor);
        assert!((pause - expected).abs() <= 4.0, "{factor}: {pause} of {expected} ticks");
        assert!((far - way).abs() < 0.05 * way, "{factor}: {far} m instead of {way} m");
    }
}
