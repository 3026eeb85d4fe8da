//! Levels for fuzz tests: a builder, random levels and configs, and apps that contain them.

use core::time::Duration;

use bevy::{ecs::system::SystemState, prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{MoveModel, StepContext, Tick};
use bevy_unlag_core::{SimulationRate, SimulationRatePlugin};
use bevy_unlag_movement::{
    AccelerationModel, BaseId, BaseTrack, CapsuleConfig, CapsuleInput, CapsuleModel, CapsuleState, MoveEvent,
    MoveVolume, MovementBase, MovementPlugin, MoverScene, MoverWorld, Shuttle, Turntable, VolumeId,
};
use rand::{Rng, SeedableRng, rngs::SmallRng, seq::SliceRandom};

/// Tick length in seconds, unless a test sets another.
pub(crate) const DT: f32 = 1.0 / 64.0;
/// Half the side length of a random room, in metres.
pub(crate) const ROOM: f32 = 11.0;
/// Height of a random room, in metres.
pub(crate) const CEILING: f32 = 9.0;

/// A collider and its transform.
#[derive(Clone)]
pub(crate) struct PlacedCollider {
    pub(crate) collider: Collider,
    pub(crate) place: Transform,
}

/// A movement base and its colliders, in its local space.
#[derive(Clone)]
pub(crate) struct MovingBase {
    pub(crate) base: MovementBase,
    pub(crate) things: Vec<PlacedCollider>,
}

/// The parts of a level.
#[derive(Clone, Default)]
pub(crate) struct Level {
    pub(crate) things: Vec<PlacedCollider>,
    pub(crate) rides: Vec<MovingBase>,
    pub(crate) volumes: Vec<(MoveVolume, PlacedCollider)>,
    /// Feet positions in free space.
    pub(crate) spots: Vec<Vec3>,
    /// Rotation of a level that was built with +Y up.
    pub(crate) turn: Quat,
}

impl Level {
    pub(crate) fn thing(mut self, collider: Collider, place: Transform) -> Self {
        self.things.push(PlacedCollider { collider, place });
        self
    }

    /// Adds a box, given by its half extents and centre.
    pub(crate) fn block(self, half: Vec3, at: Vec3) -> Self {
        self.turned_block(half, at, Quat::IDENTITY)
    }

    pub(crate) fn turned_block(self, half: Vec3, at: Vec3, turn: Quat) -> Self {
        let place = Transform::from_translation(at).with_rotation(turn);
        self.thing(Collider::cuboid(half.x, half.y, half.z), place)
    }

    /// Adds a floor of 120 m by 120 m whose top is at height 0.
    pub(crate) fn floor(self) -> Self {
        self.block(Vec3::new(60.0, 0.5, 60.0), Vec3::Y * -0.5)
    }

    pub(crate) fn ride(mut self, id: u16, track: BaseTrack, things: Vec<PlacedCollider>) -> Self {
        self.rides.push(MovingBase { base: MovementBase { id: BaseId(id), track }, things });
        self
    }

    pub(crate) fn volume(mut self, volume: MoveVolume, half: Vec3, at: Vec3) -> Self {
        let thing = PlacedCollider {
            collider: Collider::cuboid(half.x, half.y, half.z),
            place: Transform::from_translation(at),
        };
        self.volumes.push((volume, thing));
        self
    }

    pub(crate) fn spot(mut self, at: Vec3) -> Self {
        self.spots.push(at);
        self
    }

    /// Rotates the level to another up direction.
    fn turned(mut self, up: Vec3) -> Self {
        let turn = Quat::from_rotation_arc(Vec3::Y, up);
        let whole = Transform::from_rotation(turn);
        let fixed = self.things.iter_mut().chain(self.volumes.iter_mut().map(|(_, thing)| thing));
        for thing in fixed.chain(self.rides.iter_mut().flat_map(|ride| ride.things.iter_mut())) {
            thing.place = whole.mul_transform(thing.place);
        }
        for ride in &mut self.rides {
            match &mut ride.base.track {
                BaseTrack::Shuttle(shuttle) => {
                    (shuttle.from, shuttle.to) = (turn * shuttle.from, turn * shuttle.to);
                }
                BaseTrack::Turntable(table) => {
                    (table.pivot, table.axis) = (turn * table.pivot, turn * table.axis);
                }
                _ => {}
            }
        }
        for (volume, _) in &mut self.volumes {
            volume.launch = volume.launch.map(|launch| turn * launch);
        }
        for spot in &mut self.spots {
            *spot = turn * *spot;
        }
        self.turn = turn;
        self
    }

    /// Builds an app with this level in which no tick has run yet.
    pub(crate) fn app(&self, dt: f32) -> App {
        let all: Vec<usize> = (0..self.things.len() + self.rides.len() + self.volumes.len()).collect();
        self.app_in_order(dt, &all)
    }

    /// Like [`Self::app`], but spawns everything in a random order.
    pub(crate) fn shuffled_app(&self, dt: f32, seed: u64) -> App {
        let mut all: Vec<usize> = (0..self.things.len() + self.rides.len() + self.volumes.len()).collect();
        all.shuffle(&mut SmallRng::seed_from_u64(seed));
        self.app_in_order(dt, &all)
    }

    fn app_in_order(&self, dt: f32, order: &[usize]) -> App {
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
            SimulationRatePlugin(SimulationRate::from_hz(1.0 / f64::from(dt))),
            MovementPlugin,
        ))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(dt)));
        let (rides, volumes) = (self.things.len(), self.things.len() + self.rides.len());
        for &i in order {
            let world = app.world_mut();
            if let Some(thing) = self.things.get(i) {
                world.spawn((thing.collider.clone(), thing.place));
            } else if let Some(ride) = self.rides.get(i.wrapping_sub(rides)) {
                let base = world.spawn((ride.base.clone(), Transform::default())).id();
                for thing in &ride.things {
                    world.spawn((thing.collider.clone(), thing.place, ChildOf(base)));
                }
            } else if let Some((volume, thing)) = self.volumes.get(i.wrapping_sub(volumes)) {
                world.spawn((thing.collider.clone(), thing.place, *volume));
            }
        }
        MoverScene::refresh(app.world_mut());
        app
    }
}

