//! Physics engine pitfalls that a replayed mover must avoid: transforms that are a tick old, queries that
//! need a physics step first, and ties that the spawn order decides.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::{
    dynamics::RapierRigidBodyHandle,
    geometry::RapierColliderHandle,
    plugin::{PhysicsSet, ReadRapierContext},
    prelude::{Collider, RigidBody},
};
use bevy_unlag_core::{CurrentTick, MoveInput, MoveSystems, StepContext, Tick};
use bevy_unlag_movement::{
    CapsuleConfig, CapsuleInput, CapsuleModel, CapsuleState, LocalMovesPlugin, MovementMode, MoverScene,
    MoverSceneSystems, MoverWorld,
};

use crate::{
    fuzz::levels::{DT, Level, axis_inputs, last_state, run, settled_pawn, step, with_world},
    replay::bits,
};

/// Moves up in every tick.
#[derive(Component)]
struct Lifted;

/// A collider that moves with the entity `with`, its centre `height_offset` metres above it.
#[derive(Component)]
struct MovesWith {
    with: Entity,
    height_offset: f32,
}

/// Observed heights: a label, the expected and the found height, in metres.
#[derive(Resource, Default)]
struct Observations(Vec<(String, f32, Option<f32>)>);

const HALF: f32 = 0.25;

fn lift(mut lifted: Query<&mut Transform, With<Lifted>>) {
    for mut transform in &mut lifted {
        // Exact in binary, so sums are exact, too.
        transform.translation.y += 0.0625;
    }
}

fn observe_with_mover(
    world: MoverWorld,
    config: Res<CapsuleConfig>,
    moving: Query<(Entity, &MovesWith)>,
    transforms: Query<&Transform>,
    tick: Res<CurrentTick>,
    mut seen: ResMut<Observations>,
) {
    for (entity, moves) in &moving {
        let Ok(with) = transforms.get(moves.with) else {
            panic!("{entity} follows an entity without a transform")
        };
        let top = with.translation.y + moves.height_offset + HALF;
        let state = CapsuleState::at(Vec3::new(with.translation.x, top + 0.1, 0.0));
        let ctx = StepContext { tick: tick.0, dt: DT, entity: Entity::PLACEHOLDER, replaying: false };
        let floor = world.probe(&config, &state, &ctx).floor;
        let name = format!("{entity} at {}, tick {}", with.translation.x, tick.0.0);
        seen.0.push((name, top, floor.map(|floor| floor.point.y)));
    }
}

fn observe_with_rapier(
    rapier: ReadRapierContext,
    moving: Query<(Entity, &MovesWith, &RapierColliderHandle, Option<&RapierRigidBodyHandle>)>,
    transforms: Query<&Transform>,
    tick: Res<CurrentTick>,
    mut seen: ResMut<Observations>,
) {
    let Ok(rapier) = rapier.single() else { return };
    for (entity, moves, collider, body) in &moving {
        let Ok(with) = transforms.get(moves.with) else {
            panic!("{entity} follows an entity without a transform")
        };
        let middle = with.translation.y + moves.height_offset;
        let name = format!("{entity} at {}, tick {}", with.translation.x, tick.0.0);
        let found = rapier.colliders.colliders.get(collider.0).map(|found| found.position().translation.y);
        seen.0.push((format!("the collider of {name}"), middle, found));
        if let Some(body) = body {
            let found = rapier.rigidbody_set.bodies.get(body.0).map(|found| found.position().translation.y);
            seen.0.push((format!("the body of {name}"), middle, found));
        }
    }
}

/// Builds an app with four ticks per frame that moves [`Lifted`] entities up.
fn lifting_app() -> App {
    let mut app = Level::default().app(DT);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(4.0 * DT)))
        .init_resource::<Observations>()
        .add_systems(FixedUpdate, lift.before(MoverSceneSystems::Sync).before(PhysicsSet::SyncBackend));
    app
}

fn cube() -> Collider {
    Collider::cuboid(HALF, HALF, HALF)
}

