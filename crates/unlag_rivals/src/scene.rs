//! Scene of the rollback benchmark: a room with boxes, in which characters walk and turn.

use core::{f32::consts::TAU, time::Duration};

use bevy::{
    ecs::{query::QueryFilter, schedule::SingleThreadedExecutor},
    prelude::*,
    state::app::StatesPlugin,
    time::TimeUpdateStrategy,
};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{CurrentTick, MoveModel, StepContext, Tick};
use bevy_unlag_movement::{
    CapsuleConfig, CapsuleInput, CapsuleModel, CapsuleState, MovementPlugin, MoverWorld,
};
use lightyear::prelude::Rollback;
use serde::{Deserialize, Serialize};

/// Duration of a tick and of a frame: 64 Hz.
pub const TICK: Duration = Duration::from_nanos(15_625_000);

/// Half the side of the room in metres.
const ROOM: f32 = 16.0;
/// Number of boxes.
const BOXES: u32 = 100;
/// Ticks for which a character keeps its turn rate.
const LEG: u32 = 48;

/// Index of a character.
#[derive(Component, Serialize, Deserialize, Clone, Copy, PartialEq, Debug)]
pub struct Walker(pub u16);

/// Mixes two numbers into 32 pseudo-random bits.
fn hash(a: u32, b: u32) -> u32 {
    let mut x = a.wrapping_mul(0x9E37_79B9) ^ b.wrapping_mul(0x85EB_CA6B) ^ 0xC2B2_AE35;
    for _ in 0..2 {
        x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
        x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
    }
    x ^ (x >> 16)
}

/// Returns a number from 0 to 1 that depends on the arguments only.
fn dice(a: u32, b: u32) -> f32 {
    (hash(a, b) >> 8) as f32 / (1u32 << 24) as f32
}

/// Returns a character's input at a tick. All sides compute the inputs of all characters, so that only the
/// server's changes cause mispredictions.
pub fn input(walker: Walker, tick: Tick) -> CapsuleInput {
    let (leg, into) = (tick.0 / LEG, tick.0 % LEG);
    let id = u32::from(walker.0);
    let turn = hash(id, leg.wrapping_mul(2)) % 401;
    let yaw = hash(id, leg.wrapping_mul(2).wrapping_add(1)).wrapping_add(turn * into);
    CapsuleInput { forward: 127, yaw: yaw as u16, ..default() }
}

/// Returns the initial state of a character, in a square grid.
pub fn start(walker: Walker) -> CapsuleState {
    let along = |i: u16| (f32::from(i) - 3.5) * 3.5;
    CapsuleState::at(Vec3::new(along(walker.0 % 8), 2.5, along(walker.0 / 8)))
}

/// Creates an app with the empty scene. Call [`finish_plugins`] once it has all its plugins.
pub fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin, MovementPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
        .init_resource::<RollbackSteps>();
    app.world_mut().spawn_batch(level());
    app
}

/// Finishes the plugins, as a runner would do.
pub fn finish_plugins(app: &mut App) {
    app.finish();
    app.cleanup();
}

/// Finishes the plugins and makes all schedules single-threaded.
pub fn finish_single_threaded(app: &mut App) {
    finish_plugins(app);
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
}

/// Returns the states of characters.
pub fn states(app: &App, characters: &[Entity]) -> Vec<CapsuleState> {
    characters.iter().filter_map(|character| app.world().get(*character).copied()).collect()
}

/// Moves a character to another position.
pub fn shove(app: &mut App, character: Entity, to: Vec3) {
    if let Some(mut state) = app.world_mut().get_mut::<CapsuleState>(character) {
        state.position = to;
    }
}

fn level() -> Vec<(Collider, Transform)> {
    let wall = |x: f32, z: f32| Vec3::new(x * (ROOM + 0.5), 3.0, z * (ROOM + 0.5));
    let mut level = vec![
        (Collider::cuboid(ROOM + 2.0, 0.5, ROOM + 2.0), Transform::from_xyz(0.0, -0.5, 0.0)),
        (Collider::cuboid(0.5, 3.0, ROOM), Transform::from_translation(wall(1.0, 0.0))),
        (Collider::cuboid(0.5, 3.0, ROOM), Transform::from_translation(wall(-1.0, 0.0))),
        (Collider::cuboid(ROOM, 3.0, 0.5), Transform::from_translation(wall(0.0, 1.0))),
        (Collider::cuboid(ROOM, 3.0, 0.5), Transform::from_translation(wall(0.0, -1.0))),
    ];
    level.extend((0..BOXES).map(|i| {
        let roll = |what: u32| dice(i, 1_000 + what);
        // Two in five are low enough to step on.
        let height = if i % 5 < 2 { 0.15 } else { 0.9 };
        let half = Vec3::new(0.1 + 0.9 * roll(0), 0.05 + height * roll(1), 0.1 + 0.9 * roll(2));
        let at = Vec3::new((roll(3) * 2.0 - 1.0) * ROOM, half.y, (roll(4) * 2.0 - 1.0) * ROOM);
        let turn = if i % 2 == 0 { roll(5) * TAU } else { 0.0 };
        let place = Transform::from_translation(at).with_rotation(Quat::from_rotation_y(turn));
        (Collider::cuboid(half.x, half.y, half.z), place)
    }));
    level
}

/// Number of steps of [`step_walkers`] during lightyear's rollbacks.
#[derive(Resource, Default)]
pub struct RollbackSteps(pub u64);

/// Steps every walker that matches the filter `F`.
pub fn step_walkers<F: QueryFilter>(
    config: Res<CapsuleConfig>,
    fixed: Res<Time<Fixed>>,
    tick: Res<CurrentTick>,
    world: MoverWorld,
    rollback: Option<Res<Rollback>>,
    mut again: ResMut<RollbackSteps>,
    mut walkers: Query<(Entity, &Walker, &mut CapsuleState), F>,
) {
    let mut events = Vec::new();
    let replaying = rollback.is_some();
    let mut made = 0;
    for (entity, walker, mut state) in &mut walkers {
        let ctx = StepContext { tick: tick.0, dt: fixed.timestep().as_secs_f32(), entity, replaying };
        *state = CapsuleModel::step(&config, &state, &input(*walker, tick.0), &ctx, &world, &mut events);
        events.clear();
        made += 1;
    }
    if replaying {
        again.0 += made;
    }
}
