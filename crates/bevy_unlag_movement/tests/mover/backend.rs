//! Capabilities and limits of rapier's character controller as the mover's backend.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{MoveModel, StepContext, Tick};
use bevy_unlag_movement::{
    BaseId, BaseTrack, CapsuleConfig, CapsuleInput, CapsuleModel, CapsuleState, MoveEvent, MovementMode,
    MoverBackend, MoverScene, OneWayCollider, Shuttle,
};

use crate::{
    fuzz::{
        levels::{DT, Level, PlacedCollider, axis_inputs, last_state, run, settled_pawn, with_world},
        oracle::is_finite,
    },
    replay::bits,
};

fn rapier_config() -> CapsuleConfig {
    CapsuleConfig { backend: MoverBackend::Rapier, ..default() }
}

/// Builds an app whose rapier world contains `level`.
fn app_with_rapier_world(level: &Level) -> App {
    let mut app = level.app(DT);
    for _ in 0..4 {
        app.update();
    }
    app
}

#[test]
fn default_backend_is_unlag_and_differs_from_rapier() {
    let config = CapsuleConfig::default();
    assert_eq!(config.backend, MoverBackend::Unlag);
    assert_eq!(CapsuleConfig::quake().backend, MoverBackend::Unlag);
    assert_eq!(CapsuleConfig::arcade().backend, MoverBackend::Unlag);
    // The rapier backend must give other results, or the comparison shows nothing.
    let mut app = app_with_rapier_world(&Level::default().floor());
    let start = settled_pawn(&mut app, &config, Vec3::ZERO);
    let inputs = || axis_inputs(127, 0, 64);
    let (usual, _) = run(&mut app, &config, start, inputs());
    let chosen = CapsuleConfig { backend: MoverBackend::Unlag, ..default() };
    let (same, _) = run(&mut app, &chosen, start, inputs());
    let (other, _) = run(&mut app, &rapier_config(), start, inputs());
    assert!(bits(&last_state(&usual)) == bits(&last_state(&same)));
    assert!(bits(&last_state(&usual)) != bits(&last_state(&other)), "{:?}", last_state(&other));
}

#[test]
fn rapier_backend_walks_and_comes_to_rest() {
    let mut app = app_with_rapier_world(&Level::default().floor());
    let start = settled_pawn(&mut app, &rapier_config(), Vec3::ZERO);
    assert!(start.is_grounded() && start.position.y.abs() < 0.06, "{start:?}");
    let (states, _) = run(&mut app, &rapier_config(), start, axis_inputs(127, 0, 128));
    let end = last_state(&states);
    // The default backend gets 11 m; rapier's controller is known to lose some per cent.
    assert!(end.position.x > 9.0 && end.position.x < 11.5, "{end:?}");
    assert!(end.velocity.length() <= 6.001 && end.is_grounded(), "{end:?}");
    let (states, _) = run(&mut app, &rapier_config(), end, axis_inputs(0, 0, 64));
    let [before, rest] = [states[48], last_state(&states)];
    assert!(rest.velocity.length() < 0.05 && rest.position.distance(before.position) < 0.02, "{rest:?}");
}

#[test]
fn rapier_backend_jumps_and_lands_once() {
    let mut app = app_with_rapier_world(&Level::default().floor());
    let start = settled_pawn(&mut app, &rapier_config(), Vec3::ZERO);
    let jump = CapsuleInput { jump: true, ..default() };
    let (states, events) = run(&mut app, &rapier_config(), start, vec![jump; 96]);
    let highest = states.iter().map(|state| state.position.y).fold(0.0, f32::max);
    assert!((0.7..1.0).contains(&highest), "{highest} m instead of 0.9 m");
    let jumps = events.iter().filter(|event| matches!(event, MoveEvent::Jumped { .. })).count();
    let landings = events.iter().filter(|event| matches!(event, MoveEvent::Landed { .. })).count();
    assert_eq!([jumps, landings], [1, 1], "{events:?}");
    assert!(last_state(&states).is_grounded(), "{:?}", last_state(&states));
}

