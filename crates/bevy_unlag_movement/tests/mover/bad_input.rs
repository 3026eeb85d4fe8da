//! Robustness tests: invalid data from the network, level design or physics causes neither panics nor
//! non-finite states.

mod colliders;
mod configs;

use bevy::prelude::*;
use bevy_rapier3d::prelude::{Collider, ColliderScale};
use bevy_unlag_core::{BitReader, BitWriter, PawnClass, StepContext, Tick, TimeDilation, Wire};
use bevy_unlag_movement::{
    AccelerationModel, BaseId, BaseTrack, CapsuleConfig, CapsuleInput, CapsuleModel, CapsuleState,
    CustomMode, GravityField, ModePhysics, MoveVolume, MovementMode, MoverBackend, MoverScene, MoverWorld,
    PawnCollision, Shuttle, VolumeId,
};
use rand::{Rng, SeedableRng, rngs::SmallRng, seq::IndexedRandom};

use crate::{
    fuzz::{
        levels::{
            DT, Level, PlacedCollider, axis_inputs, hills, last_state, run, settled_pawn, sheet, step,
            with_world,
        },
        oracle::{CapsuleSegment, Oracle, is_finite},
        script::random_moves,
    },
    replay::bits,
};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// A level with every kind of collider, a lift, water and a ceiling on a floor.
fn level_with_everything() -> Level {
    let mut rng = SmallRng::seed_from_u64(8);
    let deck = PlacedCollider { collider: Collider::cuboid(1.0, 0.1, 1.0), place: Transform::default() };
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
        .ride(1, BaseTrack::Shuttle(lift), vec![deck])
        .volume(MoveVolume::water(VolumeId(1)), Vec3::splat(2.0), Vec3::new(-6.0, 1.5, 6.0))
}

/// Pawns in every situation of that level.
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

fn assert_finite_or_unchanged(before: &CapsuleState, after: &CapsuleState, what: &str) {
    assert!(is_finite(after) || bits(before) == bits(after), "{what}: {after:?}\nfrom {before:?}");
}

/// Asserts that a pawn walks for a second on free ground, whatever happened to it before.
fn assert_walks_on(app: &mut App, state: CapsuleState, what: &str) {
    let config = CapsuleConfig::default();
    let mut state = state;
    state.teleport_to(Vec3::new(30.0, 0.1, 30.0));
    let (states, _) =
        run(app, &config, state, axis_inputs(0, 0, 32).into_iter().chain(axis_inputs(127, 0, 64)));
    let (start, end) = (states[32], last_state(&states));
    assert!(end.is_grounded() && end.position.x - start.position.x > 3.0, "{what}: {start:?}\nto {end:?}");
}

fn ctx(dt: f32, entity: Entity) -> StepContext {
    StepContext { tick: Tick(7), dt, entity, replaying: false }
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
fn step_with_zero_negative_or_nan_length_changes_nothing() {
    let mut app = level_with_everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        for dt in [NAN, -NAN, -INF, 0.0, -0.0, -1.0, -f32::MIN_POSITIVE, f32::MIN] {
            for before in pawns() {
                let after = step(&CapsuleConfig::default(), &before, &RUN, &ctx(dt, entity), world);
                assert!(bits(&before) == bits(&after), "dt {dt}: {after:?}\nfrom {before:?}");
                let after = CapsuleModel::simplified_step(
                    &CapsuleConfig::default(),
                    &before,
                    &ctx(dt, entity),
                    world,
                );
                assert!(bits(&before) == bits(&after), "cheap step, dt {dt}: {after:?}\nfrom {before:?}");
            }
        }
    });
}

#[test]
fn step_of_extreme_length_moves_no_further_than_its_slices() {
    let mut app = level_with_everything().app(DT);
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
                // No pawn here exceeds 20 m/s; the lift moves to where it is by then.
                let lifted = if before.base == BaseId::NONE { 0.0 } else { 4.0 };
                let allowed = 20.0 * dt.min(most) + 0.05 + lifted;
                assert!(way <= allowed, "dt {dt}: moved {way} m: {after:?}\nfrom {before:?}");
                let cheap = CapsuleModel::simplified_step(&config, &before, &ctx(dt, entity), world);
                assert!(is_finite(&cheap), "cheap step, dt {dt}: {cheap:?}\nfrom {before:?}");
            }
        }
    });
}

