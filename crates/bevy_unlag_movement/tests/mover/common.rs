//! Test levels and helpers that step pawns through them.

use core::time::Duration;

use bevy::{ecs::system::SystemState, prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{BitWriter, MoveModel, StepContext, Tick, Wire};
use bevy_unlag_core::{SimulationRate, SimulationRatePlugin};
use bevy_unlag_movement::{
    CapsuleConfig, CapsuleInput, CapsuleModel, CapsuleState, MoveEvent, MovementMode, MovementPlugin,
};
use rand::{Rng, SeedableRng, rngs::SmallRng};

/// Tick length in seconds, unless a level sets another rate.
pub const DT: f32 = 1.0 / 64.0;
/// Common tick rates of games, in ticks per second.
pub const RATES: [f32; 4] = [30.0, 60.0, 64.0, 128.0];
/// Ticks that [`expect_standing`] takes.
pub const SETTLE: u32 = 40;
/// Height of the feet above a floor, in metres.
pub const HOVER: core::ops::RangeInclusive<f32> = 0.0185..=0.0245;
/// Gravity of the default config, in metres per second squared.
pub const GRAVITY: f32 = 9.8;

/// Builder of a test level.
pub struct Level {
    rate: f32,
    turn: Quat,
    config: CapsuleConfig,
    pieces: Vec<(Collider, Transform)>,
}

impl Level {
    /// Creates an empty level with 64 ticks per second.
    pub fn new() -> Self {
        Self { rate: 64.0, turn: Quat::IDENTITY, config: CapsuleConfig::default(), pieces: Vec::new() }
    }

    /// Creates a level with a floor of 120 m by 120 m whose top is at 0.
    pub fn with_floor() -> Self {
        Self::new().block(Vec3::new(-60.0, -1.0, -60.0), Vec3::new(60.0, 0.0, 60.0))
    }

    /// Sets the tick rate, in ticks per second.
    pub fn rate(mut self, rate: f32) -> Self {
        self.rate = rate;
        self
    }

    /// Replaces the config.
    pub fn config(mut self, config: CapsuleConfig) -> Self {
        self.config = config;
        self
    }

    /// Changes the config.
    pub fn tune(mut self, change: impl FnOnce(&mut CapsuleConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// Rotates the whole level and its gravity about the origin.
    pub fn turned(mut self, turn: Quat) -> Self {
        self.turn = turn;
        self.config.up = turn * Vec3::Y;
        self
    }

    /// Adds a collider.
    pub fn collider(mut self, collider: Collider, transform: Transform) -> Self {
        self.pieces.push((collider, transform));
        self
    }

    /// Adds a box between two corners.
    pub fn block(self, mins: Vec3, maxs: Vec3) -> Self {
        let half = (maxs - mins) * 0.5;
        let collider = Collider::cuboid(half.x, half.y, half.z);
        self.collider(collider, Transform::from_translation((mins + maxs) * 0.5))
    }

    /// Adds a box, 10 m wide, whose top rises towards +X from `foot`.
    pub fn ramp(self, foot: Vec3, degrees: f32, length: f32) -> Self {
        let turn = Quat::from_rotation_z(degrees.to_radians());
        let middle = foot + turn * Vec3::new(length * 0.5, -0.5, 0.0);
        let collider = Collider::cuboid(length * 0.5, 0.5, 5.0);
        self.collider(collider, Transform::from_translation(middle).with_rotation(turn))
    }

    /// Adds a mesh of flat quads.
    pub fn mesh(self, quads: &[[Vec3; 4]]) -> Self {
        let vertices: Vec<Vec3> = quads.iter().flatten().copied().collect();
        let triangles: Vec<[u32; 3]> = (0..quads.len() as u32)
            .flat_map(|i| [[0, 1, 2], [0, 2, 3]].map(|t| t.map(|k| i * 4 + k)))
            .collect();
        let mesh = Collider::trimesh(vertices, triangles).expect("the mesh must have triangles");
        self.collider(mesh, Transform::default())
    }

    /// Adds a square mesh floor with shared vertices whose top is at 0.
    pub fn mesh_floor(self, half: f32, cells: u32) -> Self {
        let row = cells + 1;
        let at = |i: u32| i as f32 * (2.0 * half / cells as f32) - half;
        let vertices: Vec<Vec3> = (0..row * row).map(|i| Vec3::new(at(i % row), 0.0, at(i / row))).collect();
        let triangles: Vec<[u32; 3]> = (0..cells * cells)
            .map(|i| i / cells * row + i % cells)
            .flat_map(|i| [[i, i + row, i + 1], [i + 1, i + row, i + row + 1]])
            .collect();
        let mesh = Collider::trimesh(vertices, triangles).expect("the mesh must have triangles");
        self.collider(mesh, Transform::default())
    }

    /// Adds a square floor of 1 m boxes whose top is at 0.
    pub fn tiles(mut self, half: i32) -> Self {
        let tile = Collider::cuboid(0.5, 0.5, 0.5);
        for x in -half..half {
            for z in -half..half {
                let middle = Vec3::new(x as f32 + 0.5, -0.5, z as f32 + 0.5);
                self = self.collider(tile.clone(), Transform::from_translation(middle));
            }
        }
        self
    }

    /// Adds a square, flat height field at 0.
    pub fn height_field(self, half: f32, cells: usize) -> Self {
        let row = cells + 1;
        let size = Vec3::new(2.0 * half, 1.0, 2.0 * half);
        self.collider(Collider::heightfield(vec![0.0; row * row], row, row, size), Transform::default())
    }

    /// Adds stairs, 10 m wide, that rise towards +X from the origin and end in a landing.
    pub fn stairs(mut self, steps: u32, height: f32, depth: f32) -> Self {
        let end = steps as f32 * depth + 20.0;
        for i in 0..steps {
            let (front, low) = (i as f32 * depth, i as f32 * height);
            self = self.block(Vec3::new(front, low - 1.0, -5.0), Vec3::new(end, low + height, 5.0));
        }
        self
    }

    /// Builds the app with all colliders in its scene.
    pub fn build(self) -> App {
        self.build_with(|_| {})
    }

    /// Builds the app after `extend` has changed it.
    pub fn build_with(self, extend: impl FnOnce(&mut App)) -> App {
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
            SimulationRatePlugin(SimulationRate::from_hz(f64::from(self.rate))),
            MovementPlugin,
        ))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(
            1.0 / f64::from(self.rate),
        )));
        app.insert_resource(self.config);
        extend(&mut app);
        for (collider, transform) in self.pieces {
            let turn = self.turn;
            let transform = Transform {
                translation: turn * transform.translation,
                rotation: turn * transform.rotation,
                ..transform
            };
            app.world_mut().spawn((collider, transform));
        }
        app.finish();
        app.cleanup();
        settle(&mut app);
        app
    }
}

