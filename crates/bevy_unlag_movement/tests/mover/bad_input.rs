//! Whatever comes in from the network, from a designer or from physics: never a panic, and never a
//! number that is none.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{Collider, ColliderScale};
use bevy_unlag_core::{BitReader, BitWriter, StepContext, Tick, Wire};
use bevy_unlag_movement::{
    AccelerationModel, BaseId, CapsuleConfig, CapsuleInput, CapsuleModel, CapsuleState, CustomMode,
    GravityField, ModePhysics, MoveVolume, MovementMode, MoverBackend, MoverScene, MoverWorld, PawnCollision,
    Shuttle, Track, VolumeId,
};
use rand::{Rng, SeedableRng, rngs::SmallRng, seq::IndexedRandom};

use crate::{
    fuzz::{
        oracle::{Core, Oracle, is_finite},
        scenes::{DT, Level, Thing, hills, last, run, sheet, standing, step, towards, with_world},
        script::random_moves,
    },
    replay::bits,
};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// Every kind of collider, a lift, water and a ceiling, on a floor.
fn everything() -> Level {
    let mut rng = SmallRng::seed_from_u64(8);
    let deck = Thing { collider: Collider::cuboid(1.0, 0.1, 1.0), place: Transform::default() };
    let lift = Shuttle { from: Vec3::new(4.0, 0.1, 4.0), to: Vec3::new(4.0, 3.0, 4.0), ..default() };
    let tilt = Quat::from_rotation_z(0.4);
    Level::default()
        .floor()
        .block(Vec3::new(8.0, 0.5, 8.0), Vec3::Y * 5.5)
        .turned_block(Vec3::new(2.0, 0.3, 2.0), Vec3::new(3.0, 0.5, 0.0), tilt)
        .block(Vec3::new(0.5, 2.0, 4.0), Vec3::new(-3.0, 2.0, 0.0))
        .thing(Collider::cylinder(0.2, 0.8), Transform::from_xyz(0.0, 0.2, -1.2))
        .thing(Collider::ball(0.7), Transform::from_xyz(0.0, 0.2, 3.0))
        .thing(sheet(&mut rng, 6, 0.8, 0.3), Transform::from_xyz(-6.0, 0.4, -6.0))
        .thing(hills(&mut rng, 8, 8.0, 0.6), Transform::from_xyz(8.0, 0.1, -8.0))
        .ride(1, Track::Shuttle(lift), vec![deck])
        .volume(MoveVolume::water(VolumeId(1)), Vec3::splat(2.0), Vec3::new(-6.0, 1.5, 6.0))
}

/// Pawns in every situation there.
fn pawns() -> Vec<CapsuleState> {
    let at = |x: f32, y: f32, z: f32| CapsuleState::at(Vec3::new(x, y, z));
    let flying = CapsuleState { mode: MovementMode::Flying, velocity: Vec3::X * 5.0, ..at(0.0, 1.0, 0.0) };
    let walking = CapsuleState { mode: MovementMode::Walking, ..at(1.0, 0.021_5, 0.0) };
    let lifted = CapsuleState {
        mode: MovementMode::Walking,
        base: BaseId(1),
        base_position: Vec3::new(0.0, 0.121_5, 0.0),
        ..at(4.0, 0.221_5, 4.0)
    };
    vec![
        at(0.0, 1.5, 0.0),
        walking,
        flying,
        lifted,
        at(-6.0, 1.0, 6.0),
        at(-6.0, 1.5, -6.0),
        at(8.0, 1.0, -8.0),
    ]
}

fn assert_sound(before: &CapsuleState, after: &CapsuleState, what: &str) {
    assert!(is_finite(after) || bits(before) == bits(after), "{what}: {after:?}\nfrom {before:?}");
}

/// Walks a second on free ground: whatever happened before, a pawn gets over it.
fn assert_walks_on(app: &mut App, state: CapsuleState, what: &str) {
    let config = CapsuleConfig::default();
    let mut state = state;
    state.teleport_to(Vec3::new(30.0, 0.1, 30.0));
    let (states, _) = run(app, &config, state, towards(0, 0, 32).into_iter().chain(towards(127, 0, 64)));
    let (start, end) = (states[32], last(&states));
    assert!(end.is_grounded() && end.position.x - start.position.x > 3.0, "{what}: {start:?}\nto {end:?}");
}

fn ctx(dt: f32, entity: Entity) -> StepContext {
    StepContext { tick: Tick(7), dt, entity }
}

const RUN: CapsuleInput = CapsuleInput {
    forward: 100,
    right: 90,
    yaw: 9_000,
    pitch: 500,
    jump: true,
    crouch: false,
    sprint: true,
    walk: false,
};