/// Runs some frames and checks that, from the second frame on, every observation found the expected height.
fn assert_observed_poses(app: &mut App, least: usize) {
    app.update();
    app.update();
    app.world_mut().resource_mut::<Observations>().0.clear();
    for _ in 0..6 {
        app.update();
    }
    let seen = &app.world().resource::<Observations>().0;
    assert!(seen.len() >= least, "only {} observations in 24 ticks", seen.len());
    for (what, expected, found) in seen {
        let right = found.is_some_and(|found| (found - expected).abs() < 1e-3);
        assert!(right, "{what}: {found:?} m instead of {expected} m");
    }
}

#[test]
fn mover_finds_moving_hierarchies_at_their_current_pose_in_every_tick() {
    let mut app = lifting_app();
    app.add_systems(FixedUpdate, observe_with_mover.in_set(MoveSystems::Step));
    let world = app.world_mut();
    // An entity with a child, as entities with meshes have.
    let alone = world.spawn((cube(), Transform::from_xyz(0.0, 0.0, 0.0), Lifted)).id();
    world.entity_mut(alone).insert(MovesWith { with: alone, height_offset: 0.0 });
    world.spawn((Transform::default(), ChildOf(alone)));
    // A child of a moving entity, and a grandchild.
    let parent = world.spawn((Transform::from_xyz(10.0, 0.0, 0.0), Lifted)).id();
    let child = (cube(), Transform::from_xyz(0.0, 1.0, 0.0), MovesWith { with: parent, height_offset: 1.0 });
    world.spawn((child, ChildOf(parent)));
    let root = world.spawn((Transform::from_xyz(20.0, 0.0, 0.0), Lifted)).id();
    let between = world.spawn((Transform::from_xyz(0.0, 2.0, 0.0), ChildOf(root))).id();
    let leaf = (cube(), Transform::from_xyz(0.0, -0.5, 0.0), MovesWith { with: root, height_offset: 1.5 });
    world.spawn((leaf, ChildOf(between)));
    // A child that moves by itself.
    let still = world.spawn(Transform::default()).id();
    let own = world.spawn((cube(), Transform::from_xyz(30.0, 0.0, 0.0), Lifted, ChildOf(still))).id();
    world.entity_mut(own).insert(MovesWith { with: own, height_offset: 0.0 });
    // A fixed body whose transform a system moves all the same.
    let fixed = world.spawn((cube(), RigidBody::Fixed, Transform::from_xyz(40.0, 0.0, 0.0), Lifted)).id();
    world.entity_mut(fixed).insert(MovesWith { with: fixed, height_offset: 0.0 });
    world.spawn((Transform::default(), ChildOf(fixed)));
    assert_observed_poses(&mut app, 5 * 24);
}

#[test]
fn rapier_finds_moving_hierarchies_at_their_current_pose_in_every_tick() {
    let mut app = lifting_app();
    let looks = observe_with_rapier.after(PhysicsSet::StepSimulation).before(PhysicsSet::Writeback);
    app.add_systems(FixedUpdate, looks);
    let world = app.world_mut();
    for (x, body) in [(0.0, RigidBody::KinematicPositionBased), (10.0, RigidBody::Fixed)] {
        let moved = world.spawn((cube(), body, Transform::from_xyz(x, 0.0, 0.0), Lifted)).id();
        world.entity_mut(moved).insert(MovesWith { with: moved, height_offset: 0.0 });
        world.spawn((Transform::default(), ChildOf(moved)));
    }
    let alone = world.spawn((cube(), Transform::from_xyz(20.0, 0.0, 0.0), Lifted)).id();
    world.entity_mut(alone).insert(MovesWith { with: alone, height_offset: 0.0 });
    world.spawn((Transform::default(), ChildOf(alone)));
    let parent = world.spawn((Transform::from_xyz(30.0, 0.0, 0.0), Lifted)).id();
    let child = (cube(), Transform::from_xyz(0.0, 1.0, 0.0), MovesWith { with: parent, height_offset: 1.0 });
    world.spawn((child, ChildOf(parent)));
    assert_observed_poses(&mut app, 6 * 24);
}

/// Two things that are hit at once, and the start and input that hit them.
struct SimultaneousHit {
    name: &'static str,
    level: Level,
    config: CapsuleConfig,
    start: CapsuleState,
    input: CapsuleInput,
}