/// Updates the app until newly spawned entities take effect.
pub fn settle(app: &mut App) {
    for _ in 0..4 {
        app.update();
    }
}

/// Spawns an entity and updates the app until it takes effect.
pub fn spawn(app: &mut App, bundle: impl Bundle) -> Entity {
    let entity = app.world_mut().spawn(bundle).id();
    settle(app);
    entity
}

/// Changes the config of a built level.
pub fn tune(app: &mut App, change: impl FnOnce(&mut CapsuleConfig)) {
    change(&mut app.world_mut().resource_mut::<CapsuleConfig>());
}

/// Returns the tick length in seconds.
pub fn tick_seconds(app: &App) -> f32 {
    app.world().resource::<Time<Fixed>>().timestep().as_secs_f32()
}

/// Returns the number of ticks in `seconds`.
pub fn ticks(app: &App, seconds: f32) -> usize {
    (seconds / tick_seconds(app)).round() as usize
}

/// Returns the time at the end of a tick, in seconds, on the time line of movement bases.
pub fn seconds_at(app: &App, tick: u32) -> f64 {
    let step = app.world().resource::<Time<Fixed>>().timestep();
    (f64::from(tick) - 1.0) * step.as_secs_f64() + f64::from(step.as_secs_f32())
}

/// Steps a pawn of any model. Returns all states, including the first, and the events of every tick.
pub fn drive<M: MoveModel>(
    app: &mut App,
    state: M::State,
    ticks: usize,
    first_tick: u32,
    dt: f32,
    mut input: impl FnMut(usize, &M::State) -> M::Input,
) -> (Vec<M::State>, Vec<Vec<M::Event>>) {
    let entity = app.world_mut().spawn_empty().id();
    let mut system = SystemState::<(M::World, Res<'static, M::Config>)>::new(app.world_mut());
    let (world, config) = system.get(app.world()).expect("the level must provide the mover's world");
    let (mut states, mut events) = (vec![state], Vec::new());
    for i in 0..ticks {
        let last = states[i];
        let ctx = StepContext { tick: Tick(first_tick + i as u32), dt, entity, replaying: false };
        let mut happened = Vec::new();
        let input = input(i, &last);
        states.push(M::step(&config, &last, &input, &ctx, &world, &mut happened));
        events.push(happened);
    }
    (states, events)
}

/// Steps `state` through `inputs`. Returns all states, including the first, and all events.
pub fn run(
    app: &mut App,
    state: CapsuleState,
    inputs: impl IntoIterator<Item = CapsuleInput>,
    first_tick: u32,
) -> (Vec<CapsuleState>, Vec<MoveEvent>) {
    let (states, events) = run_per_tick(app, state, inputs, first_tick);
    (states, events.concat())
}

/// Like [`run`], but returns the events per tick.
pub fn run_per_tick(
    app: &mut App,
    state: CapsuleState,
    inputs: impl IntoIterator<Item = CapsuleInput>,
    first_tick: u32,
) -> (Vec<CapsuleState>, Vec<Vec<MoveEvent>>) {
    let inputs: Vec<CapsuleInput> = inputs.into_iter().collect();
    let dt = tick_seconds(app);
    drive::<CapsuleModel>(app, state, inputs.len(), first_tick, dt, |i, _| inputs[i])
}

/// Steps `state` with inputs that depend on the current state.
pub fn run_with_feedback(
    app: &mut App,
    state: CapsuleState,
    ticks: usize,
    first_tick: u32,
    input: impl FnMut(usize, &CapsuleState) -> CapsuleInput,
) -> (Vec<CapsuleState>, Vec<MoveEvent>) {
    let dt = tick_seconds(app);
    let (states, events) = drive::<CapsuleModel>(app, state, ticks, first_tick, dt, input);
    (states, events.concat())
}

/// Makes one step of any length.
pub fn step_once(app: &mut App, state: CapsuleState, input: CapsuleInput, dt: f32) -> CapsuleState {
    last_state(&drive::<CapsuleModel>(app, state, 1, 0, dt, |_, _| input).0)
}

/// Returns the last element.
pub fn last_state<T: Copy>(states: &[T]) -> T {
    *states.last().expect("a run contains at least its first state")
}

/// Returns a pawn that has come to rest on the floor at or below `place`.
pub fn expect_standing(app: &mut App, place: Vec3) -> CapsuleState {
    let up = app.world().resource::<CapsuleConfig>().up;
    let state = CapsuleState { up, ..CapsuleState::at(place + up * 0.1) };
    let rest = last_state(&run(app, state, neutral_inputs(SETTLE as usize), 0).0);
    assert_eq!(rest.mode, MovementMode::Walking, "no floor to stand on at {place}: {rest:?}");
    rest
}

/// Neutral input.
pub fn neutral_inputs(ticks: usize) -> Vec<CapsuleInput> {
    vec![CapsuleInput::default(); ticks]
}

/// Input with constant axes: `right` is towards +X, `forward` towards -Z.
pub fn axis_inputs(right: i8, forward: i8, ticks: usize) -> Vec<CapsuleInput> {
    vec![CapsuleInput { right, forward, ..default() }; ticks]
}

/// Input with the jump button held.
pub fn jump_inputs(ticks: usize) -> Vec<CapsuleInput> {
    vec![CapsuleInput { jump: true, ..default() }; ticks]
}

/// Returns input that walks along `direction`, horizontally in a world where +Y is up.
pub fn input_along(direction: Vec3) -> CapsuleInput {
    let mut input = CapsuleInput { forward: 127, ..default() };
    input.set_look(f64::from(-direction.x).atan2(f64::from(-direction.z)), 0.0);
    input
}

/// Returns a seeded random number generator.
pub fn rng(seed: u64) -> SmallRng {
    SmallRng::seed_from_u64(seed)
}

/// Returns random inputs that change four times per second.
pub fn random_inputs(seed: u64, ticks: usize) -> Vec<CapsuleInput> {
    let mut rng = rng(seed);
    let mut input = CapsuleInput::default();
    (0..ticks)
        .map(|i| {
            if i % 16 == 0 {
                input = CapsuleInput {
                    right: rng.random(),
                    forward: rng.random(),
                    yaw: rng.random(),
                    pitch: rng.random_range(-16_000..16_000),
                    jump: rng.random_bool(0.25),
                    crouch: rng.random_bool(0.125),
                    sprint: rng.random_bool(0.25),
                    walk: rng.random_bool(0.125),
                };
            }
            input
        })
        .collect()
}

/// A walled yard, 28 m by 28 m, full of tilted boxes.
pub fn cluttered_level() -> Level {
    let mut level = Level::with_floor();
    for i in 0..60_i16 {
        let place =
            Vec3::new(f32::from(i * 7 % 23) - 11.0, f32::from(i % 5) * 0.2, f32::from(i * 11 % 19) - 9.0);
        let turn = Quat::from_rotation_z(f32::from(i % 9) * 0.2);
        let transform = Transform::from_translation(place).with_rotation(turn);
        level = level.collider(Collider::cuboid(0.8, 0.25, 1.1), transform);
    }
    for (x, z) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
        let middle = Vec3::new(x * 14.0, 4.0, z * 14.0);
        let half = Vec3::new(0.5 + 20.0 * f32::abs(z), 4.0, 0.5 + 20.0 * f32::abs(x));
        level = level.block(middle - half, middle + half);
    }
    level
}

