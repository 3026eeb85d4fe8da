//! The owner's time line on the server: which move is due when, and what is there of it.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{Heard, HeardPacket, MoveModel, Tick};

use crate::{
    CorrectionCause, LossLevel, MovePacket, PredictionConfig, StateCheck, TimeDiscrepancy, config::ticks,
    lateness::Lateness, loss::LossMeter,
};

#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedMove<I> {
    pub(crate) tick: Tick,
    pub(crate) input: I,
    pub(crate) check: Option<StateCheck>,
    pub(crate) arrived_at: f64,
    pub(crate) arrived_tick: Tick,
    /// What its owner had heard of when it wrote the packet that first brought the move here.
    pub(crate) heard: Option<Tick>,
}

/// The moves that have arrived and not been run, and what the owner is to be told.
///
/// Every move is due a fixed number of ticks after its own, so that a jittery way up does not make
/// the pawn stutter for everyone else. That number is found from how late moves arrive; see
/// [`PredictionConfig::max_buffer`].
#[derive(Component, Debug)]
pub struct MoveQueue<M: MoveModel> {
    /// Names the time line; none before the owner's first word of it.
    pub(crate) epoch: Option<u8>,
    moves: VecDeque<QueuedMove<M::Input>>,
    /// Whether the owner has not begun the time line yet. What is left of another one runs out
    /// meanwhile: nobody hangs in the air by starting afresh.
    awaiting: bool,
    /// When this time line began: no move of it is older.
    began: Tick,
    /// The next move to be run; none before the first packet of all.
    next: Option<Tick>,
    /// The newest move heard of, and the newest one heard of before this tick.
    newest: Option<Tick>,
    newest_before: Option<Tick>,
    /// How late the newest one was that this tick has heard of first, if any.
    heard: Option<i32>,
    /// The newest move that the client's clock has named, heard of or refused.
    clock: Option<Tick>,
    /// A move is due when the server's tick is this much later than its own.
    delay: i32,
    lateness: Lateness,
    lowered: Option<Tick>,
    loss: LossMeter,
    refused: u32,
    /// Moves taken out of packets in this tick.
    offered: usize,
    pub(crate) last_input: M::Input,
    /// Moves in a row that the pawn was carried on without.
    pub(crate) carried: u32,
    /// When the last move that was run arrived, seconds; none if it never did.
    pub(crate) arrived_at: Option<f64>,
    pub(crate) lag: i16,
    /// The state as the last move left it: when the pawn's is another, somebody else moved it.
    pub(crate) left_as: Option<M::State>,
    /// Why the owner is not where the server has it.
    pub(crate) adjusting: Option<CorrectionCause>,
    /// How far off it was, in metres, when that could be told.
    pub(crate) error: f32,
    /// The newest moves whose fine and whose coarse check agreed, since the last one that did not.
    pub(crate) agreed: [Option<Tick>; 2],
    /// What may be to blame for the next difference.
    suspect: Option<(CorrectionCause, Tick)>,
    pub(crate) outcomes: u64,
    pub(crate) sequence: u8,
    pub(crate) unanswered: bool,
    pub(crate) since_answer: u32,
}

impl<M: MoveModel> Default for MoveQueue<M> {
    fn default() -> Self {
        Self {
            epoch: None,
            moves: VecDeque::new(),
            awaiting: true,
            began: Tick::default(),
            next: None,
            newest: None,
            newest_before: None,
            heard: None,
            clock: None,
            delay: 0,
            lateness: Lateness::default(),
            lowered: None,
            loss: LossMeter::default(),
            refused: 0,
            offered: 0,
            last_input: M::Input::default(),
            carried: 0,
            arrived_at: None,
            lag: 0,
            left_as: None,
            // The owner learns its first state from an adjustment.
            adjusting: Some(CorrectionCause::Start),
            error: f32::INFINITY,
            agreed: [None; 2],
            suspect: None,
            outcomes: 0,
            sequence: 0,
            unanswered: true,
            since_answer: u32::MAX,
        }
    }
}

