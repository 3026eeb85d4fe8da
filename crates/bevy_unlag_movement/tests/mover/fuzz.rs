//! Fuzz tests of the mover: random moves in random rooms and in small pathological levels. The [`oracle`]
//! checks every move with parry's own queries.
//!
//! `PROPTEST_RNG_SEED=<n>` selects other rooms, `PROPTEST_CASES=<n>` sets their number. A failure names the
//! seed of its room and the tick.

pub(crate) mod levels;
pub(crate) mod oracle;
pub(crate) mod pathological_levels;
pub(crate) mod script;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, StepContext, Tick};
use bevy_unlag_movement::{CapsuleConfig, CapsuleModel, CapsuleState, MovementMode, MoverWorld};
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{RngSeed, TestRunner},
};

use levels::{Level, random_config, random_dt, random_level, with_world};
use oracle::{Move, MoveChecker};
use script::{Chunk, PlannedMove, chunk, planned};

/// Rooms per run.
const CASES: u32 = 40;
/// Moves per room: 100,000 in all.
const MOVES: usize = 2_500;
/// Default seed of the rooms, constant so that failures are reproducible.
const SEED: u64 = 2_026;

/// Makes `moves` from a free place of a level and checks each of them.
fn check_run(
    level: &Level,
    config: &CapsuleConfig,
    dt: f32,
    start: CapsuleState,
    moves: &[PlannedMove],
    room: bool,
) -> Result<Summary, String> {
    let mut app = level.app(dt);
    let entity = app.world_mut().spawn_empty().id();
    with_world(&mut app, |world| {
        let mut checker = MoveChecker::new(level, config);
        checker.room = room;
        if !checker.is_free(&start) {
            return Err(format!("the start is not free: {}", start.position));
        }
        check_moves(&mut checker, config, dt, entity, start, moves, world)
    })
}

/// Statistics of a run.
struct Summary {
    checked_moves: usize,
    /// Moves per mode: walking, falling, swimming, flying.
    modes: [usize; 4],
}

fn check_moves(
    checker: &mut MoveChecker<'_>,
    config: &CapsuleConfig,
    dt: f32,
    entity: Entity,
    start: CapsuleState,
    moves: &[PlannedMove],
    world: &MoverWorld<'_, '_>,
) -> Result<Summary, String> {
    let mut state = start;
    let mut events = Vec::new();
    let mut modes = [0; 4];
    for (i, planned) in moves.iter().enumerate() {
        planned.apply(&mut state, |place| checker.is_free(place));
        let ctx = StepContext { tick: Tick(i as u32 + 1), dt, entity, replaying: false };
        events.clear();
        let after = CapsuleModel::step(config, &state, &planned.input, &ctx, world, &mut events);
        let made = Move { before: &state, after: &after, input: &planned.input, ctx: &ctx, events: &events };
        checker.check(&made).map_err(|why| {
            let input = planned.input;
            format!("tick {}: the pawn {why}\nfrom {state:?}\nto {after:?}\nby {input:?}: {events:?}", i + 1)
        })?;
        state = after;
        modes[match state.mode {
            MovementMode::Walking => 0,
            MovementMode::Swimming => 2,
            MovementMode::Flying => 3,
            _ => 1,
        }] += 1;
    }
    Ok(Summary { checked_moves: checker.checked_moves, modes })
}

fn start_in(level: &Level, config: &CapsuleConfig) -> Option<CapsuleState> {
    let checker = MoveChecker::new(level, config);
    let at = |spot: &Vec3| CapsuleState { up: config.up.normalize(), ..CapsuleState::at(*spot) };
    level.spots.iter().map(at).find(|state| checker.is_free(state))
}

#[test]
fn random_moves_never_penetrate_tunnel_or_gain_energy() {
    let defaults = ProptestConfig::default();
    let rng_seed = match defaults.rng_seed {
        RngSeed::Random => RngSeed::Fixed(SEED),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { defaults.cases } else { CASES };
    let config =
        ProptestConfig { cases, rng_seed, failure_persistence: None, max_shrink_iters: 24, ..defaults };
    let mut runner = TestRunner::new(config);
    let strategy = (any::<u64>().no_shrink(), vec(chunk(), 100));
    let totals = core::cell::RefCell::new((0usize, [0usize; 4]));
    let outcome = runner.run(&strategy, |(seed, chunks): (u64, Vec<Chunk>)| {
        let level = random_level(seed);
        let config = random_config(seed, &level);
        let Some(start) = start_in(&level, &config) else {
            return Err(TestCaseError::reject("no free place to start"));
        };
        let moves = planned(&chunks, &level, MOVES);
        let summary = check_run(&level, &config, random_dt(seed), start, &moves, true)
            .map_err(|why| TestCaseError::fail(format!("room {seed}: {why}")))?;
        let mut totals = totals.borrow_mut();
        totals.0 += summary.checked_moves;
        for (total, ticks) in totals.1.iter_mut().zip(summary.modes) {
            *total += ticks;
        }
        Ok(())
    });
    if let Err(why) = outcome {
        panic!("{why}");
    }
    // A move that is not checked cannot fail: most moves must be checked, in every mode.
    let (checked_moves, modes) = totals.into_inner();
    let made = cases as usize * MOVES;
    assert!(
        checked_moves * 3 > made * 2,
        "only {checked_moves} of {made} moves were far enough from platforms to be checked"
    );
    if cases >= CASES {
        let often = modes.iter().all(|ticks| *ticks * 1_000 > made);
        assert!(often, "too few moves in a mode (walking, falling, swimming, flying): {modes:?}");
    }
}

#[test]
fn random_moves_in_pathological_levels_never_penetrate_or_tunnel() {
    for (name, nasty) in pathological_levels::all() {
        for seed in 0..3 {
            let moves = nasty.moves(seed, 700);
            match check_run(&nasty.level, &nasty.config, levels::DT, nasty.start, &moves, nasty.room) {
                Ok(summary) => {
                    assert!(summary.checked_moves * 4 > moves.len(), "{name}: too few were checked");
                }
                Err(why) => panic!("{name}, seed {seed}: {why}"),
            }
        }
    }
}

#[test]
fn nearly_flat_floors_do_not_slow_a_run_or_make_it_airborne() {
    for (name, nasty) in pathological_levels::all() {
        let Some(metres) = nasty.min_run_distance else { continue };
        let mut app = nasty.level.app(levels::DT);
        let start = levels::settled_pawn(&mut app, &nasty.config, nasty.start.position);
        let (states, events) =
            levels::run(&mut app, &nasty.config, start, levels::axis_inputs(127, 0, 64 * 3));
        let way = levels::last_state(&states).position.x - start.position.x;
        assert!(way > metres, "{name}: ran only {way} m in 3 s, {events:?}");
        let airborne = states.iter().position(|state| !state.is_grounded());
        assert_eq!(airborne, None, "{name}: left the ground, {events:?}");
    }
}