/// Returns the wire encoding of a value.
pub fn bits<T: Wire>(value: &T) -> Vec<u8> {
    let mut writer = BitWriter::default();
    value.write(&mut writer);
    writer.finish()
}

/// Returns the first tick after which the wire encodings of two runs differ.
pub fn first_difference<T: Wire>(a: &[T], b: &[T]) -> Option<usize> {
    assert_eq!(a.len(), b.len(), "runs differ in length");
    a.iter().zip(b).position(|(a, b)| bits(a) != bits(b))
}

/// Counts the events that match `is`.
pub fn count(events: &[MoveEvent], is: impl Fn(&MoveEvent) -> bool) -> usize {
    events.iter().filter(|event| is(event)).count()
}

/// Counts the `WalkedOffLedge` events.
pub fn walked_off(events: &[MoveEvent]) -> usize {
    count(events, |event| matches!(event, MoveEvent::WalkedOffLedge))
}

/// Counts the `ModeChanged` events.
pub fn mode_changes(events: &[MoveEvent]) -> usize {
    count(events, |event| matches!(event, MoveEvent::ModeChanged { .. }))
}

/// Returns the jump counts of all `Jumped` events.
pub fn jumps(events: &[MoveEvent]) -> Vec<u8> {
    events
        .iter()
        .filter_map(|event| match event {
            MoveEvent::Jumped { count } => Some(*count),
            _ => None,
        })
        .collect()
}

/// Returns the impact speeds of all `Landed` events.
pub fn landings(events: &[MoveEvent]) -> Vec<f32> {
    events
        .iter()
        .filter_map(|event| match event {
            MoveEvent::Landed { speed } => Some(*speed),
            _ => None,
        })
        .collect()
}

/// Returns the greatest height of the feet, in metres.
pub fn highest(states: &[CapsuleState]) -> f32 {
    states.iter().map(|state| state.position.y).fold(f32::NEG_INFINITY, f32::max)
}

/// Returns the horizontal speed, in metres per second.
pub fn level_speed(state: &CapsuleState) -> f32 {
    state.velocity.with_y(0.0).length()
}
