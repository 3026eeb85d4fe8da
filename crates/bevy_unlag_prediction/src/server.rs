//! The authority's side: run every move once, in order, inside a time budget; compare; answer.

use std::collections::VecDeque;

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::{
    BitReader, BitWriter, CurrentTick, LocalControl, MoveInput, MoveModel, NetRole, StepContext, StepEvent,
    Tick, Wire,
};

use crate::{
    IncomingMoves, MovePacket, MoveTrace, OutgoingAnswers, PredictionConfig, PredictionStats, SavedMoves,
    ServerAnswer, StateCheck,
};

#[derive(Clone, Copy, Debug)]
struct QueuedMove<I> {
    tick: Tick,
    input: I,
    check: Option<StateCheck>,
    arrived_at: f64,
    arrived_tick: Tick,
}

/// The moves that have arrived and not been run, and what the owner is to be told.
///
/// The queue is also a small input buffer: one move is run a tick, so that a jittery uplink does
/// not make the pawn stutter for everyone else. Its depth finds itself: a tick that finds the
/// queue empty leaves the next arrivals one deeper, and a depth that was never needed for a second
/// is given back.
#[derive(Component, Debug)]
pub struct MoveQueue<M: MoveModel> {
    moves: VecDeque<QueuedMove<M::Input>>,
    last_run: Option<Tick>,
    last_arrived_at: f64,
    credit: f32,
    /// The least that was left in the queue after a tick's run, in the current window.
    least_left: usize,
    window: u32,
    /// The state as the last move left it: when the pawn's is another, somebody else moved it.
    left_as: Option<M::State>,
    adjusting: bool,
    unanswered: bool,
    ticks_since_answer: u32,
}

impl<M: MoveModel> Default for MoveQueue<M> {
    fn default() -> Self {
        Self {
            moves: VecDeque::new(),
            last_run: None,
            last_arrived_at: 0.0,
            credit: 8.0,
            least_left: usize::MAX,
            window: 0,
            left_as: None,
            // The owner learns its first state from an adjustment.
            adjusting: true,
            unanswered: true,
            ticks_since_answer: u32::MAX,
        }
    }
}

impl<M: MoveModel> MoveQueue<M> {
    /// How far ahead of the last run move a tick may lie, and how many moves may wait.
    const WINDOW: i32 = 256;
    /// A backlog beyond this is not jitter but the end of an outage, and is run at once.
    const BACKLOG: usize = 16;
    /// How many moves are left waiting where a backlog is cleared, for the sake of jitter.
    const MARGIN: usize = 2;
    const DEPTH_WINDOW: u32 = 64;

    /// The newest move that was run.
    #[must_use]
    pub fn last_run(&self) -> Option<Tick> {
        self.last_run
    }

    fn offer(&mut self, queued: QueuedMove<M::Input>) {
        if let Some(last) = self.last_run {
            let ahead = queued.tick.since(last);
            if ahead <= 0 {
                return;
            }
            if ahead > Self::WINDOW {
                // A silence longer than anything that could still be made up: start afresh.
                self.moves.clear();
                self.last_run = Some(queued.tick.offset(-1));
                self.adjusting = true;
            }
        }
        let index = self.moves.partition_point(|m| queued.tick.is_newer_than(m.tick));
        let room = self.moves.len() < Self::WINDOW as usize;
        match self.moves.get_mut(index).filter(|known| known.tick == queued.tick) {
            Some(known) => known.check = known.check.or(queued.check),
            None if room => self.moves.insert(index, queued),
            None => {}
        }
    }

    /// How many moves to run this tick.
    fn due(&mut self, config: &PredictionConfig) -> usize {
        self.credit = (self.credit + 1.0 + config.clock_drift).min(config.max_credit);
        let waiting = self.moves.len();
        let mut due = if waiting > Self::BACKLOG { waiting - Self::MARGIN } else { waiting.min(1) };
        self.least_left = self.least_left.min(waiting - due);
        self.window += 1;
        if self.window >= Self::DEPTH_WINDOW {
            if self.least_left > 0 && waiting > due {
                due += 1;
            }
            self.window = 0;
            self.least_left = usize::MAX;
        }
        let due = due.min(self.credit.max(0.0) as usize);
        // What the credit does not cover must not pile up into latency: the owner is corrected
        // instead.
        if self.moves.len() - due > Self::BACKLOG {
            self.moves.drain(..self.moves.len() - due - Self::MARGIN);
        }
        due
    }
}