#[test]
fn invalid_states_are_left_unchanged() {
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
    let mut app = level_with_everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        for before in &bad {
            for backend in [MoverBackend::Unlag, MoverBackend::Rapier] {
                let config = CapsuleConfig { backend, ..default() };
                let after = step(&config, before, &RUN, &ctx(DT, entity), world);
                assert!(bits(before) == bits(&after), "{backend:?}: {after:?}\nfrom {before:?}");
            }
            let cheap =
                CapsuleModel::simplified_step(&CapsuleConfig::default(), before, &ctx(DT, entity), world);
            assert_finite_or_unchanged(before, &cheap, "cheap step");
            let _ = world.probe(&CapsuleConfig::default(), before, &ctx(DT, entity));
        }
    });
}

#[test]
fn extreme_finite_states_stay_finite() {
    let huge = [1e3, 1e6, 1e19, 1e30, f32::MAX, -f32::MAX];
    let mut app = level_with_everything().app(DT);
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
                    let cheap = CapsuleModel::simplified_step(
                        &CapsuleConfig::default(),
                        &before,
                        &ctx(DT, entity),
                        world,
                    );
                    assert_finite_or_unchanged(&before, &cheap, "cheap step");
                }
            }
        }
    });
}

/// The top speed also limits the first tick, so no launch tunnels through a wall.
#[test]
fn pawns_above_the_top_speed_are_stopped_by_walls_and_ceilings() {
    // Further away than a tick at the top speed, nearer than one at these speeds.
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
        ("a high velocity", CapsuleState { velocity: Vec3::X * 990.0, ..at }),
        ("a launch volume", CapsuleState::at(Vec3::new(0.0, 0.5, 20.0))),
        ("a missing base", imparted),
        ("a missing base, in the air", CapsuleState { mode: MovementMode::Falling, ..imparted }),
    ];
    let jump = CapsuleInput { jump: true, ..default() };
    for (what, start) in cases {
        let (states, _) = run(&mut app, &config, start, vec![jump; 60]);
        let furthest = states.iter().map(|state| state.position.x).fold(f32::MIN, f32::max);
        assert!(furthest < 3.7, "{what}: reached {furthest} m, through a wall at 4 m");
    }
    // The same upwards, with a jump.
    let low = Level::default().floor().block(Vec3::new(9.0, 0.25, 9.0), Vec3::Y * 5.25);
    let mut app = low.app(DT);
    let config = CapsuleConfig { jump_speed: 900.0, ..default() };
    let start = settled_pawn(&mut app, &config, Vec3::ZERO);
    let (states, _) = run(&mut app, &config, start, vec![jump; 60]);
    let highest = states.iter().map(|state| state.position.y).fold(0.0, f32::max);
    assert!(
        highest > 2.0 && highest < 5.0 - 1.7,
        "a jump at 900 m/s reached {highest} m below a ceiling at 5 m"
    );
}

#[test]
fn extreme_inputs_keep_states_finite_and_speeds_bounded() {
    let mut app = level_with_everything().app(DT);
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
fn pawns_spawned_inside_colliders_get_out_or_rest_and_can_walk_on() {
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
            "in overlapping colliders",
            floor()
                .thing(Collider::cylinder(1.0, 1.0), Transform::from_xyz(0.2, 0.5, 0.0))
                .thing(Collider::ball(1.0), Transform::default()),
            Vec3::Y * 0.1,
        ),
        ("in a height field", floor().thing(ground, Transform::from_xyz(0.0, 1.5, 0.0)), Vec3::Y * 1.0),
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
                assert!(way < 2.5, "{what}, {how}, tick {tick}: moved {way} m at once: {:?}", pair[1]);
            }
            let end = last_state(&states);
            let depth = oracle.depth(&CapsuleSegment::of(&config, &end)).0;
            let stays = end.position.distance(at) < 0.01;
            assert!(
                depth < 0.025 || stays,
                "{what}, {how}: neither free nor at rest, {depth} m deep: {end:?}"
            );
            assert_walks_on(&mut app, end, what);
        }
    }
}

