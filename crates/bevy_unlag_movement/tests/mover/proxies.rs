//! Remote capsules that are simulated to the present: their cheap step follows the ground, walls and gravity.

use bevy::{ecs::system::SystemState, prelude::*};
use bevy_unlag_core::{MoveModel, PawnClass, PoseSample, StepContext, Tick};
use bevy_unlag_movement::{CapsuleConfig, CapsuleModel, CapsuleState, MovementMode, MoverWorld};

use crate::common::{DT, GRAVITY, Level, expect_standing};

/// The pose that a client receives of `state`.
fn received(state: &CapsuleState) -> PoseSample {
    let snapshot = CapsuleModel::snapshot(state, Tick(1));
    PoseSample { position: state.position, ..PoseSample::from(&snapshot) }
}

/// Simulates a received pose by whole ticks.
fn simulated(app: &mut App, state: &CapsuleState, ticks: u32) -> PoseSample {
    let entity = app.world_mut().spawn_empty().id();
    let mut system =
        SystemState::<(MoverWorld<'static, 'static>, Res<'static, CapsuleConfig>)>::new(app.world_mut());
    let (world, config) = system.get(app.world()).expect("the level must provide the mover's world");
    let mut pose = received(state);
    for tick in 0..ticks {
        let ctx = StepContext { tick: Tick(2 + tick), dt: DT, entity, replaying: true };
        pose = CapsuleModel::proxy_step(&config, PawnClass::default(), &pose, &ctx, &world);
    }
    pose
}

/// Control: the straight line along which a pose without a world continues.
fn straight(state: &CapsuleState, ticks: u32) -> Vec3 {
    state.position + state.world_velocity() * (ticks as f32 * DT)
}

/// Fails if `proxy_step` of the capsule is a straight line.
#[test]
fn simulated_capsule_stops_at_a_wall() {
    let mut app = Level::with_floor().block(Vec3::new(3.0, 0.0, -9.0), Vec3::new(4.0, 3.0, 9.0)).build();
    let start = CapsuleState { velocity: Vec3::X * 6.0, ..expect_standing(&mut app, Vec3::ZERO) };
    let face = 3.0 - CapsuleConfig::default().radius;
    assert!(straight(&start, 64).x > 5.0, "the control must pass the wall");
    let stopped = simulated(&mut app, &start, 64);
    assert!((face - 0.1..=face + 0.01).contains(&stopped.position.x), "{stopped:?}");
    assert!(stopped.velocity.x.abs() < 0.1, "{stopped:?}");
}

#[test]
fn simulated_capsule_slides_along_a_wall_that_it_meets_at_an_angle() {
    let mut app = Level::with_floor().block(Vec3::new(1.0, 0.0, -20.0), Vec3::new(2.0, 3.0, 20.0)).build();
    let velocity = Vec3::new(3.0, 0.0, 5.0);
    let start = CapsuleState { velocity, ..expect_standing(&mut app, Vec3::ZERO) };
    let slid = simulated(&mut app, &start, 64);
    assert!(slid.position.x < 1.0 - CapsuleConfig::default().radius + 0.01, "{slid:?}");
    assert!((4.0..5.1).contains(&slid.position.z), "{slid:?}");
}

#[test]
fn simulated_capsule_follows_a_ramp() {
    let mut app = Level::with_floor().ramp(Vec3::X * 2.0, 30.0, 20.0).build();
    let start = CapsuleState { velocity: Vec3::X * 6.0, ..expect_standing(&mut app, Vec3::ZERO) };
    let climbed = simulated(&mut app, &start, 64);
    let ground = (climbed.position.x - 2.0) * 30f32.to_radians().tan();
    assert!(ground > 1.0, "the control would be {ground} m inside the ramp: {climbed:?}");
    assert!((0.0..0.15).contains(&(climbed.position.y - ground)), "ground at {ground} m: {climbed:?}");
}

#[test]
fn simulated_capsule_in_the_air_falls_on_its_parabola_and_one_that_flies_does_not() {
    let mut app = Level::with_floor().build();
    let velocity = Vec3::new(4.0, 3.0, 0.0);
    let start =
        CapsuleState { velocity, mode: MovementMode::Falling, ..CapsuleState::at(Vec3::new(0.0, 20.0, 0.0)) };
    let seconds = 32.0 * DT;
    let fallen = simulated(&mut app, &start, 32);
    let expected = straight(&start, 32) - Vec3::Y * (0.5 * GRAVITY * seconds * seconds);
    assert!(fallen.position.distance(expected) < 0.1, "{} instead of {expected}", fallen.position);
    assert!((fallen.velocity.y - (3.0 - GRAVITY * seconds)).abs() < 0.1, "{fallen:?}");

    let flying = CapsuleState { mode: MovementMode::Flying, ..start };
    let level = simulated(&mut app, &flying, 32).position;
    assert!(level.distance(straight(&flying, 32)) < 0.01, "{level}");
}