/// Decodes what arrived.
pub(crate) fn receive_moves<M: MoveModel>(
    real: Res<Time<Real>>,
    tick: Res<CurrentTick>,
    mut pawns: Query<(&mut IncomingMoves, &mut MoveQueue<M>, &mut PredictionStats)>,
) {
    let now = real.elapsed_secs_f64();
    for (mut incoming, mut queue, mut stats) in &mut pawns {
        for bytes in incoming.drain() {
            stats.move_bytes += bytes.len() as u64;
            let Ok(packet) = MovePacket::<M::Input>::read(&mut BitReader::new(&bytes)) else {
                stats.malformed += 1;
                continue;
            };
            for (age, input) in packet.inputs.into_iter().enumerate() {
                let check = (age == 0).then_some(packet.check);
                queue.offer(QueuedMove {
                    tick: packet.newest.offset(-(age as i32)),
                    input,
                    check,
                    arrived_at: now,
                    arrived_tick: tick.0,
                });
            }
        }
    }
}

/// Runs what is due of what arrived.
pub(crate) fn run_moves<M: MoveModel>(
    config: Res<PredictionConfig>,
    model: Res<M::Config>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<M::World>,
    mut pawns: Query<(
        Entity,
        &mut M::State,
        &mut MoveQueue<M>,
        &mut PredictionStats,
        Option<&mut MoveTrace>,
    )>,
    mut happened: MessageWriter<StepEvent<M>>,
) {
    for (entity, mut state, mut queue, mut stats, mut trace) in &mut pawns {
        if queue.left_as.is_some_and(|left| left != *state) {
            queue.adjusting = true;
        }
        for _ in 0..queue.due(&config) {
            let Some(due) = queue.moves.pop_front() else { break };
            queue.credit -= 1.0;
            if queue.last_run.is_some_and(|last| due.tick.since(last) > 1) {
                // Moves that never arrived: the owner made them, so it is somewhere else.
                queue.adjusting = true;
            }
            let ctx = StepContext { tick: due.tick, dt: fixed.timestep().as_secs_f32(), entity };
            let waited = tick.0.since(due.arrived_tick).max(0).cast_unsigned();
            let mut events = Vec::new();
            *state = M::step(&model, &state, &due.input, &ctx, &world, &mut events);
            happened.write_batch(events.into_iter().map(|event| StepEvent {
                entity,
                tick: due.tick,
                state: *state,
                waited,
                event,
            }));
            if let Some(trace) = &mut trace {
                trace.0.push((due.tick, M::position(&state)));
            }
            stats.moves += 1;
            if let Some(check) = due.check {
                queue.adjusting = check.distance(StateCheck::of::<M>(&state)) > config.tolerance;
            }
            queue.last_run = Some(due.tick);
            queue.last_arrived_at = due.arrived_at;
            queue.unanswered = true;
        }
        queue.left_as = Some(*state);
    }
}

/// Mails an answer when there is something to say.
pub(crate) fn answer<M: MoveModel>(
    config: Res<PredictionConfig>,
    tick: Res<CurrentTick>,
    real: Res<Time<Real>>,
    mut pawns: Query<(&M::State, &mut MoveQueue<M>, &mut OutgoingAnswers, &mut PredictionStats)>,
) {
    for (state, mut queue, mut outgoing, mut stats) in &mut pawns {
        queue.ticks_since_answer = queue.ticks_since_answer.saturating_add(1);
        if queue.ticks_since_answer < config.answer_interval || !(queue.unanswered || queue.adjusting) {
            continue;
        }
        let held = (real.elapsed_secs_f64() - queue.last_arrived_at).clamp(0.0, 1.0);
        let answer = ServerAnswer {
            tick: queue.last_run,
            now: queue.last_run.is_none().then_some(tick.0),
            held: core::time::Duration::from_secs_f64(held),
            adjustment: queue.adjusting.then_some(*state),
        };
        let mut w = BitWriter::default();
        answer.write(&mut w);
        let bytes = w.finish();
        stats.answer_bytes += bytes.len() as u64;
        stats.answers += 1;
        outgoing.0.push(bytes);
        queue.ticks_since_answer = 0;
        queue.unanswered = false;
    }
}

/// The host of a listen server steers its own pawn: it is the authority, so a step is final.
pub(crate) fn step_host<M: MoveModel>(
    model: Res<M::Config>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<M::World>,
    mut pawns: Query<
        (Entity, &NetRole, &mut M::State, &MoveInput<M>),
        (With<LocalControl>, Without<SavedMoves<M>>),
    >,
    mut happened: MessageWriter<StepEvent<M>>,
) {
    for (entity, role, mut state, input) in &mut pawns {
        if *role == NetRole::Authority {
            let ctx = StepContext { tick: tick.0, dt: fixed.timestep().as_secs_f32(), entity };
            let mut events = Vec::new();
            *state = M::step(&model, &state, &input.0, &ctx, &world, &mut events);
            happened.write_batch(events.into_iter().map(|event| StepEvent {
                entity,
                tick: tick.0,
                state: *state,
                waited: 0,
                event,
            }));
        }
    }
}

/// Puts the pawn's own [`Transform`] where its state says.
pub(crate) fn place_roots<M: MoveModel>(mut pawns: Query<(&M::State, &mut Transform), Changed<M::State>>) {
    for (state, mut transform) in &mut pawns {
        transform.translation = M::position(state);
    }
}
