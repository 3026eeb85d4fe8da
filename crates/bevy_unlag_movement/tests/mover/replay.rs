//! Determinism: equal arguments give equal bits, whatever was stepped before, in which order, thread or
//! app.

use bevy::{ecs::system::SystemState, prelude::*};
use bevy_rapier3d::prelude::{Collider, RigidBody, Sensor};
use bevy_unlag_core::{BitReader, BitWriter, StepContext, Tick, Wire};
use bevy_unlag_movement::{CapsuleConfig, CapsuleInput, CapsuleState, MoverScene, MoverWorld};
use rand::{Rng, SeedableRng, rngs::SmallRng, seq::SliceRandom};

use crate::fuzz::{
    levels::{Level, random_config, random_dt, random_level, step, with_world},
    oracle::MoveChecker,
    script::{PlannedMove, random_moves},
};

/// Seeds of the rooms that are replayed.
const SEEDS: [u64; 4] = [3, 41, 1_202, 77_777];
/// Moves per room.
const MOVES: usize = 1_500;

/// Returns all bits of a state: its wire encoding, and every float again, because the encoding omits values
/// at rest.
pub(crate) fn bits(state: &CapsuleState) -> Vec<u8> {
    let mut w = BitWriter::default();
    state.write(&mut w);
    for vector in [state.position, state.velocity, state.up, state.base_position, state.base_velocity] {
        vector.write(&mut w);
    }
    for timer in [state.air_seconds, state.jump_hold, state.jump_buffer] {
        w.f32(timer);
    }
    w.finish()
}

/// One recorded move.
#[derive(Clone, Copy)]
struct RecordedMove {
    planned: PlannedMove,
    before: CapsuleState,
    after: CapsuleState,
}

struct Recording {
    seed: u64,
    level: Level,
    config: CapsuleConfig,
    dt: f32,
    moves: Vec<RecordedMove>,
}

impl Recording {
    fn ctx(&self, i: usize, entity: Entity) -> StepContext {
        StepContext { tick: Tick(i as u32 + 1), dt: self.dt, entity, replaying: false }
    }

    fn step(
        &self,
        i: usize,
        before: &CapsuleState,
        entity: Entity,
        world: &MoverWorld<'_, '_>,
    ) -> CapsuleState {
        step(&self.config, before, &self.moves[i].planned.input, &self.ctx(i, entity), world)
    }

    /// Fails if a replayed step differs from the recorded one.
    fn assert_same_step(&self, i: usize, again: &CapsuleState, what: &str) {
        let made = &self.moves[i];
        assert!(
            bits(&made.after) == bits(again) && made.after == *again,
            "{what}: room {}, tick {}: {:?}\ninstead of {:?}\nfrom {:?}",
            self.seed,
            i + 1,
            again,
            made.after,
            made.before,
        );
    }

    /// Replays `count` moves from `from` on, including the recorded changes from outside.
    fn assert_replay(
        &self,
        from: usize,
        count: usize,
        entity: Entity,
        world: &MoverWorld<'_, '_>,
        what: &str,
    ) {
        let mut state = self.moves[from].before;
        for i in from..(from + count).min(self.moves.len()) {
            if i > from && self.moves[i].before != self.moves[i - 1].after {
                state = self.moves[i].before;
            }
            state = self.step(i, &state, entity, world);
            self.assert_same_step(i, &state, what);
        }
    }
}

fn record(seed: u64) -> Recording {
    let level = random_level(seed);
    let config = random_config(seed, &level);
    let dt = random_dt(seed);
    let planned = random_moves(seed, &level, MOVES);
    let checker = MoveChecker::new(&level, &config);
    let up = config.up.normalize();
    let mut starts = level.spots.iter().map(|spot| CapsuleState { up, ..CapsuleState::at(*spot) });
    let Some(mut state) = starts.find(|state| checker.is_free(state)) else {
        panic!("room {seed} has no free spawn place")
    };
    let mut app = level.app(dt);
    let entity = app.world_mut().spawn_empty().id();
    let moves = with_world(&mut app, |world| {
        let made = planned.into_iter().enumerate().map(|(i, planned)| {
            planned.apply(&mut state, |place| checker.is_free(place));
            let before = state;
            let ctx = StepContext { tick: Tick(i as u32 + 1), dt, entity, replaying: false };
            state = step(&config, &before, &planned.input, &ctx, world);
            RecordedMove { planned, before, after: state }
        });
        made.collect()
    });
    drop(checker);
    Recording { seed, level, config, dt, moves }
}