/// Calls `f` with the mover's view of `app`.
pub(crate) fn with_world<R>(app: &mut App, f: impl FnOnce(&MoverWorld<'_, '_>) -> R) -> R {
    let mut params = SystemState::<MoverWorld<'static, 'static>>::new(app.world_mut());
    let Ok(world) = params.get(app.world()) else { panic!("the mover's world must be available") };
    f(&world)
}

/// Makes one step and drops its events.
pub(crate) fn step(
    config: &CapsuleConfig,
    state: &CapsuleState,
    input: &CapsuleInput,
    ctx: &StepContext,
    world: &MoverWorld<'_, '_>,
) -> CapsuleState {
    CapsuleModel::step(config, state, input, ctx, world, &mut Vec::new())
}

/// Steps `state` through `inputs` from tick 1 on. Returns all states, including the first, and all events.
pub(crate) fn run(
    app: &mut App,
    config: &CapsuleConfig,
    state: CapsuleState,
    inputs: impl IntoIterator<Item = CapsuleInput>,
) -> (Vec<CapsuleState>, Vec<MoveEvent>) {
    let entity = app.world_mut().spawn_empty().id();
    with_world(app, |world| {
        let (mut states, mut events) = (vec![state], Vec::new());
        for (i, input) in inputs.into_iter().enumerate() {
            let ctx = StepContext { tick: Tick(i as u32 + 1), dt: DT, entity, replaying: false };
            let last = states[states.len() - 1];
            states.push(CapsuleModel::step(config, &last, &input, &ctx, world, &mut events));
        }
        (states, events)
    })
}

pub(crate) fn last_state(states: &[CapsuleState]) -> CapsuleState {
    states[states.len() - 1]
}