#[test]
fn a_step_of_no_length_changes_nothing() {
    let mut app = everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        for dt in [NAN, -NAN, -INF, 0.0, -0.0, -1.0, -f32::MIN_POSITIVE, f32::MIN] {
            for before in pawns() {
                let after = step(&CapsuleConfig::default(), &before, &RUN, &ctx(dt, entity), world);
                assert!(bits(&before) == bits(&after), "dt {dt}: {after:?}\nfrom {before:?}");
                let after =
                    CapsuleModel::cheap_step(&CapsuleConfig::default(), &before, &ctx(dt, entity), world);
                assert!(bits(&before) == bits(&after), "cheap, dt {dt}: {after:?}\nfrom {before:?}");
            }
        }
    });
}

#[test]
fn a_step_of_an_absurd_length_moves_no_further_than_its_slices() {
    let mut app = everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    let config = CapsuleConfig::default();
    let most = config.max_slice_seconds * f32::from(config.max_slices);
    with_world(&mut app, |world| {
        let tiny = [f32::from_bits(1), 1e-42, f32::MIN_POSITIVE, 1e-30, 1e-10, 1e-7];
        for dt in tiny.into_iter().chain([0.3, 0.4, 10.0, 1e6, 1e30, f32::MAX, INF]) {
            for before in pawns() {
                let after = step(&config, &before, &RUN, &ctx(dt, entity), world);
                assert!(is_finite(&after), "dt {dt}: {after:?}\nfrom {before:?}");
                let way = after.position.distance(before.position);
                // 20 m/s is more than anybody here reaches; the lift goes where it is by then.
                let lifted = if before.base == BaseId::NONE { 0.0 } else { 4.0 };
                let allowed = 20.0 * dt.min(most) + 0.05 + lifted;
                assert!(way <= allowed, "dt {dt}: {way} m: {after:?}\nfrom {before:?}");
                let cheap = CapsuleModel::cheap_step(&config, &before, &ctx(dt, entity), world);
                assert!(is_finite(&cheap), "cheap, dt {dt}: {cheap:?}\nfrom {before:?}");
            }
        }
    });
}

#[test]
fn a_state_that_is_no_state_is_left_alone() {
    let at = CapsuleState::at(Vec3::Y);
    let mut bad = Vec::new();
    for number in [NAN, INF, -INF] {
        let vector = Vec3::new(0.0, number, 0.0);
        bad.extend([
            CapsuleState { position: vector, ..at },
            CapsuleState { velocity: vector, ..at },
            CapsuleState { up: vector, ..at },
            CapsuleState { base_position: vector, base: BaseId(1), ..at },
            CapsuleState { base_position: vector, ..at },
            CapsuleState { base_velocity: vector, ..at },
            CapsuleState { air_seconds: number, ..at },
            CapsuleState { jump_hold: number, ..at },
            CapsuleState { jump_buffer: number, ..at },
        ]);
    }
    bad.extend([
        CapsuleState { up: Vec3::ZERO, ..at },
        CapsuleState { up: Vec3::Y * 2.0, ..at },
        CapsuleState { up: Vec3::splat(1e30), ..at },
        CapsuleState { air_seconds: -1.0, ..at },
        CapsuleState { jump_hold: 1e30, ..at },
        CapsuleState::at(Vec3::X * 1e30),
        CapsuleState::at(Vec3::splat(-f32::MAX)),
    ]);
    let mut app = everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        for before in &bad {
            for backend in [MoverBackend::Unlag, MoverBackend::Rapier] {
                let config = CapsuleConfig { backend, ..default() };
                let after = step(&config, before, &RUN, &ctx(DT, entity), world);
                assert!(bits(before) == bits(&after), "{backend:?}: {after:?}\nfrom {before:?}");
            }
            let cheap = CapsuleModel::cheap_step(&CapsuleConfig::default(), before, &ctx(DT, entity), world);
            assert_sound(before, &cheap, "cheap");
            let _ = world.probe(&CapsuleConfig::default(), before, &ctx(DT, entity));
        }
    });
}