/// Returns two entities that collide in a table of 256 entries.
fn entities_sharing_a_slot(app: &mut App) -> [Entity; 2] {
    let all: Vec<Entity> = (0..257).map(|_| app.world_mut().spawn_empty().id()).collect();
    [all[0], all[256]]
}

#[test]
fn replay_from_any_state_gives_identical_bits() {
    for recording in SEEDS.map(record) {
        let mut app = recording.level.app(recording.dt);
        let entity = app.world_mut().spawn_empty().id();
        with_world(&mut app, |world| {
            for from in (0..MOVES).step_by(250) {
                recording.assert_replay(from, 500, entity, world, "a replay");
            }
        });
    }
}

#[test]
fn app_with_another_spawn_order_gives_identical_bits() {
    for recording in SEEDS.map(record) {
        for order in [1, 2] {
            let mut app = recording.level.shuffled_app(recording.dt, order);
            let entity = app.world_mut().spawn_empty().id();
            with_world(&mut app, |world| {
                recording.assert_replay(0, MOVES, entity, world, "another spawn order");
            });
        }
    }
}

#[test]
fn physics_steps_before_and_between_do_not_change_a_replay() {
    for recording in SEEDS.map(record) {
        let mut app = recording.level.app(recording.dt);
        let entity = app.world_mut().spawn_empty().id();
        for _ in 0..5 {
            app.update();
        }
        with_world(&mut app, |world| recording.assert_replay(0, MOVES, entity, world, "after physics"));
        // Physics also runs between the steps.
        let mut params = SystemState::<MoverWorld<'static, 'static>>::new(app.world_mut());
        for i in 0..MOVES {
            if i % 10 == 0 {
                app.update();
            }
            let Ok(world) = params.get(app.world()) else { panic!("the mover's world must be available") };
            let again = recording.step(i, &recording.moves[i].before, entity, &world);
            recording.assert_same_step(i, &again, "between physics");
        }
    }
}

/// Spawns a collider that must not affect the pawn.
fn spawn_distraction(rng: &mut SmallRng, near: Vec3, world: &mut World) -> Entity {
    let aside =
        Vec3::new(rng.random_range(-2.0..2.0), rng.random_range(-1.0..2.0), rng.random_range(-2.0..2.0));
    let collider = Collider::cuboid(rng.random_range(0.1..1.0), 0.5, 0.5);
    let here = Transform::from_translation(near + aside);
    match rng.random_range(0..5) {
        0 => world.spawn((collider, Transform::from_translation(near * 3.0 + Vec3::X * 500.0))).id(),
        1 => world.spawn((collider, here, Sensor)).id(),
        2 => world.spawn((collider, here, RigidBody::Dynamic)).id(),
        3 => world.spawn((collider, here, RigidBody::KinematicPositionBased)).id(),
        _ => {
            let parent = world.spawn((Transform::default(), RigidBody::KinematicVelocityBased)).id();
            world.spawn((collider, here, ChildOf(parent)));
            parent
        }
    }
}

#[test]
fn unrelated_colliders_that_spawn_and_despawn_do_not_change_a_replay() {
    for recording in SEEDS.map(record) {
        let mut rng = SmallRng::seed_from_u64(recording.seed);
        let mut app = recording.level.app(recording.dt);
        let entity = app.world_mut().spawn_empty().id();
        let mut params = SystemState::<MoverWorld<'static, 'static>>::new(app.world_mut());
        let mut others = Vec::new();
        let mut counts = Vec::new();
        for i in 0..MOVES {
            let before = recording.moves[i].before;
            if i % 3 == 0 {
                others.push(spawn_distraction(&mut rng, before.position, app.world_mut()));
                if others.len() > 12 {
                    let at = rng.random_range(0..others.len());
                    app.world_mut().entity_mut(others.swap_remove(at)).despawn();
                }
                if i % 2 == 0 {
                    app.update();
                } else {
                    MoverScene::refresh(app.world_mut());
                }
                counts.push(app.world().resource::<MoverScene>().counts()[0]);
            }
            let Ok(world) = params.get(app.world()) else { panic!("the mover's world must be available") };
            let again = recording.step(i, &before, entity, &world);
            recording.assert_same_step(i, &again, "with other colliders about");
        }
        counts.dedup();
        assert!(counts.len() > 10, "room {}: the colliders never changed: {counts:?}", recording.seed);
    }
}