/// Input with constant axes, facing -Z: `right` is towards +X, `forward` towards -Z.
pub(crate) fn axis_inputs(right: i8, forward: i8, ticks: usize) -> Vec<CapsuleInput> {
    vec![CapsuleInput { right, forward, ..default() }; ticks]
}

/// Returns a pawn at rest on the floor below `at`.
pub(crate) fn settled_pawn(app: &mut App, config: &CapsuleConfig, at: Vec3) -> CapsuleState {
    last_state(&run(app, config, CapsuleState::at(at + Vec3::Y * 0.05), axis_inputs(0, 0, 48)).0)
}

fn vector(rng: &mut SmallRng, size: f32) -> Vec3 {
    Vec3::new(rng.random_range(-size..size), rng.random_range(-size..size), rng.random_range(-size..size))
}

fn any_turn(rng: &mut SmallRng) -> Quat {
    Quat::from_scaled_axis(vector(rng, 3.0))
}

/// A bumpy triangle sheet around the origin. It has no inside and both sides block.
pub(crate) fn sheet(rng: &mut SmallRng, cells: u32, cell: f32, bump: f32) -> Collider {
    let row = cells + 1;
    let middle = cells as f32 * cell * 0.5;
    let vertices: Vec<Vec3> = (0..row * row)
        .map(|i| {
            // Random offsets make all triangles different and some of them thin.
            let (x, z) = ((i % row) as f32 * cell - middle, (i / row) as f32 * cell - middle);
            let aside = cell * 0.45;
            Vec3::new(
                x + rng.random_range(-aside..aside),
                rng.random_range(-bump..bump),
                z + rng.random_range(-aside..aside),
            )
        })
        .collect();
    let triangles: Vec<[u32; 3]> = (0..cells * cells)
        .map(|i| i / cells * row + i % cells)
        .flat_map(|i| [[i, i + row, i + 1], [i + 1, i + row, i + row + 1]])
        .collect();
    let Ok(mesh) = Collider::trimesh(vertices, triangles) else { panic!("the sheet must be a valid mesh") };
    mesh
}

/// A random height field around the origin.
pub(crate) fn hills(rng: &mut SmallRng, cells: usize, side: f32, height: f32) -> Collider {
    let heights = (0..cells * cells).map(|_| rng.random_range(0.0..height)).collect();
    Collider::heightfield(heights, cells, cells, Vec3::new(side, 1.0, side))
}

fn hull(rng: &mut SmallRng, size: f32) -> Collider {
    let half = Vec3::splat(size) * Vec3::new(1.0, rng.random_range(0.3..1.0), rng.random_range(0.3..1.0));
    let points: Vec<Vec3> =
        (0..rng.random_range(6..16)).map(|_| vector(rng, 1.0).normalize_or(Vec3::Y) * half).collect();
    Collider::convex_hull(&points).unwrap_or_else(|| Collider::cuboid(half.x, half.y, half.z))
}

/// A random collider that extends at most 1.6 m from its centre.
fn random_collider(rng: &mut SmallRng) -> Collider {
    let size = rng.random_range(0.15..1.0f32);
    let thin = rng.random_range(0.02..1.0f32);
    match rng.random_range(0..14) {
        0..=4 => Collider::cuboid(size, thin.min(1.0), rng.random_range(0.1..0.8)),
        5 | 6 => hull(rng, size + 0.3),
        7 => Collider::ball(size),
        8 => Collider::capsule_y(size * 0.7, 0.1 + thin * 0.4),
        9 => Collider::cylinder(size, 0.1 + thin * 0.7),
        10 => Collider::cone(size, 0.1 + thin * 0.7),
        11 => Collider::compound(vec![
            (Vec3::X * 0.4, any_turn(rng), Collider::cuboid(size * 0.5, thin * 0.5, 0.3)),
            (Vec3::X * -0.4, any_turn(rng), Collider::ball(size * 0.5)),
        ]),
        12 => Collider::round_cuboid(size * 0.7, thin * 0.5, 0.3, 0.1),
        _ => sheet(rng, 3, 0.6, 0.4),
    }
}

