//! Move queue of a pawn on the server: order and due times of its owner's moves.

mod packet_receipt;
mod transfer;

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, Tick};

use crate::{
    cause::CorrectionCause,
    config::ticks,
    lateness::Lateness,
    packet_loss::{LossLevel, LossMeter},
    run_record::RunRecord,
    state_check::StateCheck,
};

#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedMove<I> {
    pub(crate) tick: Tick,
    pub(crate) input: I,
    pub(crate) check: Option<StateCheck>,
    pub(crate) arrived_at: f64,
    pub(crate) arrived_tick: Tick,
    /// Newest snapshot message that the owner had received when it wrote the packet that first brought this
    /// move.
    pub(crate) last_received_snapshot: Option<Tick>,
}

/// Queue of received moves that have not run yet, and the state of their acknowledgement.
///
/// Each move is due a fixed number of ticks after its own tick, so that uplink jitter does not make the
/// pawn stutter for other players. The delay follows the lateness of the moves; see
/// [`max_buffer`](crate::config::PredictionConfig::max_buffer).
#[doc(alias = "jitter buffer")]
#[doc(alias = "input buffer")]
#[derive(Component, Debug, Reflect)]
#[reflect(Component, Default, type_path = false)]
pub struct MoveQueue<M: MoveModel> {
    pub(crate) clock: MoveClock,
    /// First move of the owner after a transfer of control to this pawn: earlier moves have neutral input.
    first: Option<Tick>,
    /// Neutral input with which the owner's moves after a transfer begin while it has not learnt of it.
    #[reflect(ignore)]
    unclaimed: Option<M::Input>,
    /// First move that belongs to another pawn, after a transfer of control from this one.
    end: Option<Tick>,
    /// Whether the owner learns of its control by [`ControlOffer`](crate::ControlOffer)s, until its first move.
    pub(crate) offered: bool,
    // Inputs and states of a model need not be reflected.
    #[reflect(ignore)]
    moves: VecDeque<QueuedMove<M::Input>>,
    /// Whether the owner has not started the epoch yet. Meanwhile the rest of the previous epoch runs, so
    /// that no client can stop its pawn in the air by a restart.
    awaiting_first_move: bool,
    /// Server tick at which this epoch started: no move of it is older.
    began: Tick,
    /// Newest received move at the start of this tick.
    newest_before: Option<Tick>,
    /// Lateness in ticks of the newest move if it arrived in this tick.
    arrival_lag: Option<i32>,
    lowered: Option<Tick>,
    refused: u32,
    /// Moves read from packets in this tick.
    moves_read: usize,
    #[reflect(ignore)]
    pub(crate) last_input: M::Input,
    /// Number of consecutive missing moves for which the pawn was extrapolated.
    pub(crate) extrapolated_moves: u32,
    /// Arrival of the last move that was run, in seconds; `None` if it never arrived.
    pub(crate) arrived_at: Option<f64>,
    pub(crate) lag: i16,
    /// State after the last move. If the pawn's state differs, something else has moved it.
    #[reflect(ignore)]
    pub(crate) expected_state: Option<M::State>,
    /// Cause of the correction in progress, if any.
    pub(crate) pending_correction: Option<CorrectionCause>,
    /// Error of the correction in metres; infinite if unknown.
    pub(crate) error: f32,
    /// Newest moves whose fine and whose coarse check agreed since the last disagreement.
    pub(crate) agreed: [Option<Tick>; 2],
    /// Likely cause of the next disagreement, and the tick at which it occurred.
    #[reflect(ignore)]
    last_incident: Option<(CorrectionCause, Tick)>,
    pub(crate) outcomes: u64,
    /// Moves that ran in this tick before the last one, and the states after them.
    #[reflect(ignore)]
    pub(crate) caught_up: Vec<(Tick, M::State)>,
    /// Moves of this epoch that ran with the owner's input.
    #[reflect(ignore)]
    pub(crate) ran: RunRecord,
    /// The same of the previous epoch.
    #[reflect(ignore)]
    pub(crate) ran_before: RunRecord,
    pub(crate) sequence: u8,
    pub(crate) ack_pending: bool,
    pub(crate) since_ack: u32,
}