#[test]
fn rapier_backend_stops_at_walls_and_ceilings() {
    let level = Level::default()
        .floor()
        .block(Vec3::new(0.5, 3.0, 20.0), Vec3::new(4.5, 3.0, 0.0))
        .block(Vec3::new(3.0, 0.5, 3.0), Vec3::new(0.0, 2.6, 12.0));
    let mut app = app_with_rapier_world(&level);
    let start = settled_pawn(&mut app, &rapier_config(), Vec3::ZERO);
    let end = last_state(&run(&mut app, &rapier_config(), start, axis_inputs(127, 0, 128)).0);
    assert!((3.5..=3.67).contains(&end.position.x), "{end:?}");
    assert!(end.velocity.length() < 0.5, "{end:?}");
    let low = settled_pawn(&mut app, &rapier_config(), Vec3::Z * 12.0);
    let jump = CapsuleInput { jump: true, ..default() };
    let (states, _) = run(&mut app, &rapier_config(), low, vec![jump; 64]);
    assert!(states.iter().all(|state| state.position.y + 1.76 < 2.12), "{:?}", last_state(&states));
}

#[test]
fn rapier_backend_climbs_stairs() {
    let mut level = Level::default().floor();
    for i in 0..5_u8 {
        let top = 0.2 * f32::from(i + 1);
        let from = 2.0 + 0.5 * f32::from(i);
        level = level.block(
            Vec3::new((14.0 - from) * 0.5, top * 0.5, 3.0),
            Vec3::new((14.0 + from) * 0.5, top * 0.5, 0.0),
        );
    }
    let mut app = app_with_rapier_world(&level);
    let start = settled_pawn(&mut app, &rapier_config(), Vec3::ZERO);
    let end = last_state(&run(&mut app, &rapier_config(), start, axis_inputs(127, 0, 128)).0);
    // It climbs the stairs, though not fast.
    assert!(end.position.y > 0.55, "{end:?}");
}

#[test]
fn switching_backends_during_a_run_moves_without_a_jolt() {
    let level = Level::default().floor().block(Vec3::new(0.5, 3.0, 20.0), Vec3::new(10.5, 3.0, 0.0));
    let mut app = app_with_rapier_world(&level);
    let start = settled_pawn(&mut app, &CapsuleConfig::default(), Vec3::ZERO);
    let entity = app.world_mut().spawn_empty().id();
    let configs = [CapsuleConfig::default(), rapier_config()];
    let states = with_world(&mut app, |world| {
        let mut states = vec![start];
        for tick in 0..192_u32 {
            let jump = tick % 70 == 30;
            let input = CapsuleInput { right: 127, jump, ..default() };
            let ctx = StepContext { tick: Tick(tick + 1), dt: DT, entity, replaying: false };
            let config = &configs[tick as usize / 17 % 2];
            let state = last_state(&states);
            states.push(CapsuleModel::step(config, &state, &input, &ctx, world, &mut Vec::new()));
        }
        states
    });
    for (tick, pair) in states.windows(2).enumerate() {
        let [before, after] = [&pair[0], &pair[1]];
        assert!(is_finite(after), "tick {tick}: {after:?}");
        assert!(after.position.y > -0.01 && after.position.y < 1.1, "tick {tick}: {after:?}");
        assert!(after.position.x < 9.67, "tick {tick}: {after:?}");
        // A switch must not jolt: at most the distance of a tick and the difference of the heights above a
        // floor.
        let way = after.position.distance(before.position);
        assert!(way < 8.0 * DT + 0.03, "tick {tick}: {way} m: {after:?}\nfrom {before:?}");
    }
    assert!(last_state(&states).position.x > 9.5, "{:?}", last_state(&states));
}

#[test]
fn rapier_backend_sees_a_new_collider_only_after_a_physics_step() {
    let mut app = app_with_rapier_world(&Level::default().floor());
    let start = settled_pawn(&mut app, &rapier_config(), Vec3::ZERO);
    let wall = (Collider::cuboid(0.5, 2.0, 9.0), Transform::from_xyz(3.5, 2.0, 0.0));
    app.world_mut().spawn(wall);
    MoverScene::refresh(app.world_mut());
    let end = |app: &mut App, config: &CapsuleConfig| {
        last_state(&run(app, config, start, axis_inputs(127, 0, 48)).0)
    };
    // The wall stops the pawn all the same, because the end of every step depenetrates it from the mover's
    // scene.
    let blind = end(&mut app, &rapier_config());
    let ours = end(&mut app, &CapsuleConfig::default());
    assert!(ours.position.x < 2.67, "{ours:?}");
    for _ in 0..3 {
        app.update();
    }
    let seeing = end(&mut app, &rapier_config());
    assert!(seeing.position.x < 2.67, "{seeing:?}");
    assert!(bits(&blind) != bits(&seeing), "{blind:?}");
}