fn simultaneous_hits() -> Vec<SimultaneousHit> {
    let config = CapsuleConfig::default();
    let tile = Vec3::new(10.0, 0.5, 30.0);
    let tiles =
        Level::default().block(tile, Vec3::new(-10.0, -0.5, 0.0)).block(tile, Vec3::new(10.0, -0.5, 0.0));
    let walls = tiles
        .clone()
        .block(Vec3::new(5.0, 3.0, 0.5), Vec3::new(-5.0, 3.0, -6.0))
        .block(Vec3::new(5.0, 3.0, 0.5), Vec3::new(5.0, 3.0, -6.0));
    let slanted = |side: f32| {
        let turn = Quat::from_rotation_y(side * -0.5);
        (Vec3::new(4.0, 3.0, 0.5), Vec3::new(side * 3.0, 3.0, -6.0), turn)
    };
    let [(half, left, left_turn), (_, right, right_turn)] = [slanted(-1.0), slanted(1.0)];
    let corner =
        Level::default().floor().turned_block(half, left, left_turn).turned_block(half, right, right_turn);
    let wall = Level::default().floor().block(Vec3::new(0.5, 60.0, 60.0), Vec3::new(2.5, 0.0, 0.0));
    let twice =
        Level::default().floor().floor().block(Vec3::ONE, Vec3::Z * -6.0).block(Vec3::ONE, Vec3::Z * -6.0);
    let quad = |flip: bool| {
        let corners = [-20.0, 20.0].into_iter().flat_map(|x| [-20.0, 20.0].map(|z| Vec3::new(x, 0.0, z)));
        let triangles = if flip { [[0, 1, 2], [2, 1, 3]] } else { [[2, 1, 3], [0, 1, 2]] };
        let Ok(mesh) = Collider::trimesh(corners.collect(), triangles.to_vec()) else {
            panic!("the quad must be a valid mesh")
        };
        mesh
    };
    let meshes =
        Level::default().thing(quad(false), Transform::default()).thing(quad(true), Transform::default());

    let ahead = CapsuleInput { forward: 127, ..default() };
    let at = |x: f32, y: f32, z: f32| CapsuleState::at(Vec3::new(x, y, z));
    let slanting = CapsuleState { velocity: Vec3::new(6.0, -6.0, 0.0), ..at(2.0 - 0.34 - 0.5, 0.5, 0.0) };
    let weightless = CapsuleConfig { gravity: 0.0, ..config.clone() };
    let tie =
        |name, level, start, input| SimultaneousHit { name, level, config: config.clone(), start, input };
    vec![
        tie("two tiles", tiles, at(0.0, 0.1, 9.0), CapsuleInput { jump: true, ..ahead }),
        tie("two tiles and two walls", walls, at(0.0, 0.1, 0.0), ahead),
        tie("a corner, head-on", corner, at(0.0, 0.1, 0.0), ahead),
        tie("everything twice", twice, at(0.0, 0.1, 0.0), ahead),
        tie(
            "two meshes in one place, along a diagonal",
            meshes,
            at(0.0, 0.1, 0.0),
            CapsuleInput { yaw: 0xe000, ..ahead },
        ),
        SimultaneousHit {
            config: weightless,
            ..tie("a wall and a floor at once", wall, slanting, CapsuleInput::default())
        },
    ]
}

#[test]
fn simultaneous_hits_resolve_independently_of_spawn_order_and_other_colliders() {
    for SimultaneousHit { name, level, config, start, input } in simultaneous_hits() {
        let inputs = vec![input; 240];
        let (usual, _) = run(&mut level.app(DT), &config, start, inputs.clone());
        let moved = last_state(&usual).position.distance(start.position);
        assert!(moved > 0.1, "{name}: the pawn must move: {:?}", last_state(&usual));
        // Enough colliders that any tree over them has another structure.
        let mut crowded = level.clone();
        for i in 0..90_u8 {
            let at = Vec3::new(300.0 + f32::from(i) * 3.0, f32::from(i % 7) * 5.0, 300.0);
            crowded = crowded.block(Vec3::ONE, at);
        }
        for (what, level) in [("alone", &level), ("in a crowd", &crowded)] {
            for order in 0..6 {
                let mut app = level.shuffled_app(DT, order);
                let (again, _) = run(&mut app, &config, start, inputs.clone());
                let first = usual.iter().zip(&again).position(|(a, b)| bits(a) != bits(b));
                let Some(tick) = first else { continue };
                panic!("{name}, {what}, order {order}, tick {tick}: {:?}\nor {:?}", usual[tick], again[tick]);
            }
        }
    }
}