impl<M: MoveModel> Default for MoveQueue<M> {
    fn default() -> Self {
        Self {
            clock: MoveClock::default(),
            first: None,
            unclaimed: None,
            end: None,
            offered: false,
            moves: VecDeque::new(),
            awaiting_first_move: true,
            began: Tick::default(),
            newest_before: None,
            arrival_lag: None,
            lowered: None,
            refused: 0,
            moves_read: 0,
            last_input: M::Input::default(),
            extrapolated_moves: 0,
            arrived_at: None,
            lag: 0,
            expected_state: None,
            // The owner receives its initial state as a correction.
            pending_correction: Some(CorrectionCause::InitialState),
            error: f32::INFINITY,
            agreed: [None; 2],
            last_incident: None,
            outcomes: 0,
            caught_up: Vec::new(),
            ran: RunRecord::default(),
            ran_before: RunRecord::default(),
            sequence: 0,
            ack_pending: true,
            since_ack: u32::MAX,
        }
    }
}

/// Treatment of the next move.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DueMove<I> {
    /// Run this move.
    Move(QueuedMove<I>),
    /// The move is missing and the server waits no longer. Whether later moves are queued.
    Missing { later: bool },
    /// The owner did not control the pawn yet: run it with neutral input.
    Neutral,
    /// Nothing is due.
    Nothing,
}

impl<M: MoveModel> MoveQueue<M> {
    /// Maximum number of ticks by which a move may be ahead of the server's tick.
    const MAX_LEAD: i32 = 64;
    /// Maximum number of queued moves.
    const CAPACITY: usize = 512;
    /// Maximum number of moves read from packets per tick: those of a three-second stall at the highest
    /// loss level, which sends each move eleven times.
    const MAX_MOVES_READ: usize = 2_048;
    /// If all recent moves arrive at least this many ticks before they are due, a stall has ended or the
    /// client's clock is fast, and the delay is lowered at once.
    const EARLY_TICKS: i32 = 8;
    /// Maximum number of moves of the first packet of an epoch that run.
    const MAX_FIRST_MOVES: u16 = 16;
    /// Maximum number of moves in a client's frame that is not a hitch, at eight frames per second.
    const MAX_FRAME_MOVES: i32 = 8;
    /// The delay is lowered only if it is at least this many ticks too long: it would alternate between two
    /// neighbouring values, and every change is visible.
    const LOWER_THRESHOLD: i32 = 2;
    /// Minimum number of ticks between two gradual reductions of the delay.
    const LOWER_EVERY: i32 = 64;
    /// Maximum number of consecutive packets refused for their epoch or tick before the server starts a new
    /// epoch.
    const MAX_REFUSED: u32 = 32;
    /// Seconds for which a suspected cause explains a disagreement.
    const INCIDENT_SECONDS: f32 = 1.0;

    /// Returns the newest move that was run.
    #[must_use]
    pub fn last_run(&self) -> Option<Tick> {
        self.clock.next.map(|next| next.offset(-1))
    }

    /// Returns whether the owner has not started the epoch yet.
    pub(crate) fn awaits_first_move(&self) -> bool {
        self.awaiting_first_move
    }

    /// Returns the newest move that was run in the owner's current epoch.
    pub(crate) fn last_run_in_epoch(&self) -> Option<Tick> {
        self.last_run().filter(|_| !self.awaiting_first_move)
    }

    /// Returns the newest received move.
    #[must_use]
    pub fn newest(&self) -> Option<Tick> {
        self.clock.newest
    }

    /// Returns the first tick at which a push may be scheduled now: one that neither side has simulated, if
    /// the owner receives the push `lead` ticks after its newest move.
    pub(crate) fn next_push(&self, lead: i32) -> Option<Tick> {
        let next = self.clock.next?;
        let furthest = self.clock.newest.map_or(next, |newest| newest.offset(lead));
        Some(if next.is_newer_than(furthest) { next } else { furthest })
    }