/// A raft that moves 4 m along +X in 4 s.
fn raft() -> Level {
    let deck = PlacedCollider { collider: Collider::cuboid(6.0, 0.1, 3.0), place: Transform::default() };
    let way = Shuttle { to: Vec3::X * 4.0, travel_seconds: 4.0, pause_seconds: 0.5, ..default() };
    Level::default().ride(1, BaseTrack::Shuttle(way), vec![deck])
}

/// Returns the state of a pawn that stood on the raft for 3 s.
fn ride_raft(config: &CapsuleConfig) -> CapsuleState {
    let mut app = app_with_rapier_world(&raft());
    let entity = app.world_mut().spawn_empty().id();
    let mut state = CapsuleState::at(Vec3::Y * 0.15);
    for tick in 1..=192_u32 {
        // Rapier has the raft where its last tick put it.
        app.update();
        state = with_world(&mut app, |world| {
            let ctx = StepContext { tick: Tick(tick), dt: DT, entity, replaying: false };
            let idle = CapsuleInput::default();
            CapsuleModel::step(config, &state, &idle, &ctx, world, &mut Vec::new())
        });
    }
    state
}

#[test]
fn rapier_backend_stands_on_bases_but_is_not_carried() {
    let ours = ride_raft(&CapsuleConfig::default());
    assert!(ours.base == BaseId(1) && ours.position.x > 2.0, "{ours:?}");
    let theirs = ride_raft(&rapier_config());
    assert!(theirs.base == BaseId::NONE && theirs.position.x.abs() < 0.3, "{theirs:?}");
    assert!(theirs.is_grounded(), "must stand on the raft: {theirs:?}");
}

#[test]
fn rapier_backend_treats_one_way_platforms_as_solid() {
    let mut app = app_with_rapier_world(&Level::default().floor());
    let shelf =
        (Collider::cuboid(2.0, 0.05, 2.0), Transform::from_xyz(0.0, 2.3, 0.0), OneWayCollider::default());
    app.world_mut().spawn(shelf);
    for _ in 0..3 {
        app.update();
    }
    let jump = CapsuleInput { jump: true, ..default() };
    let highest = |app: &mut App, config: CapsuleConfig| {
        let config = CapsuleConfig { jump_speed: 8.0, ..config };
        let start = settled_pawn(app, &config, Vec3::ZERO);
        let (states, _) = run(app, &config, start, vec![jump; 40]);
        states.iter().map(|state| state.position.y).fold(0.0, f32::max)
    };
    let [ours, theirs] = [highest(&mut app, CapsuleConfig::default()), highest(&mut app, rapier_config())];
    assert!(ours > 2.5, "must jump through the platform, not only to {ours} m");
    assert!(theirs + 1.76 < 2.3, "the platform must stop the jump, which reached {theirs} m");
}

#[test]
fn rapier_backend_flies_and_stops_at_obstacles() {
    let mut app = app_with_rapier_world(&Level::default().block(Vec3::splat(2.0), Vec3::X * 6.0));
    let start = CapsuleState { mode: MovementMode::Flying, ..CapsuleState::at(Vec3::ZERO) };
    let end = last_state(&run(&mut app, &rapier_config(), start, axis_inputs(127, 0, 128)).0);
    assert!((3.4..3.67).contains(&end.position.x) && end.mode == MovementMode::Flying, "{end:?}");
}

#[test]
fn switching_to_the_rapier_backend_on_a_base_leaves_the_base() {
    let mut app = app_with_rapier_world(&Level::default().floor());
    let start = settled_pawn(&mut app, &rapier_config(), Vec3::ZERO);
    let riding = CapsuleState { base: BaseId(3), base_velocity: Vec3::X * 3.0, ..start };
    let state = last_state(&run(&mut app, &rapier_config(), riding, vec![CapsuleInput::default(); 64]).0);
    assert_eq!(state.base, BaseId::NONE, "{state:?}");
    assert!(state.position.distance(start.position) < 0.5, "{state:?}");
}