#[test]
fn absurd_but_finite_states_stay_finite() {
    let huge = [1e3, 1e6, 1e19, 1e30, f32::MAX, -f32::MAX];
    let mut app = everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        for pawn in pawns() {
            for number in huge {
                let vector = Vec3::new(number, -number, number * 0.5);
                let states = [
                    CapsuleState { velocity: vector, ..pawn },
                    CapsuleState { velocity: Vec3::Y * number, ..pawn },
                    CapsuleState { base_velocity: vector, ..pawn },
                    CapsuleState { base_velocity: vector, base: BaseId(1), ..pawn },
                    CapsuleState { base_velocity: vector, base: BaseId(999), ..pawn },
                    CapsuleState { base_position: vector, base: BaseId(1), ..pawn },
                    CapsuleState { base_position: vector, base: BaseId(999), ..pawn },
                ];
                for before in states {
                    let mut state = before;
                    for _ in 0..4 {
                        let after = step(&CapsuleConfig::default(), &state, &RUN, &ctx(DT, entity), world);
                        assert!(is_finite(&after), "{after:?}\nfrom {state:?}");
                        state = after;
                    }
                    let cheap =
                        CapsuleModel::cheap_step(&CapsuleConfig::default(), &before, &ctx(DT, entity), world);
                    assert_sound(&before, &cheap, "cheap");
                }
            }
        }
    });
}

/// A top speed is one in the first tick as well: nobody tunnels by being thrown.
#[test]
fn whoever_is_too_fast_is_still_stopped_by_a_wall() {
    // Further away than a tick at the top speed, nearer than one at those speeds.
    let wall = Level::default().floor().block(Vec3::new(0.5, 40.0, 40.0), Vec3::new(4.5, 30.0, 0.0));
    let trigger = MoveVolume::trigger(VolumeId(1));
    let cannon = MoveVolume { launch: Some(Vec3::new(900.0, 100.0, 0.0)), ..trigger };
    let level = wall.volume(cannon, Vec3::splat(1.0), Vec3::new(0.0, 1.0, 20.0));
    let mut app = level.app(DT);
    let config = CapsuleConfig::default();
    let at = CapsuleState::at(Vec3::Y);
    let imparted = CapsuleState {
        base: BaseId(77),
        base_velocity: Vec3::X * 990.0,
        mode: MovementMode::Walking,
        ..CapsuleState::at(Vec3::Y * 0.021_5)
    };
    let cases = [
        ("a velocity", CapsuleState { velocity: Vec3::X * 990.0, ..at }),
        ("a cannon", CapsuleState::at(Vec3::new(0.0, 0.5, 20.0))),
        ("a base that is gone", imparted),
        ("a base that is gone, in the air", CapsuleState { mode: MovementMode::Falling, ..imparted }),
    ];
    let jump = CapsuleInput { jump: true, ..default() };
    for (what, start) in cases {
        let (states, _) = run(&mut app, &config, start, vec![jump; 60]);
        let furthest = states.iter().map(|state| state.position.x).fold(f32::MIN, f32::max);
        assert!(furthest < 3.7, "{what}: got to {furthest} m, through a wall at 4 m");
    }
    // Up, which is where a jump goes.
    let low = Level::default().floor().block(Vec3::new(9.0, 0.25, 9.0), Vec3::Y * 5.25);
    let mut app = low.app(DT);
    let config = CapsuleConfig { jump_speed: 900.0, ..default() };
    let start = standing(&mut app, &config, Vec3::ZERO);
    let (states, _) = run(&mut app, &config, start, vec![jump; 60]);
    let highest = states.iter().map(|state| state.position.y).fold(0.0, f32::max);
    assert!(highest > 2.0 && highest < 5.0 - 1.7, "a jump at 900 m/s got to {highest} m below 5 m");
}

type Tune = fn(&mut CapsuleConfig, f32);