/// A closed room with random colliders. None is higher than 6 m, so the space above is free.
pub(crate) fn random_level(seed: u64) -> Level {
    let mut rng = SmallRng::seed_from_u64(seed);
    let rng = &mut rng;
    let mut level = Level::default();
    // Thick, so that a pawn that is squeezed into a wall does not pass through it.
    for side in [-1.0, 1.0] {
        level = level
            .block(Vec3::new(4.0, 30.0, 40.0), Vec3::X * side * (ROOM + 4.0))
            .block(Vec3::new(40.0, 30.0, 4.0), Vec3::Z * side * (ROOM + 4.0));
    }
    level = level
        .block(Vec3::new(40.0, 4.0, 40.0), Vec3::Y * -4.0)
        .block(Vec3::new(40.0, 4.0, 40.0), Vec3::Y * (CEILING + 4.0));
    let bump = rng.random_range(0.2..1.2);
    match rng.random_range(0..4) {
        0 => {
            let ground = hills(rng, 20, 2.0 * ROOM, bump);
            level = level.thing(ground, Transform::from_xyz(0.0, 0.3, 0.0));
        }
        1 => {
            let ground = sheet(rng, 16, 2.0 * ROOM / 16.0, bump * 0.5);
            level = level.thing(ground, Transform::from_xyz(0.0, 0.9, 0.0));
        }
        _ => {}
    }
    for _ in 0..rng.random_range(20..70) {
        let at = Vec3::new(
            rng.random_range(1.0 - ROOM..ROOM - 1.0),
            rng.random_range(-0.3..4.0),
            rng.random_range(1.0 - ROOM..ROOM - 1.0),
        );
        let turn = match rng.random_range(0..4) {
            0 => Quat::IDENTITY,
            1 => Quat::from_rotation_y(rng.random_range(0.0..6.0)),
            _ => any_turn(rng),
        };
        let collider = random_collider(rng);
        level = level.thing(collider, Transform::from_translation(at).with_rotation(turn));
    }
    // Stairs that lead up to a wall or down from it.
    let (deep, high) = (rng.random_range(0.2..0.6), rng.random_range(0.05..0.5f32));
    for i in 0..8u8 {
        let top = high * f32::from(i + 1);
        level = level.block(
            Vec3::new(deep * 0.5, top * 0.5, 1.2),
            Vec3::new(deep * (f32::from(i) - 4.0), top * 0.5, ROOM - 1.2),
        );
    }
    level = with_rides(level, rng);
    level = with_volumes(level, rng);
    for _ in 0..8 {
        let at = Vec3::new(rng.random_range(-9.0..9.0), 6.3, rng.random_range(-9.0..9.0));
        level = level.spot(at);
    }
    match rng.random_range(0..8) {
        0 => level.turned(Vec3::NEG_Y),
        1 => {
            let up = vector(rng, 1.0).normalize_or(Vec3::X);
            level.turned(up)
        }
        _ => level,
    }
}

fn with_rides(mut level: Level, rng: &mut SmallRng) -> Level {
    for id in 1..=rng.random_range(0..3u16) {
        let place = |rng: &mut SmallRng| {
            let around = rng.random_range(-7.0..7.0);
            Vec3::new(around, rng.random_range(0.3..3.0), rng.random_range(-7.0..7.0))
        };
        let slab = Collider::cuboid(rng.random_range(0.5..1.5), 0.15, rng.random_range(0.5..1.5));
        let deck = PlacedCollider { collider: slab, place: Transform::default() };
        let (track, things) = if rng.random_bool(0.5) {
            let (from, to) = (place(rng), place(rng));
            let travel_seconds = rng.random_range(2.0..6.0f32).max(from.distance(to) * 0.5);
            let shuttle = Shuttle { from, to, travel_seconds, pause_seconds: 0.5, ..default() };
            let post = PlacedCollider {
                collider: Collider::cylinder(0.6, 0.1),
                place: Transform::from_xyz(0.4, 0.6, 0.0),
            };
            (BaseTrack::Shuttle(shuttle), vec![deck, post])
        } else {
            let table = Turntable {
                pivot: place(rng),
                seconds_per_turn: rng.random_range(4.0..12.0),
                axis: if rng.random_bool(0.5) { Vec3::Y } else { Vec3::NEG_Y },
                ..default()
            };
            let arm = PlacedCollider {
                collider: Collider::cuboid(2.0, 0.2, 0.2),
                place: Transform::from_xyz(1.0, 0.8, 0.0),
            };
            (BaseTrack::Turntable(table), vec![deck, arm])
        };
        level = level.ride(id, track, things);
    }
    level
}