#[test]
fn pawn_without_colliders_falls_to_the_lower_bound_without_events() {
    let mut app = Level::default().app(DT);
    let inputs = vec![CapsuleInput { jump: false, ..RUN }; 64 * 300];
    let (states, events) = run(&mut app, &CapsuleConfig::default(), CapsuleState::at(Vec3::Y), inputs);
    let end = last_state(&states);
    assert!(is_finite(&end) && end.velocity.length() <= 60.0 && end.position.y == -10_000.0, "{end:?}");
    assert!(states.iter().all(is_finite));
    assert!(events.is_empty(), "{:?}", events.first());
}

#[test]
fn unknown_base_volume_and_mode_ids_are_dropped() {
    let mut app = level_with_everything().app(DT);
    let config = CapsuleConfig::default();
    for base in [2, 500, u16::MAX] {
        let start = CapsuleState {
            mode: MovementMode::Walking,
            base: BaseId(base),
            base_position: Vec3::splat(3.0),
            ..CapsuleState::at(Vec3::new(1.0, 0.021_5, 0.0))
        };
        let (states, _) = run(&mut app, &config, start, axis_inputs(0, 0, 3));
        assert_eq!(last_state(&states).base, BaseId::NONE, "base {base}");
        assert!(states[1].position.distance(start.position) < 0.1, "base {base}: {:?}", states[1]);
        assert_walks_on(&mut app, last_state(&states), "an unknown base");
    }
    for volume in [2, 500, u16::MAX] {
        let start = CapsuleState { volume: VolumeId(volume), ..CapsuleState::at(Vec3::Y) };
        let end = last_state(&run(&mut app, &config, start, axis_inputs(0, 0, 1)).0);
        assert_eq!(end.volume, VolumeId::NONE, "volume {volume}");
    }
    for mode in [0, 7, u8::MAX] {
        let start = CapsuleState { mode: MovementMode::Custom(mode), ..CapsuleState::at(Vec3::Y * 1.5) };
        let end = last_state(&run(&mut app, &config, start, axis_inputs(0, 0, 96)).0);
        assert!(end.is_grounded(), "mode {mode}: must fall and land: {end:?}");
        assert_walks_on(&mut app, end, "an unknown mode");
    }
}

/// Returns a random state near the level, of the kind that is sent.
fn random_state(rng: &mut SmallRng) -> CapsuleState {
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
        class: PawnClass(rng.random_range(0..3)),
        time_dilation: TimeDilation::new(if rng.random_bool(0.7) { 1.0 } else { number(rng, 4.0) }),
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

/// Reads a state and an input and makes a move with them. Returns whether the bytes were a state.
fn assert_read_and_step_finite(bytes: &[u8], entity: Entity, world: &MoverWorld<'_, '_>, seed: u64) -> bool {
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
fn random_and_corrupted_bytes_are_rejected_or_step_to_finite_states() {
    let mut rng = SmallRng::seed_from_u64(2_026);
    let mut app = level_with_everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        let mut taken = 0;
        for case in 0..60_000 {
            let bytes: Vec<u8> = (0..rng.random_range(0..120)).map(|_| rng.random()).collect();
            taken += usize::from(assert_read_and_step_finite(&bytes, entity, world, case));
        }
        // Encodings of valid states with some flipped bits.
        let mut mutants = 0;
        for case in 60_000..100_000 {
            let mut w = BitWriter::default();
            random_state(&mut rng).write(&mut w);
            RUN.write(&mut w);
            let mut bytes = w.finish();
            for _ in 0..rng.random_range(0..4) {
                let at = rng.random_range(0..bytes.len());
                bytes[at] ^= 1_u8 << rng.random_range(0..8_u32);
            }
            if rng.random_bool(0.1) {
                bytes.truncate(rng.random_range(0..bytes.len()));
            }
            mutants += usize::from(assert_read_and_step_finite(&bytes, entity, world, case));
        }
        assert!(
            mutants > 10_000 && taken < 60_000,
            "{taken} random inputs and {mutants} mutants were read as states"
        );
    });
}