/// What a tick finds at the place of the next move.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due<I> {
    /// A move that is there.
    Move(QueuedMove<I>),
    /// None, and it has been waited for long enough. Whether later ones are there.
    Missing { later: bool },
    /// Nothing to do.
    Nothing,
}

impl<M: MoveModel> MoveQueue<M> {
    /// How far ahead of the server's own tick a move may be.
    const MAX_LEAD: i32 = 64;
    /// How many moves may wait.
    const CAPACITY: usize = 512;
    /// How many moves are taken out of packets in a tick: those of a stall of three seconds on the
    /// worst of links, where every move comes eleven times.
    const MAX_OFFERED: usize = 2_048;
    /// When everything arrives this many ticks before it is due, it is not jitter but the end of a
    /// stall or a fast clock, and the time line is moved at once.
    const EARLY: i32 = 8;
    /// The most moves that a frame of the client has without being a hitch: eight frames a second.
    const FRAME: i32 = 8;
    /// The time line is moved towards less delay only when there are so many ticks to be won: between
    /// two neighbouring ticks it would waver, and every change shows.
    const SLACK: i32 = 2;
    /// Ticks between two steps of the time line towards less delay.
    const LOWER_EVERY: i32 = 64;
    /// So many packets in a row from another time line, and the server starts afresh.
    const MAX_REFUSED: u32 = 32;
    /// How long something is to blame for a difference, in ticks.
    const SUSPECT_TICKS: i32 = 64;

    /// The newest move that was run.
    #[must_use]
    pub fn last_run(&self) -> Option<Tick> {
        self.next.map(|next| next.offset(-1))
    }

    /// Whether the owner has not begun the time line yet.
    pub(crate) fn is_awaiting(&self) -> bool {
        self.awaiting
    }

    /// The newest move that was run of the owner's present time line.
    pub(crate) fn settled(&self) -> Option<Tick> {
        self.last_run().filter(|_| !self.awaiting)
    }

    /// The newest move heard of.
    #[must_use]
    pub fn newest(&self) -> Option<Tick> {
        self.newest
    }

    /// The first tick that a push of now can happen in: one that neither side has made, if the owner
    /// hears of it `lead` ticks after it made its newest move.
    pub(crate) fn next_push(&self, lead: i32) -> Option<Tick> {
        let next = self.next?;
        let heard = self.newest.map_or(next, |newest| newest.offset(lead));
        Some(if next.is_newer_than(heard) { next } else { heard })
    }

    /// How many ticks after its own a move is due here: the way up, jitter and the difference of
    /// the two clocks.
    #[must_use]
    pub fn delay(&self) -> i32 {
        self.delay
    }