#[test]
fn interleaved_steps_of_other_pawns_do_not_change_a_replay() {
    let recordings = SEEDS.map(record);
    for recording in &recordings {
        let mut app = recording.level.app(recording.dt);
        let [own, other] = entities_sharing_a_slot(&mut app);
        with_world(&mut app, |world| {
            for i in 0..MOVES {
                // A step of another pawn in the same table entry, and one of the pawn itself elsewhere,
                // with another radius, mask and tick length.
                let j = (i * 7 + 31) % MOVES;
                recording.step(j, &recording.moves[j].before, other, world);
                let elsewhere = &recording.moves[(i * 13 + 5) % MOVES];
                let config = CapsuleConfig { blocked_by: 1, radius: 0.2, ..recording.config.clone() };
                let ctx = StepContext { dt: recording.dt * 0.5, ..recording.ctx(j, own) };
                step(&config, &elsewhere.before, &elsewhere.planned.input, &ctx, world);
                let again = recording.step(i, &recording.moves[i].before, own, world);
                recording.assert_same_step(i, &again, "between other pawns");
            }
        });
    }
}

#[test]
fn steps_in_random_order_give_identical_bits() {
    for recording in SEEDS.map(record) {
        let mut order: Vec<usize> = (0..MOVES).collect();
        order.shuffle(&mut SmallRng::seed_from_u64(recording.seed));
        let mut app = recording.level.app(recording.dt);
        let [first, second] = entities_sharing_a_slot(&mut app);
        with_world(&mut app, |world| {
            for i in order {
                let entity = if i % 3 == 0 { second } else { first };
                let again = recording.step(i, &recording.moves[i].before, entity, world);
                recording.assert_same_step(i, &again, "in random order");
            }
        });
    }
}

#[test]
fn replays_in_several_threads_give_identical_bits() {
    for recording in SEEDS.map(record) {
        let recording = &recording;
        let mut app = recording.level.app(recording.dt);
        let entities = [app.world_mut().spawn_empty().id(), app.world_mut().spawn_empty().id()];
        with_world(&mut app, |world| {
            std::thread::scope(|scope| {
                for entity in entities {
                    scope
                        .spawn(move || recording.assert_replay(0, MOVES, entity, world, "in another thread"));
                }
                recording.assert_replay(0, MOVES, entities[0], world, "beside other threads");
            });
        });
    }
}

#[test]
fn state_and_input_from_the_wire_step_to_identical_bits() {
    for recording in SEEDS.map(record) {
        let mut app = recording.level.app(recording.dt);
        let entity = app.world_mut().spawn_empty().id();
        with_world(&mut app, |world| {
            for i in 0..MOVES {
                let mut w = BitWriter::default();
                recording.moves[i].before.write(&mut w);
                recording.moves[i].planned.input.write(&mut w);
                let bytes = w.finish();
                let mut r = BitReader::new(&bytes);
                let (Ok(state), Ok(input)) = (CapsuleState::read(&mut r), CapsuleInput::read(&mut r)) else {
                    let before = recording.moves[i].before;
                    panic!("room {}, tick {}: the wire format rejected {before:?}", recording.seed, i + 1)
                };
                let again = step(&recording.config, &state, &input, &recording.ctx(i, entity), world);
                recording.assert_same_step(i, &again, "over the wire");
            }
        });
    }
}

#[test]
fn partial_steps_for_drawing_do_not_change_a_replay() {
    for recording in SEEDS.map(record) {
        let mut app = recording.level.app(recording.dt);
        let entity = app.world_mut().spawn_empty().id();
        with_world(&mut app, |world| {
            let mut state = recording.moves[0].before;
            for i in 0..MOVES {
                if i > 0 && recording.moves[i].before != recording.moves[i - 1].after {
                    state = recording.moves[i].before;
                }
                for part in [0.1, 0.5, 0.93] {
                    let ctx = StepContext { dt: recording.dt * part, ..recording.ctx(i, entity) };
                    step(&recording.config, &state, &recording.moves[i].planned.input, &ctx, world);
                }
                state = recording.step(i, &state, entity, world);
                recording.assert_same_step(i, &state, "between draws");
            }
        });
    }
}