    /// Returns the ticks from a move's own tick to the server tick in which it is due: uplink latency,
    /// jitter and the offset of the two clocks.
    #[must_use]
    pub fn delay(&self) -> i32 {
        self.clock.delay
    }

    /// Returns the number of received moves that have not run yet.
    #[must_use]
    pub fn queued_moves(&self) -> usize {
        self.moves.len()
    }

    /// Returns the share of packets lost on the uplink, 0 to 1, or `None` before it is known.
    #[must_use]
    pub fn loss(&self) -> Option<f32> {
        self.clock.loss.share()
    }

    pub(crate) fn loss_level(&self) -> LossLevel {
        self.clock.loss.level()
    }

    /// Returns how many moves that directly follow the last one run are queued, at most 15.
    pub(crate) fn consecutive_queued_moves(&self) -> u8 {
        let Some(next) = self.clock.next else { return 0 };
        let row = (0..15).zip(&self.moves).take_while(|(i, queued)| queued.tick == next.offset(*i));
        row.count() as u8
    }

    /// Starts a new epoch: the owner restarts its tick count at the server's tick.
    pub(crate) fn restart(&mut self, now: Tick) {
        // A new pawn of the same player must not start with the epoch of the previous one.
        let epoch = self.clock.epoch.map_or(now.0 as u8, |epoch| epoch + 1) & 7;
        (self.clock.epoch, self.clock.timeline) = (Some(epoch), epoch);
        self.first = None;
        self.unclaimed = None;
        self.moves.clear();
        self.awaiting_first_move = true;
        self.began = now;
        self.clock.newest = None;
        self.newest_before = None;
        self.clock.claimed = None;
        self.clock.lateness.forget();
        self.refused = 0;
        // An epoch that the owner never started leaves the end of the one before in place.
        if !self.ran.is_empty() {
            self.ran_before = core::mem::take(&mut self.ran);
        }
        self.pending_correction = Some(CorrectionCause::InitialState);
        self.since_ack = u32::MAX;
    }

    /// Starts an independent epoch for an owner that does not know the previous one, after another client
    /// has taken over the pawn or a match has restarted. Received moves of the old epoch never run, and
    /// those in flight are refused. The pawn is extrapolated until the owner's first move, and the owner is
    /// sent the pawn's state at once.
    pub fn start_new_epoch(&mut self, now: Tick) {
        self.restart(now);
        self.extrapolated_moves = 0;
        self.last_input = M::missing_input(&self.last_input, false);
    }

    /// Starts a correction of the owner, by `error` metres; infinite if unknown.
    pub(crate) fn start_correction(&mut self, cause: CorrectionCause, error: f32) {
        self.pending_correction = Some(cause);
        self.error = error;
        self.agreed = [None; 2];
    }

    /// Notes an incident of which the owner may not know, as the likely cause of a disagreement.
    pub(crate) fn note_incident(&mut self, cause: CorrectionCause, now: Tick) {
        self.last_incident = Some((cause, now));
    }

    /// Returns the cause of a disagreement: the last incident if it is recent.
    pub(crate) fn likely_cause(&self, now: Tick, dt: f32) -> CorrectionCause {
        let lasts = ticks(Self::INCIDENT_SECONDS, dt);
        let fresh = self.last_incident.filter(|(_, at)| now.since(*at) <= lasts);
        fresh.map_or(CorrectionCause::Unknown, |(cause, _)| cause)
    }