/// Position of the pawn along x after each tick.
#[derive(Resource, Default)]
struct PositionLog(Vec<f32>);

/// Ticks in which the wall spawns and despawns.
const WALL_SPAWN_TICK: usize = 10;
const WALL_DESPAWN_TICK: usize = 20;

/// Spawns a wall 3 cm in front of the pawn, and despawns it later.
fn spawn_and_despawn_wall(world: &mut World) {
    let tick = world.resource::<CurrentTick>().0.0 as usize;
    if tick == WALL_SPAWN_TICK {
        let mut pawns = world.query::<&CapsuleState>();
        let Ok(pawn) = pawns.single(world) else { panic!("expected exactly one pawn") };
        let face = pawn.position.x + 0.34 + 0.03;
        world.spawn((Collider::cuboid(0.05, 5.0, 5.0), Transform::from_xyz(face + 0.05, 1.0, 0.0)));
    }
    if tick == WALL_DESPAWN_TICK {
        let mut walls = world.query_filtered::<Entity, With<Collider>>();
        let all: Vec<Entity> = walls.iter(world).collect();
        assert_eq!(all.len(), 1);
        world.despawn(all[0]);
    }
}

fn record_position(pawns: Query<&CapsuleState>, mut track: ResMut<PositionLog>) {
    track.0.extend(pawns.iter().map(|pawn| pawn.position.x));
}

#[test]
fn collider_blocks_pawns_from_its_spawn_tick_until_its_despawn_tick() {
    let mut app = Level::default().app(DT);
    app.add_plugins(LocalMovesPlugin::<CapsuleModel>::default()).init_resource::<PositionLog>();
    app.add_systems(FixedUpdate, spawn_and_despawn_wall.before(MoverSceneSystems::Sync));
    app.add_systems(FixedUpdate, record_position.after(MoveSystems::Step));
    let flying =
        CapsuleState { mode: MovementMode::Flying, velocity: Vec3::X * 6.0, ..CapsuleState::at(Vec3::ZERO) };
    app.world_mut().spawn((flying, MoveInput::<CapsuleModel>(CapsuleInput { right: 127, ..default() })));
    for _ in 0..40 {
        app.update();
    }
    // The first tick is tick 1.
    let track = &app.world().resource::<PositionLog>().0;
    let way = |tick: usize| track[tick - 1] - track[tick - 2];
    assert!(
        way(WALL_SPAWN_TICK - 1) > 0.09,
        "flew only {} m in a tick before the wall",
        way(WALL_SPAWN_TICK - 1)
    );
    assert!(
        way(WALL_SPAWN_TICK) < 0.03,
        "moved {} m in the tick in which the wall spawns",
        way(WALL_SPAWN_TICK)
    );
    assert!(
        way(WALL_DESPAWN_TICK - 1).abs() < 1e-4,
        "moved {} m while the wall stands",
        way(WALL_DESPAWN_TICK - 1)
    );
    assert!(
        way(WALL_DESPAWN_TICK) > 3e-3,
        "moved only {} m in the tick in which the wall despawns",
        way(WALL_DESPAWN_TICK)
    );
    assert!(
        way(WALL_DESPAWN_TICK + 15) > 0.06,
        "moved only {} m per tick a quarter of a second later",
        way(WALL_DESPAWN_TICK + 15)
    );
}