fn with_volumes(mut level: Level, rng: &mut SmallRng) -> Level {
    for id in 1..=rng.random_range(0..4u16) {
        let trigger = MoveVolume::trigger(VolumeId(id));
        let (volume, high) = match rng.random_range(0..4) {
            0 => (MoveVolume::water(VolumeId(id)), rng.random_range(0.5..2.0)),
            1 => {
                let aside = vector(rng, 6.0);
                (MoveVolume { launch: Some(aside.with_y(rng.random_range(3.0..14.0))), ..trigger }, 0.7)
            }
            2 => (MoveVolume { speed_factor: rng.random_range(0.2..2.0), ..trigger }, 1.0),
            _ => (MoveVolume { ignore_input: true, ..trigger }, 1.0),
        };
        let at = Vec3::new(rng.random_range(-8.0..8.0), high, rng.random_range(-8.0..8.0));
        let half = Vec3::new(rng.random_range(0.8..3.0), high, rng.random_range(0.8..3.0));
        level = level.volume(volume, half, at);
    }
    level
}

/// A preset with some random values, for `level`.
pub(crate) fn random_config(seed: u64, level: &Level) -> CapsuleConfig {
    let mut rng = SmallRng::seed_from_u64(seed ^ 0x00c0_4f16);
    let preset = match rng.random_range(0..3) {
        0 => CapsuleConfig::default(),
        1 => CapsuleConfig::quake(),
        _ => CapsuleConfig::arcade(),
    };
    CapsuleConfig {
        up: level.turn * Vec3::Y,
        step_height: rng.random_range(0.1..0.6),
        perch_radius_threshold: if rng.random_bool(0.3) { 0.15 } else { 0.0 },
        walk_off_ledges_crouched: rng.random_bool(0.5),
        turn_with_base: rng.random_bool(0.5),
        walk_off_ledges: rng.random_bool(0.8),
        ledge_threshold: rng.random_range(0.02..0.3),
        flat_base: rng.random_bool(0.3),
        impart_base_velocity: rng.random_bool(0.8),
        buoyancy: rng.random_range(0.5..1.5),
        coyote_time: if rng.random_bool(0.3) { 0.1 } else { preset.coyote_time },
        ..preset
    }
}

/// Tick length in seconds for a seed, mostly 1/64.
pub(crate) fn random_dt(seed: u64) -> f32 {
    [DT, DT, 1.0 / 30.0, 1.0 / 128.0][(seed >> 7) as usize % 4]
}

/// Returns the maximum speed on a floor.
pub(crate) fn walk_limit(
    level: &Level,
    config: &CapsuleConfig,
    input: &CapsuleInput,
    after: &CapsuleState,
) -> f32 {
    let speed = if after.crouched {
        config.crouched_speed
    } else if input.walk {
        config.slow_walk_speed
    } else if input.sprint && input.forward > 0 {
        config.sprint_speed
    } else {
        config.max_walk_speed
    };
    let inside = level.volumes.iter().find(|(volume, _)| volume.id == after.volume);
    let factor = inside.map_or(1.0, |(volume, _)| volume.speed_factor);
    let gain = match config.acceleration_model {
        AccelerationModel::Unreal => 0.0,
        // Strafing gains speed, but at most a tick of acceleration.
        AccelerationModel::Quake => config.acceleration / 30.0,
    };
    speed * factor + gain
}