/// Every number of a config.
const FIGURES: [(&str, Tune); 40] = [
    ("radius", |c, v| c.radius = v),
    ("half_height", |c, v| c.half_height = v),
    ("crouched_half_height", |c, v| c.crouched_half_height = v),
    ("eye_height", |c, v| c.eye_height = v),
    ("crouched_eye_height", |c, v| c.crouched_eye_height = v),
    ("max_walk_speed", |c, v| c.max_walk_speed = v),
    ("sprint_speed", |c, v| c.sprint_speed = v),
    ("slow_walk_speed", |c, v| c.slow_walk_speed = v),
    ("crouched_speed", |c, v| c.crouched_speed = v),
    ("max_swim_speed", |c, v| c.max_swim_speed = v),
    ("max_fly_speed", |c, v| c.max_fly_speed = v),
    ("max_speed", |c, v| c.max_speed = v),
    ("acceleration", |c, v| c.acceleration = v),
    ("ground_friction", |c, v| c.ground_friction = v),
    ("braking_friction_factor", |c, v| c.braking_friction_factor = v),
    ("braking_deceleration", |c, v| c.braking_deceleration = v),
    ("stop_speed", |c, v| c.stop_speed = v),
    ("fluid_friction", |c, v| c.fluid_friction = v),
    ("braking_swimming", |c, v| c.braking_swimming = v),
    ("braking_flying", |c, v| c.braking_flying = v),
    ("braking_falling", |c, v| c.braking_falling = v),
    ("jump_speed", |c, v| c.jump_speed = v),
    ("jump_max_hold", |c, v| c.jump_max_hold = v),
    ("coyote_time", |c, v| c.coyote_time = v),
    ("jump_buffer", |c, v| c.jump_buffer = v),
    ("gravity", |c, v| c.gravity = v),
    ("up", |c, v| c.up = Vec3::splat(v)),
    ("terminal_speed", |c, v| c.terminal_speed = v),
    ("air_control", |c, v| c.air_control = v),
    ("air_control_boost", |c, v| c.air_control_boost = v),
    ("air_control_boost_below", |c, v| c.air_control_boost_below = v),
    ("air_wish_speed", |c, v| c.air_wish_speed = v),
    ("step_height", |c, v| c.step_height = v),
    ("walkable_floor_y", |c, v| c.walkable_floor_y = v),
    ("perch_radius_threshold", |c, v| c.perch_radius_threshold = v),
    ("perch_height", |c, v| c.perch_height = v),
    ("buoyancy", |c, v| c.buoyancy = v),
    ("out_of_water_speed", |c, v| c.out_of_water_speed = v),
    ("pawn_push_speed", |c, v| c.pawn_push_speed = v),
    ("max_slice_seconds", |c, v| c.max_slice_seconds = v),
];

const FIGURE_VALUES: [f32; 13] =
    [NAN, INF, -INF, 0.0, -0.0, -1.0, 1e-30, 1.0, 100.0, 1e6, 1e19, 1e30, f32::MAX];

/// Makes moves with a config, from everywhere.
fn assert_bears(world: &MoverWorld<'_, '_>, entity: Entity, config: &CapsuleConfig, what: &str) {
    let still = Level::default();
    let moves = random_moves(4, &still, 16);
    for (nr, start) in pawns().into_iter().enumerate() {
        let mut state = start;
        for (i, planned) in moves.iter().enumerate() {
            planned.apply(&mut state, |_| true);
            let ctx = StepContext { tick: Tick(i as u32 + 1), dt: DT, entity };
            let after = step(config, &state, &planned.input, &ctx, world);
            assert_sound(&state, &after, &format!("{what}, pawn {nr}, tick {}", i + 1));
            state = after;
        }
        let cheap = CapsuleModel::cheap_step(config, &start, &ctx(DT, entity), world);
        assert_sound(&start, &cheap, what);
        let _ = world.probe(config, &start, &ctx(DT, entity));
    }
}

#[test]
fn absurd_tunings_neither_panic_nor_break_a_state() {
    let mut app = everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        for acceleration_model in [AccelerationModel::Unreal, AccelerationModel::Quake] {
            let usual = CapsuleConfig { acceleration_model, jump_max_count: 2, ..default() };
            for (name, tune) in FIGURES {
                for value in FIGURE_VALUES {
                    let mut config = usual.clone();
                    tune(&mut config, value);
                    assert_bears(
                        world,
                        entity,
                        &config,
                        &format!("{acceleration_model:?}, {name} = {value}"),
                    );
                }
            }
            for max_slices in [0, 1, u8::MAX] {
                let config = CapsuleConfig { max_slices, ..usual.clone() };
                assert_bears(world, entity, &config, &format!("max_slices = {max_slices}"));
            }
            let all = CapsuleConfig { jump_max_count: u8::MAX, pawns: PawnCollision::Push, ..usual };
            assert_bears(world, entity, &all, "u8::MAX jumps");
        }
    });
}

#[test]
fn absurd_tunings_in_every_figure_at_once_neither_panic_nor_break_a_state() {
    let mut rng = SmallRng::seed_from_u64(77);
    let mut app = everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        for round in 0..150 {
            let mut config = CapsuleConfig { custom_modes: vec![CustomMode::default()], ..default() };
            for (_, tune) in FIGURES {
                if rng.random_bool(0.3) {
                    tune(&mut config, *FIGURE_VALUES.choose(&mut rng).unwrap_or(&NAN));
                }
            }
            assert_bears(world, entity, &config, &format!("round {round}: {config:?}"));
        }
    });
}