#[test]
fn mover_finds_changed_colliders_without_a_physics_step() {
    let config = CapsuleConfig::default();
    let mut app = Level::default().floor().app(DT);
    let start = settled_pawn(&mut app, &config, Vec3::ZERO);
    let wall = (Collider::cuboid(0.5, 2.0, 9.0), Transform::from_xyz(3.5, 2.0, 0.0));
    let wall = app.world_mut().spawn(wall).id();
    MoverScene::refresh(app.world_mut());
    let (states, _) = run(&mut app, &config, start, axis_inputs(127, 0, 96));
    assert!(last_state(&states).position.x < 2.67, "{:?}", last_state(&states));
    app.world_mut().entity_mut(wall).insert(Transform::from_xyz(4.5, 2.0, 0.0));
    MoverScene::refresh(app.world_mut());
    let (states, _) = run(&mut app, &config, start, axis_inputs(127, 0, 96));
    assert!((3.6..3.67).contains(&last_state(&states).position.x), "{:?}", last_state(&states));
    app.world_mut().despawn(wall);
    MoverScene::refresh(app.world_mut());
    let (states, _) = run(&mut app, &config, start, axis_inputs(127, 0, 96));
    assert!(last_state(&states).position.x > 7.0, "{:?}", last_state(&states));
}

/// Refreshes the scene and returns the final state of a run along +X.
fn run_past(app: &mut App, start: CapsuleState) -> CapsuleState {
    MoverScene::refresh(app.world_mut());
    last_state(&run(app, &CapsuleConfig::default(), start, axis_inputs(127, 0, 96)).0)
}

#[test]
fn only_colliders_on_fixed_bodies_block_pawns() {
    let mut app = Level::default().floor().app(DT);
    let start = settled_pawn(&mut app, &CapsuleConfig::default(), Vec3::ZERO);
    let free = run_past(&mut app, start);
    assert!(free.position.x > 7.0);
    let block = || (Collider::cuboid(0.5, 1.0, 1.0), Transform::from_xyz(3.0, 1.0, 0.0));
    let kinds = [RigidBody::Dynamic, RigidBody::KinematicPositionBased, RigidBody::KinematicVelocityBased];
    for body in kinds {
        let own = app.world_mut().spawn((block(), body)).id();
        assert!(bits(&run_past(&mut app, start)) == bits(&free), "blocked by a collider on a {body:?} body");
        app.world_mut().despawn(own);

        let parent = app.world_mut().spawn((Transform::default(), body)).id();
        app.world_mut().spawn((block(), ChildOf(parent)));
        assert!(
            bits(&run_past(&mut app, start)) == bits(&free),
            "blocked by a child collider of a {body:?} body"
        );
        // The same body, now fixed.
        app.world_mut().entity_mut(parent).insert(RigidBody::Fixed);
        assert!(
            run_past(&mut app, start).position.x < 2.2,
            "not blocked by a child collider of a {body:?} body that became fixed"
        );
        app.world_mut().entity_mut(parent).insert(body);
        assert!(
            bits(&run_past(&mut app, start)) == bits(&free),
            "blocked by a child collider of a body that is {body:?} again"
        );
        app.world_mut().despawn(parent);
    }
}

#[test]
fn own_colliders_left_behind_do_not_block_their_pawn() {
    let config = CapsuleConfig::default();
    let mut app = Level::default().floor().app(DT);
    let start = settled_pawn(&mut app, &config, Vec3::ZERO);
    let free = run_past(&mut app, start);
    // Its collider stays behind, which is the worst case.
    let hull = || (Collider::capsule_y(0.5, 0.4), Transform::from_xyz(0.0, 0.9, 0.0));
    let pawn = app.world_mut().spawn(hull()).id();
    let helmet = app.world_mut().spawn((Transform::default(), ChildOf(pawn))).id();
    app.world_mut().spawn((hull(), ChildOf(helmet)));
    MoverScene::refresh(app.world_mut());
    let end = with_world(&mut app, |world| {
        axis_inputs(127, 0, 96).iter().enumerate().fold(start, |state, (i, input)| {
            let ctx = StepContext { tick: Tick(i as u32 + 1), dt: DT, entity: pawn, replaying: false };
            step(&config, &state, input, &ctx, world)
        })
    });
    assert!(bits(&end) == bits(&free), "{end:?}\ninstead of {free:?}");
    let other = run_past(&mut app, start);
    assert!(bits(&other) != bits(&free), "its colliders must block other pawns");
}
