//! Measurements on one level.

use core::hint::black_box;

use super::{
    levels::Level,
    rapier_controller::{RapierController, with_rapier_controller},
    timing::{Times, race},
    unlag_mover::{Move, UnlagMover, record, with_mover},
};
use crate::prelude::*;

/// Moves per replay: the most that a client re-simulates after a correction.
const REPLAY: usize = 96;
/// Number of timed replays.
const REPLAYS: usize = 200;

/// Measurements on one level.
pub struct LevelBenchmark {
    /// Name of the level as used in JSON keys.
    pub level: &'static str,
    /// Our full step.
    pub ours: Times,
    /// Our cheap step for simulated proxies.
    pub cheap: Times,
    /// Rapier's controller.
    pub kcc: Times,
    /// Rapier's controller without the pull to the floor.
    pub kcc_without_pull: Times,
    /// Rapier's time over ours in scattered order, in which a mover cannot profit from state cached in the
    /// previous move.
    pub scattered: f64,
    /// Heap allocations per move of ours.
    pub allocations: f64,
    /// Heap allocations per move of rapier's controller.
    pub kcc_allocations: f64,
    /// Median of the microseconds of 96 consecutive moves; NaN if there was no such sequence.
    pub replay: f64,
    /// Replays whose end state differs from the recorded one in any bit.
    pub differing: usize,
}

impl LevelBenchmark {
    /// Records a walk through `level` and repeats it with both movers. `open` is an endless floor. `ours` is
    /// our step with `backend`.
    ///
    /// # Errors
    /// Returns a message if the walk fails.
    pub fn run(
        level: &Level,
        open: &UnlagMover<'_, '_, '_>,
        backend: MoverBackend,
        moves: usize,
        passes: usize,
        seed: u64,
    ) -> Result<Self, String> {
        // Two apps, because the platform stands still in rapier's.
        let (mut moving, mut still) = (level.app(true), level.app(false));
        moving.world_mut().resource_mut::<CapsuleConfig>().backend = backend;
        with_mover(&mut moving, |ours| {
            let moves = record(ours, level, moves, seed)?;
            with_rapier_controller(&mut still, |theirs| {
                Ok(Self::measure(level, &moves, passes, ours, theirs, open))
            })
        })
    }

    fn measure(
        level: &Level,
        moves: &[Move],
        passes: usize,
        ours: &UnlagMover<'_, '_, '_>,
        theirs: &RapierController<'_>,
        open: &UnlagMover<'_, '_, '_>,
    ) -> Self {
        let requests = theirs.requests(moves, open, theirs.fall());
        let unpulled = theirs.requests(moves, open, Vec3::ZERO);

        let mut events = Vec::with_capacity(64);
        let mut full = |i: usize| {
            let Move { state, input, tick, .. } = &moves[i];
            black_box(ours.step(state, input, *tick, &mut events));
        };
        let mut cheap = |i: usize| {
            black_box(ours.simplified_step(&moves[i].state, moves[i].tick));
        };
        let mut kcc = |i: usize| {
            black_box(theirs.step(&requests[i]));
        };
        let mut kcc_without_pull = |i: usize| {
            black_box(theirs.step(&unpulled[i]));
        };
        let mut times = [Times::default(); 4];
        // The allocation counter would slow down rapier's controller, which allocates.
        allocation_counter::opt_out(|| {
            times = race(moves.len(), passes, [&mut full, &mut kcc, &mut kcc_without_pull, &mut cheap]);
        });
        // A prime that does not divide the number of moves: visits every move once, far from the previous
        // one.
        let far = |i: usize| i * 7_919 % moves.len();
        let mut scattered = [Times::default(); 2];
        allocation_counter::opt_out(|| {
            let rivals: [&mut dyn FnMut(usize); 2] = [&mut |i| full(far(i)), &mut |i| kcc(far(i))];
            scattered = race(moves.len(), passes.min(3), rivals);
        });
        let our_allocations = allocations(moves.len(), &mut full);
        let kcc_allocations = allocations(moves.len(), &mut kcc);
        let (replay, differing) = replays(moves, ours);
        Self {
            level: level.name,
            ours: times[0],
            kcc: times[1],
            kcc_without_pull: times[2],
            cheap: times[3],
            scattered: scattered[1].total / scattered[0].total,
            allocations: our_allocations,
            kcc_allocations,
            replay,
            differing,
        }
    }
}

/// Returns the average heap allocations per move. The race has warmed up all movers.
fn allocations(moves: usize, rival: &mut dyn FnMut(usize)) -> f64 {
    let counted = allocation_counter::measure(|| (0..moves).for_each(rival));
    counted.count_total as f64 / moves.max(1) as f64
}

/// Times sequences of moves, each starting from the end state of the previous one, and compares the end state
/// with the record.
fn replays(moves: &[Move], ours: &UnlagMover<'_, '_, '_>) -> (f64, usize) {
    let mut events = Vec::with_capacity(64);
    let (mut times, mut differing) = (Vec::with_capacity(REPLAYS), 0);
    let last = moves.len().saturating_sub(REPLAY + 1);
    for i in 0..REPLAYS {
        let first = i * last / REPLAYS;
        let Some([window @ .., end]) = moves.get(first..=first + REPLAY) else { continue };
        let mut state = window[0].state;
        // Moves in the air over a platform are missing from the record.
        if end.tick != Tick(window[0].tick.0 + REPLAY as u32) {
            continue;
        }
        let start = Instant::now();
        for m in window {
            state = black_box(ours.step(&state, &m.input, m.tick, &mut events));
        }
        times.push(micros(start));
        differing += usize::from(state != end.state);
    }
    (median(&mut times), differing)
}