#[test]
fn absurd_custom_modes_and_volumes_break_no_state() {
    for value in FIGURE_VALUES {
        let trigger = MoveVolume::trigger(VolumeId(2));
        let volumes = [
            MoveVolume { speed_factor: value, ..trigger },
            MoveVolume { fluid_friction: Some(value), water: true, ..trigger },
            MoveVolume { gravity: Some(GravityField::Uniform(Vec3::splat(value))), ..trigger },
            MoveVolume {
                gravity: Some(GravityField::Towards { centre: Vec3::splat(value), strength: value }),
                ..trigger
            },
            MoveVolume { launch: Some(Vec3::new(value, value, 0.0)), ..trigger },
        ];
        for volume in volumes {
            let level = everything().volume(volume, Vec3::splat(9.0), Vec3::ZERO);
            let mut app = level.app(DT);
            let entity = app.world_mut().spawn_empty().id();
            with_world(&mut app, |world| {
                for physics in [ModePhysics::Walk, ModePhysics::Fall, ModePhysics::Fly, ModePhysics::Ability]
                {
                    let mode = CustomMode {
                        physics,
                        max_speed: value,
                        acceleration: value,
                        friction: value,
                        braking_deceleration: value,
                        gravity_scale: value,
                        ..default()
                    };
                    let config = CapsuleConfig { custom_modes: vec![mode], ..default() };
                    for start in pawns() {
                        let mut state = CapsuleState { mode: MovementMode::Custom(0), ..start };
                        for i in 0..6 {
                            let ctx = StepContext { tick: Tick(i), dt: DT, entity };
                            let after = step(&config, &state, &RUN, &ctx, world);
                            assert_sound(&state, &after, &format!("{physics:?}, {volume:?}, tick {i}"));
                            state = after;
                        }
                    }
                }
            });
        }
    }
}

