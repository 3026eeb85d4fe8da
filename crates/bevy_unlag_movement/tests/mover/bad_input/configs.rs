//! Invalid and extreme configs.

use super::*;

type ConfigSetter = fn(&mut CapsuleConfig, f32);

/// Setters of all floating point config values.
const CONFIG_SETTERS: [(&str, ConfigSetter); 41] = [
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
    ("ledge_threshold", |c, v| c.ledge_threshold = v),
    ("perch_height", |c, v| c.perch_height = v),
    ("buoyancy", |c, v| c.buoyancy = v),
    ("out_of_water_speed", |c, v| c.out_of_water_speed = v),
    ("pawn_push_speed", |c, v| c.pawn_push_speed = v),
    ("max_slice_seconds", |c, v| c.max_slice_seconds = v),
];

const CONFIG_VALUES: [f32; 13] =
    [NAN, INF, -INF, 0.0, -0.0, -1.0, 1e-30, 1.0, 100.0, 1e6, 1e19, 1e30, f32::MAX];

/// Asserts that moves with a config keep all states finite, from every start.
fn assert_states_stay_finite(world: &MoverWorld<'_, '_>, entity: Entity, config: &CapsuleConfig, what: &str) {
    let still = Level::default();
    let moves = random_moves(4, &still, 16);
    for (nr, start) in pawns().into_iter().enumerate() {
        let mut state = start;
        for (i, planned) in moves.iter().enumerate() {
            planned.apply(&mut state, |_| true);
            let ctx = StepContext { tick: Tick(i as u32 + 1), dt: DT, entity, replaying: false };
            let after = step(config, &state, &planned.input, &ctx, world);
            assert_finite_or_unchanged(&state, &after, &format!("{what}, pawn {nr}, tick {}", i + 1));
            state = after;
        }
        let cheap = CapsuleModel::simplified_step(config, &start, &ctx(DT, entity), world);
        assert_finite_or_unchanged(&start, &cheap, what);
        let _ = world.probe(config, &start, &ctx(DT, entity));
    }
}

#[test]
fn extreme_config_values_keep_states_finite() {
    let mut app = level_with_everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        for acceleration_model in [AccelerationModel::Unreal, AccelerationModel::Quake] {
            let usual = CapsuleConfig { acceleration_model, jump_max_count: 2, ..default() };
            for (name, tune) in CONFIG_SETTERS {
                for value in CONFIG_VALUES {
                    let mut config = usual.clone();
                    tune(&mut config, value);
                    assert_states_stay_finite(
                        world,
                        entity,
                        &config,
                        &format!("{acceleration_model:?}, {name} = {value}"),
                    );
                }
            }
            for max_slices in [0, 1, u8::MAX] {
                let config = CapsuleConfig { max_slices, ..usual.clone() };
                assert_states_stay_finite(world, entity, &config, &format!("max_slices = {max_slices}"));
            }
            let all = CapsuleConfig { jump_max_count: u8::MAX, pawns: PawnCollision::Push, ..usual };
            assert_states_stay_finite(world, entity, &all, "u8::MAX jumps");
        }
    });
}

#[test]
fn combined_extreme_config_values_keep_states_finite() {
    let mut rng = SmallRng::seed_from_u64(77);
    let mut app = level_with_everything().app(DT);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        for round in 0..150 {
            let mut config = CapsuleConfig { custom_modes: vec![CustomMode::default()], ..default() };
            for (_, tune) in CONFIG_SETTERS {
                if rng.random_bool(0.3) {
                    tune(&mut config, *CONFIG_VALUES.choose(&mut rng).unwrap_or(&NAN));
                }
            }
            assert_states_stay_finite(world, entity, &config, &format!("round {round}: {config:?}"));
        }
    });
}

#[test]
fn extreme_custom_modes_and_volumes_keep_states_finite() {
    for value in CONFIG_VALUES {
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
            let level = level_with_everything().volume(volume, Vec3::splat(9.0), Vec3::ZERO);
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
                            let ctx = StepContext { tick: Tick(i), dt: DT, entity, replaying: false };
                            let after = step(&config, &state, &RUN, &ctx, world);
                            assert_finite_or_unchanged(
                                &state,
                                &after,
                                &format!("{physics:?}, {volume:?}, tick {i}"),
                            );
                            state = after;
                        }
                    }
                }
            });
        }
    }
}