    /// Updates the delay from the lateness of the moves, with at most `max_buffer` ticks of buffer. Runs once
    /// per tick, before any move. `early_by_speed`: whether slow motion or a pause of the game, and not the
    /// link, may have made moves early. The delay is not lowered at once then.
    pub(crate) fn update_delay(&mut self, now: Tick, max_buffer: i32, early_by_speed: bool) {
        self.moves_read = 0;
        if let Some((lag, newest)) = self.arrival_lag.take().zip(self.clock.newest) {
            // All moves of a client's slow frame arrive at once, each one tick later than the next. The
            // moves of a hitch are not counted.
            let moves = self.newest_before.map_or(1, |before| newest.since(before));
            (0..moves.clamp(1, Self::MAX_FRAME_MOVES))
                .rev()
                .for_each(|earlier| self.clock.lateness.record(lag + earlier));
        }
        self.newest_before = self.clock.newest;
        let Some((least, target)) = self.clock.lateness.targets(max_buffer.min(256)) else { return };
        let early = self
            .clock
            .lateness
            .latest_of_recent()
            .filter(|latest| !early_by_speed && latest + Self::EARLY_TICKS <= self.clock.delay);
        if least > self.clock.delay {
            self.clock.delay = target;
            self.lowered = Some(now);
        } else if let Some(latest) = early {
            self.clock.delay = latest;
            self.clock.lateness.forget_all_but_recent();
            self.lowered = Some(now);
        } else if target + Self::LOWER_THRESHOLD <= self.clock.delay
            && self.lowered.is_none_or(|at| now.since(at) >= Self::LOWER_EVERY)
        {
            self.clock.delay -= 1;
            self.lowered = Some(now);
        }
    }

    /// Returns by how many ticks the next move is overdue: 0 if it is due, negative if it is early. Returns
    /// `None` before the first packet.
    pub(crate) fn ticks_overdue(&self, now: Tick) -> Option<i32> {
        Some(now.since(self.clock.next?) - self.clock.delay)
    }

    /// Returns what to do about the next move, and advances past it unless nothing is due.
    /// `missing_move_timeout` is in ticks.
    pub(crate) fn next_move(&mut self, now: Tick, missing_move_timeout: i32) -> DueMove<M::Input> {
        let Some((next, ticks_overdue)) = self.clock.next.zip(self.ticks_overdue(now)) else {
            return DueMove::Nothing;
        };
        let over = self.end.is_some_and(|end| !end.is_newer_than(next));
        if ticks_overdue < 0 || over {
            return DueMove::Nothing;
        }
        if self.first.is_some_and(|first| first.is_newer_than(next)) {
            self.clock.next = Some(next.offset(1));
            return DueMove::Neutral;
        }
        if let Some(queued) = self.moves.pop_front_if(|queued| queued.tick == next) {
            self.clock.next = Some(next.offset(1));
            return DueMove::Move(queued);
        }
        if ticks_overdue <= missing_move_timeout {
            return DueMove::Nothing;
        }
        self.clock.next = Some(next.offset(1));
        DueMove::Missing { later: !self.moves.is_empty() }
    }

    /// Skips `count` moves without running them, at the end of a very long silence.
    pub(crate) fn skip_moves(&mut self, count: i32) {
        self.clock.next = self.clock.next.map(|next| next.offset(count));
        self.outcomes = 0;
        if let Some(next) = self.clock.next {
            self.moves.retain(|queued| !next.is_newer_than(queued.tick));
        }
    }
}

/// Clock of an owner's moves on the server: the next move, and when it is due.
#[derive(Clone, Debug, Default, Reflect)]
pub(crate) struct MoveClock {
    /// Epoch of the owner's tick count; `None` before its first packet.
    pub(crate) epoch: Option<u8>,
    /// Epoch in which the owner last started its tick count: a transfer of control continues the count.
    timeline: u8,
    /// Next move to run; `None` before the first packet.
    pub(crate) next: Option<Tick>,
    /// Newest received move.
    pub(crate) newest: Option<Tick>,
    /// Newest move tick that the client has claimed, even if the packet was refused.
    claimed: Option<Tick>,
    /// Ticks from a move's own tick to the server tick in which it is due.
    delay: i32,
    // The meters are buffers.
    #[reflect(ignore)]
    lateness: Lateness,
    #[reflect(ignore)]
    loss: LossMeter,
}