#[test]
fn every_extreme_input_is_an_input() {
    let mut app = everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    let config = CapsuleConfig::default();
    with_world(&mut app, |world| {
        for pawn in pawns() {
            for forward in [i8::MIN, -127, -1, 0, 1, i8::MAX] {
                for right in [i8::MIN, 0, i8::MAX] {
                    for yaw in [0, 1, 0x7fff, 0x8000, u16::MAX] {
                        for pitch in [i16::MIN, -16_366, 0, 16_366, i16::MAX] {
                            for buttons in 0..16_u8 {
                                let bit = |i: u8| buttons & (1 << i) != 0;
                                let (jump, crouch, sprint, walk) = (bit(0), bit(1), bit(2), bit(3));
                                let input =
                                    CapsuleInput { forward, right, yaw, pitch, jump, crouch, sprint, walk };
                                let after = step(&config, &pawn, &input, &ctx(DT, entity), world);
                                assert!(is_finite(&after), "{input:?}: {after:?}\nfrom {pawn:?}");
                                assert!(
                                    after.velocity.length() < 12.0,
                                    "{input:?}: {after:?}\nfrom {pawn:?}"
                                );
                            }
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn nobody_is_spawned_anywhere_for_good() {
    let box_at = |level: Level, at: Vec3| level.block(Vec3::splat(1.0), at);
    let mut rng = SmallRng::seed_from_u64(3);
    let ground = hills(&mut rng, 12, 12.0, 0.5);
    let floor = || Level::default().floor();
    let cases = [
        ("in a box", box_at(floor(), Vec3::Y), Vec3::Y * 0.2),
        (
            "between two boxes",
            box_at(box_at(floor(), Vec3::Y), Vec3::new(1.2, 1.0, 0.4)),
            Vec3::new(0.6, 0.3, 0.2),
        ),
        (
            "in a heap",
            floor()
                .thing(Collider::cylinder(1.0, 1.0), Transform::from_xyz(0.2, 0.5, 0.0))
                .thing(Collider::ball(1.0), Transform::default()),
            Vec3::Y * 0.1,
        ),
        ("in hills", floor().thing(ground, Transform::from_xyz(0.0, 1.5, 0.0)), Vec3::Y * 1.0),
        ("in the floor", floor(), Vec3::Y * -0.4),
        ("below everything", floor(), Vec3::Y * -50.0),
        ("at the edge of everything", floor(), Vec3::splat(9_999.0)),
        ("beyond the edge", floor(), Vec3::new(0.0, -10_000.0, 0.0)),
    ];
    let config = CapsuleConfig::default();
    for (what, level, at) in cases {
        let mut app = level.app(DT);
        let oracle = Oracle::new(&level);
        for (how, input) in [("still", CapsuleInput::default()), ("running", RUN)] {
            let (states, _) = run(&mut app, &config, CapsuleState::at(at), vec![input; 192]);
            for (tick, pair) in states.windows(2).enumerate() {
                assert!(is_finite(&pair[1]), "{what}, {how}, tick {tick}: {:?}", pair[1]);
                let way = pair[1].position.distance(pair[0].position);
                assert!(way < 2.5, "{what}, {how}, tick {tick}: put {way} m away: {:?}", pair[1]);
            }
            let end = last(&states);
            let depth = oracle.depth(&Core::of(&config, &end)).0;
            let stays = end.position.distance(at) < 0.01;
            assert!(
                depth < 0.025 || stays,
                "{what}, {how}: neither out nor at rest, {depth} m deep: {end:?}"
            );
            assert_walks_on(&mut app, end, what);
        }
    }
}

#[test]
fn a_scene_without_colliders_is_a_long_fall() {
    let mut app = Level::default().app(DT);
    let inputs = vec![CapsuleInput { jump: false, ..RUN }; 64 * 300];
    let (states, events) = run(&mut app, &CapsuleConfig::default(), CapsuleState::at(Vec3::Y), inputs);
    let end = last(&states);
    assert!(is_finite(&end) && end.velocity.length() <= 60.0 && end.position.y == -10_000.0, "{end:?}");
    assert!(states.iter().all(is_finite));
    assert!(events.is_empty(), "{:?}", events.first());
}

#[test]
fn ids_that_nobody_has_are_let_go_of() {
    let mut app = everything().app(DT);
    let config = CapsuleConfig::default();
    for base in [2, 500, u16::MAX] {
        let start = CapsuleState {
            mode: MovementMode::Walking,
            base: BaseId(base),
            base_position: Vec3::splat(3.0),
            ..CapsuleState::at(Vec3::new(1.0, 0.021_5, 0.0))
        };
        let (states, _) = run(&mut app, &config, start, towards(0, 0, 3));
        assert_eq!(last(&states).base, BaseId::NONE, "base {base}");
        assert!(states[1].position.distance(start.position) < 0.1, "base {base}: {:?}", states[1]);
        assert_walks_on(&mut app, last(&states), "an unknown base");
    }
    for volume in [2, 500, u16::MAX] {
        let start = CapsuleState { volume: VolumeId(volume), ..CapsuleState::at(Vec3::Y) };
        let end = last(&run(&mut app, &config, start, towards(0, 0, 1)).0);
        assert_eq!(end.volume, VolumeId::NONE, "volume {volume}");
    }
    for mode in [0, 7, u8::MAX] {
        let start = CapsuleState { mode: MovementMode::Custom(mode), ..CapsuleState::at(Vec3::Y * 1.5) };
        let end = last(&run(&mut app, &config, start, towards(0, 0, 96)).0);
        assert!(end.is_grounded(), "mode {mode}: it falls and lands: {end:?}");
        assert_walks_on(&mut app, end, "an unknown mode");
    }
}

/// Colliders that are not made of numbers, or nowhere, or of no size.
fn unsound() -> Vec<(Collider, Transform)> {
    let cube = || Collider::cuboid(0.5, 0.5, 0.5);
    let here = Transform::from_xyz(1.0, 0.5, 0.0);
    let mut out = Vec::new();
    for number in [NAN, INF, -INF, 1e30, f32::MAX] {
        out.push((cube(), here.with_translation(Vec3::new(number, 0.5, 0.0))));
        out.push((cube(), here.with_translation(Vec3::splat(number))));
    }
    for number in [NAN, INF, -INF] {
        out.push((cube(), here.with_rotation(Quat::from_xyzw(number, 0.0, 0.0, 1.0))));
        out.push((cube(), here.with_scale(Vec3::new(1.0, number, 1.0))));
        out.push((Collider::ball(number), here));
        out.push((Collider::cuboid(number, 1.0, 1.0), here));
        out.push((Collider::capsule_y(number, 1.0), here));
        // Parry makes no cylinder of less than nothing.
        out.push((Collider::cylinder(1.0, number.abs()), here));
    }
    out.push((cube(), here.with_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0))));
    for scale in [Vec3::ZERO, Vec3::new(1.0, 0.0, 1.0), Vec3::splat(1e-9)] {
        out.push((cube(), here.with_scale(scale)));
        out.push((Collider::ball(1.0), here.with_scale(scale)));
        out.push((Collider::cylinder(1.0, 1.0), here.with_scale(scale)));
    }
    out
}

#[test]
fn colliders_that_are_not_made_of_numbers_stop_nobody() {
    let config = CapsuleConfig::default();
    let level = Level::default().floor();
    let mut app = level.app(DT);
    let start = standing(&mut app, &config, Vec3::ZERO);
    let (usual, _) = run(&mut app, &config, start, towards(127, 0, 64));
    for (nr, (collider, place)) in unsound().into_iter().enumerate() {
        let mut app = level.app(DT);
        let what = format!("collider {nr} at {place:?}");
        let bad = app.world_mut().spawn((collider, place)).id();
        MoverScene::refresh(app.world_mut());
        let (with, _) = run(&mut app, &config, start, towards(127, 0, 64));
        assert!(bits(&last(&usual)) == bits(&last(&with)), "{what}: {:?}", last(&with));
        app.world_mut()
            .entity_mut(bad)
            .insert((Collider::cuboid(0.5, 0.5, 0.5), Transform::from_xyz(3.0, 0.5, 0.0)));
        MoverScene::refresh(app.world_mut());
        let (mended, _) = run(&mut app, &config, start, towards(127, 0, 64));
        assert!(last(&mended).position.x < 2.5, "{what}, mended: {:?}", last(&mended));
    }
}

#[test]
fn huge_thin_and_pointed_colliders_panic_nobody() {
    let here = Transform::from_xyz(0.5, 0.5, 0.0);
    let turned = here.with_rotation(Quat::from_scaled_axis(Vec3::new(0.3, 0.7, -0.4)));
    let mut colliders = vec![
        Collider::cuboid(0.0, 0.0, 0.0),
        Collider::cuboid(0.0, 1.0, 1.0),
        Collider::cuboid(-1.0, 1.0, 1.0),
        Collider::cuboid(-1.0, -1.0, -1.0),
        Collider::ball(0.0),
        Collider::ball(-1.0),
        Collider::capsule_y(0.0, 0.0),
        Collider::cylinder(0.0, 0.0),
        Collider::cylinder(0.0, 1.0),
        Collider::cone(1.0, 0.0),
        Collider::segment(Vec3::ZERO, Vec3::ZERO),
        Collider::triangle(Vec3::ZERO, Vec3::ZERO, Vec3::ZERO),
        Collider::triangle(Vec3::ZERO, Vec3::X, Vec3::X * 2.0),
        Collider::polyline(vec![Vec3::ZERO, Vec3::X], None),
        Collider::voxels(Vec3::splat(1e-3), &[IVec3::ZERO, IVec3::ONE]),
    ];
    for size in [1e-20, 1e4, 1e6, 1e12, 1e19, 1e30] {
        colliders.extend([
            Collider::cuboid(size, size, size),
            Collider::cuboid(size, 0.1, size),
            Collider::ball(size),
            Collider::capsule_x(size, 0.5),
            Collider::cylinder(size, size),
            Collider::cylinder(0.1, size),
            Collider::cone(size, 0.5),
            Collider::round_cuboid(size, 0.1, size, 0.1),
            Collider::triangle(Vec3::NEG_X * size, Vec3::X * size, Vec3::Z * size),
        ]);
    }
    colliders.extend(Collider::halfspace(Vec3::Y));
    colliders.extend(Collider::trimesh(vec![Vec3::ZERO; 3], vec![[0, 1, 2]]));
    let config = CapsuleConfig::default();
    for (nr, collider) in colliders.into_iter().enumerate() {
        for place in [here, turned, turned.with_scale(Vec3::new(-1.0, 2.0, 1.0))] {
            let level = Level::default().floor().thing(collider.clone(), place);
            let mut app = level.app(DT);
            let (states, _) = run(&mut app, &config, CapsuleState::at(Vec3::Y * 0.3), vec![RUN; 24]);
            assert!(states.iter().all(is_finite), "collider {nr} {collider:?} at {place:?}");
        }
    }
}

/// A level's designer mirrors a house. Parry refuses a cylinder that stands on its head.
#[test]
fn mirrored_colliders_stop_pawns_and_panic_nobody() {
    let sides =
        [Vec3::new(-1.0, 1.0, 1.0), Vec3::new(1.0, -1.0, 1.0), Vec3::new(1.0, 1.0, -1.0), Vec3::splat(-1.0)];
    for side in sides {
        let colliders = [
            Collider::cuboid(0.5, 1.0, 0.5),
            Collider::ball(0.8),
            Collider::capsule_y(0.5, 0.5),
            Collider::cylinder(1.0, 0.5),
            Collider::cone(1.0, 0.5),
            Collider::round_cuboid(0.4, 1.0, 0.4, 0.1),
            hills(&mut SmallRng::seed_from_u64(1), 4, 1.0, 0.1),
        ];
        for (nr, collider) in colliders.into_iter().enumerate() {
            let place = Transform::from_xyz(2.0, 0.8, 0.0).with_scale(side);
            let mut app = Level::default().floor().thing(collider, place).app(DT);
            let config = CapsuleConfig::default();
            let start = standing(&mut app, &config, Vec3::ZERO);
            let (states, _) = run(&mut app, &config, start, towards(127, 0, 40));
            assert!(last(&states).position.x < 1.9, "collider {nr}, {side}: {:?}", last(&states));
        }
    }
}

/// Of rapier as well: it runs in the same app.
#[test]
fn an_app_with_bad_colliders_keeps_running() {
    let level = Level::default().floor();
    for (nr, (collider, place)) in unsound().into_iter().enumerate() {
        let mut app = level.app(DT);
        app.update();
        let bad = app.world_mut().spawn((collider, place, ColliderScale::Relative(Vec3::ONE))).id();
        for _ in 0..4 {
            app.update();
        }
        let counts = app.world().resource::<MoverScene>().counts();
        assert_eq!(counts, [1, 0, 0], "collider {nr} at {place:?}");
        app.world_mut().entity_mut(bad).despawn();
        app.update();
        assert_walks_on(&mut app, CapsuleState::at(Vec3::Y), &format!("after collider {nr} at {place:?}"));
    }
}

/// A state somewhere near the level, of the kind that travels.
fn some_state(rng: &mut SmallRng) -> CapsuleState {
    let number = |rng: &mut SmallRng, size: f32| rng.random_range(-size..size);
    let vector =
        |rng: &mut SmallRng, size: f32| Vec3::new(number(rng, size), number(rng, size), number(rng, size));
    let up = if rng.random_bool(0.7) { Vec3::Y } else { vector(rng, 1.0).normalize_or(Vec3::X) };
    CapsuleState {
        position: vector(rng, 9.0),
        velocity: vector(rng, 40.0),
        yaw: rng.random(),
        pitch: rng.random(),
        up,
        mode: match rng.random_range(0..6) {
            0 | 1 => MovementMode::Walking,
            2 => MovementMode::Falling,
            3 => MovementMode::Swimming,
            4 => MovementMode::Flying,
            _ => MovementMode::Custom(rng.random()),
        },
        crouched: rng.random(),
        jump_held: rng.random(),
        disabled: rng.random(),
        alive: rng.random(),
        teleports: rng.random(),
        base: BaseId(rng.random_range(0..3)),
        base_position: vector(rng, 2.0),
        base_velocity: vector(rng, 9.0),
        base_turn: rng.random(),
        volume: VolumeId(rng.random_range(0..3)),
        jumps: rng.random(),
        air_seconds: rng.random_range(0.0..2.0),
        jump_hold: rng.random_range(0.0..0.2),
        jump_buffer: rng.random_range(0.0..0.2),
    }
}

/// Reads a state and an input and makes a move of them. Whether there was a state.
fn take_in(bytes: &[u8], entity: Entity, world: &MoverWorld<'_, '_>, seed: u64) -> bool {
    let mut r = BitReader::new(bytes);
    let Ok(state) = CapsuleState::read(&mut r) else {
        let _ = CapsuleInput::read(&mut BitReader::new(bytes));
        return false;
    };
    assert!(is_finite(&state), "case {seed}: read {state:?} from {bytes:?}");
    let input = CapsuleInput::read(&mut r).unwrap_or_default();
    let delta = CapsuleInput::read_delta(&input, &mut BitReader::new(bytes)).unwrap_or_default();
    for input in [input, delta] {
        let after = step(&CapsuleConfig::default(), &state, &input, &ctx(DT, entity), world);
        assert!(is_finite(&after), "case {seed}: {after:?}\nfrom {state:?}\nby {input:?}");
    }
    true
}

#[test]
fn random_bytes_are_refused_or_make_a_move() {
    let mut rng = SmallRng::seed_from_u64(2_026);
    let mut app = everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        let mut taken = 0;
        for case in 0..60_000 {
            let bytes: Vec<u8> = (0..rng.random_range(0..120)).map(|_| rng.random()).collect();
            taken += usize::from(take_in(&bytes, entity, world, case));
        }
        // What was a state before some of its bits fell over.
        let mut mutants = 0;
        for case in 60_000..100_000 {
            let mut w = BitWriter::default();
            some_state(&mut rng).write(&mut w);
            RUN.write(&mut w);
            let mut bytes = w.finish();
            for _ in 0..rng.random_range(0..4) {
                let at = rng.random_range(0..bytes.len());
                bytes[at] ^= 1_u8 << rng.random_range(0..8_u32);
            }
            if rng.random_bool(0.1) {
                bytes.truncate(rng.random_range(0..bytes.len()));
            }
            mutants += usize::from(take_in(&bytes, entity, world, case));
        }
        assert!(mutants > 10_000 && taken < 60_000, "{taken} and {mutants} were states");
    });
}