    /// How many moves are there and not run yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.moves.len()
    }

    /// The share of packets that are lost on the way up, 0 to 1; `None` before it is known.
    #[must_use]
    pub fn loss(&self) -> Option<f32> {
        self.loss.share()
    }

    pub(crate) fn loss_level(&self) -> LossLevel {
        self.loss.level()
    }

    /// How many moves right after the last run are there.
    pub(crate) fn waiting_in_row(&self) -> u8 {
        let Some(next) = self.next else { return 0 };
        let row = (0..15).zip(&self.moves).take_while(|(i, queued)| queued.tick == next.offset(*i));
        row.count() as u8
    }

    /// Forgets the old time line: the owner begins anew at the server's tick.
    pub(crate) fn restart(&mut self, now: Tick) {
        // Another pawn of the same player should not begin where the last one did.
        self.epoch = Some(self.epoch.map_or(now.0 as u8, |epoch| epoch + 1) & 7);
        self.moves.clear();
        self.awaiting = true;
        self.began = now;
        self.newest = None;
        self.newest_before = None;
        self.clock = None;
        self.lateness.forget();
        self.refused = 0;
        self.adjusting = Some(CorrectionCause::Start);
        self.since_answer = u32::MAX;
    }

    /// Begins a time line of its own for an owner that knows nothing of the one before: another client has the pawn
    /// now, or a match begins anew. What arrived of the old one is never run, and what is still under way is
    /// refused. The pawn is carried on until the owner's first move, and the owner is told where it is at once.
    pub fn begin_anew(&mut self, now: Tick) {
        self.restart(now);
        self.carried = 0;
        self.last_input = M::unattended(&self.last_input, false);
    }

    /// The owner is not where the server has it, by `error` metres if that can be told.
    pub(crate) fn disagree(&mut self, cause: CorrectionCause, error: f32) {
        self.adjusting = Some(cause);
        self.error = error;
        self.agreed = [None; 2];
    }

    /// Something happened that the owner may not know of.
    pub(crate) fn suspect(&mut self, cause: CorrectionCause, now: Tick) {
        self.suspect = Some((cause, now));
    }

    /// What the owner cannot know of, if anything.
    pub(crate) fn blame(&self, now: Tick) -> CorrectionCause {
        let fresh = self.suspect.filter(|(_, at)| now.since(*at) <= Self::SUSPECT_TICKS);
        fresh.map_or(CorrectionCause::Unknown, |(cause, _)| cause)
    }

    /// Takes a packet in. Says whether the client's clock has run too fast.
    pub(crate) fn hear(
        &mut self,
        packet: &MovePacket<M::Input>,
        (now, at): (Tick, f64),
        hitching: bool,
        dt: f32,
        config: &PredictionConfig,
        account: &mut TimeDiscrepancy,
        told: &mut Heard,
    ) -> bool {
        let newest = packet.newest_tick(now);
        let lag = now.since(newest);
        let ours = Some(packet.epoch) == self.epoch;
        let mut too_fast = false;
        if ours && lag < -Self::MAX_LEAD {
            // Far ahead: its clock says so, and what it misses by that is its clock's doing.
            too_fast = self.claim(newest, dt, config, account);
            self.suspect(CorrectionCause::Clock, now);
        }
        // What is under way of an old pawn's time line may have this one's number.
        let stray = self.awaiting && self.began.is_newer_than(newest);
        if self.awaiting && (!ours || stray) {
            // The owner has not heard of it yet: nothing to be refused for.
            return false;
        }
        if !ours || !(-Self::MAX_LEAD..=ticks(config.max_lag, dt)).contains(&lag) {
            self.refused += 1;
            if self.refused > Self::MAX_REFUSED {
                self.restart(now);
            }
            return too_fast;
        }
        self.refused = 0;
        self.loss.take(packet.sequence);
        let heard = packet.heard_tick(now);
        told.take(HeardPacket { own: newest, arrived: now, heard }, packet.epoch);
        if self.awaiting {
            self.awaiting = false;
            account.begin();
            let first = packet.runs.first().map_or(0, |run| i32::from(run.length.min(16)) - 1);
            self.next = Some(newest.offset(-first));
            self.delay = lag;
        }
        if self.newest.is_none_or(|known| newest.is_newer_than(known)) {
            too_fast = self.claim(newest, dt, config, account);
            self.newest = Some(newest);
            self.lag = lag.clamp(-512, 511) as i16;
            self.heard = Some(lag).filter(|_| !hitching);
        }
        for run in &packet.runs {
            for older in 0..run.length {
                let age = i32::from(run.age) + i32::from(older);
                let check = (age == 0).then_some(packet.check);
                let tick = newest.offset(-age);
                let (arrived_at, arrived_tick) = (at, now);
                let queued = QueuedMove { tick, input: run.input, check, arrived_at, arrived_tick, heard };
                self.offer(queued, hitching);
            }
        }
        too_fast
    }

    fn claim(
        &mut self,
        newest: Tick,
        dt: f32,
        config: &PredictionConfig,
        account: &mut TimeDiscrepancy,
    ) -> bool {
        let passed = self.clock.map_or(0, |known| newest.since(known)).max(0);
        if passed > 0 || self.clock.is_none() {
            self.clock = Some(newest);
        }
        account.claim(f64::from(passed) * f64::from(dt), &config.time)
    }

    fn offer(&mut self, queued: QueuedMove<M::Input>, hitching: bool) {
        self.offered += 1;
        let Some(next) = self.next else { return };
        if next.is_newer_than(queued.tick) || self.offered > Self::MAX_OFFERED {
            return;
        }
        let index = match self.moves.back() {
            Some(last) if !queued.tick.is_newer_than(last.tick) => {
                self.moves.partition_point(|m| queued.tick.is_newer_than(m.tick))
            }
            _ => self.moves.len(),
        };
        let room = self.moves.len() < Self::CAPACITY;
        match self.moves.get_mut(index).filter(|known| known.tick == queued.tick) {
            Some(known) => known.check = known.check.or(queued.check),
            None if room => {
                // What comes again because its first packet was lost is late, too: a newer one was
                // here before.
                let late = queued.arrived_tick.since(queued.tick);
                let again = self.newest_before.is_some_and(|newest| newest.is_newer_than(queued.tick));
                // After an outage it is later than anything could be held back for.
                if again && !hitching && late <= self.delay + Self::EARLY {
                    self.lateness.take(late);
                }
                self.moves.insert(index, queued);
            }
            None => {}
        }
    }

    /// Finds when moves are due from how late they arrive. Once a tick, before anything is run.
    pub(crate) fn keep_time(&mut self, now: Tick, config: &PredictionConfig) {
        self.offered = 0;
        if let Some((lag, newest)) = self.heard.take().zip(self.newest) {
            // All moves of a slow frame of the client arrive at once, each a tick later than the
            // next. Those of a hitch teach nothing.
            let moves = self.newest_before.map_or(1, |before| newest.since(before));
            (0..moves.clamp(1, Self::FRAME)).rev().for_each(|earlier| self.lateness.take(lag + earlier));
        }
        self.newest_before = self.newest;
        let most = config.max_buffer.min(256).cast_signed();
        let Some((least, target)) = self.lateness.targets(most) else { return };
        let early = self.lateness.latest_of_recent().filter(|latest| latest + Self::EARLY <= self.delay);
        if least > self.delay {
            self.delay = target;
            self.lowered = Some(now);
        } else if let Some(latest) = early {
            self.delay = latest;
            self.lateness.forget_all_but_recent();
            self.lowered = Some(now);
        } else if target + Self::SLACK <= self.delay
            && self.lowered.is_none_or(|at| now.since(at) >= Self::LOWER_EVERY)
        {
            self.delay -= 1;
            self.lowered = Some(now);
        }
    }

    /// How many ticks the next move is behind its due time; 0 is due, negative is early. `None`
    /// before the first packet.
    pub(crate) fn behind(&self, now: Tick) -> Option<i32> {
        Some(now.since(self.next?) - self.delay)
    }

    /// What is to be done about the next move, if it is due. `patience` in ticks.
    pub(crate) fn due(&mut self, now: Tick, patience: i32) -> Due<M::Input> {
        let Some((next, behind)) = self.next.zip(self.behind(now)) else { return Due::Nothing };
        if behind < 0 {
            return Due::Nothing;
        }
        if let Some(queued) = self.moves.pop_front_if(|queued| queued.tick == next) {
            self.next = Some(next.offset(1));
            return Due::Move(queued);
        }
        if behind <= patience {
            return Due::Nothing;
        }
        self.next = Some(next.offset(1));
        Due::Missing { later: !self.moves.is_empty() }
    }

    /// Leaves out `count` moves that nobody will make up for: the end of a very long silence.
    pub(crate) fn leap(&mut self, count: i32) {
        self.next = self.next.map(|next| next.offset(count));
        self.outcomes = 0;
        if let Some(next) = self.next {
            self.moves.retain(|queued| !next.is_newer_than(queued.tick));
        }
    }
}
