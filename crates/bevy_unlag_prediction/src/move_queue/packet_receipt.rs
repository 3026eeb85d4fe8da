//! Receipt of a packet of moves: its epoch, its place in time, and the order of its moves.

use bevy_unlag_core::{MoveModel, SnapshotAck, SnapshotAcks, Tick};

use super::{MoveQueue, QueuedMove};
use crate::{
    cause::CorrectionCause,
    config::{PredictionConfig, ticks},
    packet::MovePacket,
    time_discrepancy::TimeDiscrepancy,
};

impl<M: MoveModel> MoveQueue<M> {
    /// Reads a packet. Returns whether this detects that the client's clock is too fast.
    pub(crate) fn receive_packet(
        &mut self,
        packet: &MovePacket<M::Input>,
        (now, at): (Tick, f64),
        hitching: bool,
        dt: f32,
        config: &PredictionConfig,
        account: &mut TimeDiscrepancy,
        acks: &mut SnapshotAcks,
    ) -> bool {
        let newest = packet.newest_tick(now);
        let lag = now.since(newest);
        let ours = Some(packet.epoch) == self.clock.epoch;
        let mut too_fast = false;
        if ours && lag < -Self::MAX_LEAD {
            // Too far ahead: the client's clock claims this time, and the disagreement that follows is due
            // to it.
            too_fast = self.claim(newest, dt, config, account);
            self.note_incident(CorrectionCause::ClientClock, now);
        }
        // Packets in flight from the epoch of a previous pawn may have the same number.
        let stray = self.awaiting_first_move && self.began.is_newer_than(newest);
        if self.awaiting_first_move && (!ours || stray) {
            // The owner does not know this epoch yet, which is no reason to count a refusal.
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
        self.offered = false;
        self.clock.loss.record(packet.sequence);
        let last_received_snapshot = packet.last_received_snapshot(now);
        acks.record(SnapshotAck { own: newest, arrived: now, last_received_snapshot }, self.clock.timeline);
        let continues = self.first.is_some();
        if core::mem::take(&mut self.awaiting_first_move) && !continues {
            account.start_epoch();
            // All moves without a gap before the newest. The bound is what a client can gain by a false start.
            let known = packet.runs.iter().fold(0, |known, run| {
                if run.age == known { known.saturating_add(run.length) } else { known }
            });
            self.clock.next = Some(newest.offset(1 - i32::from(known.clamp(1, Self::MAX_FIRST_MOVES))));
            self.clock.delay = lag;
        }
        if self.clock.newest.is_none_or(|known| newest.is_newer_than(known)) {
            too_fast = self.claim(newest, dt, config, account);
            self.clock.newest = Some(newest);
            self.lag = lag.clamp(-512, 511) as i16;
            self.arrival_lag = Some(lag).filter(|_| !hitching);
        }
        for run in &packet.runs {
            for older in 0..run.length {
                let age = i32::from(run.age) + i32::from(older);
                let check = (age == 0).then_some(packet.check);
                let tick = newest.offset(-age);
                let (arrived_at, arrived_tick) = (at, now);
                let queued = QueuedMove {
                    tick,
                    input: run.input,
                    check,
                    arrived_at,
                    arrived_tick,
                    last_received_snapshot,
                };
                self.insert_move(queued, hitching);
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
        let passed = self.clock.claimed.map_or(0, |known| newest.since(known)).max(0);
        if passed > 0 || self.clock.claimed.is_none() {
            self.clock.claimed = Some(newest);
        }
        account.claim(f64::from(passed) * f64::from(dt), &config.time)
    }

    fn insert_move(&mut self, queued: QueuedMove<M::Input>, hitching: bool) {
        self.moves_read += 1;
        let Some(next) = self.clock.next else { return };
        if next.is_newer_than(queued.tick) || self.moves_read > Self::MAX_MOVES_READ {
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
                // A move that is repeated because its first packet was lost is late, too: a newer one has
                // arrived before it.
                let late = queued.arrived_tick.since(queued.tick);
                let again = self.newest_before.is_some_and(|newest| newest.is_newer_than(queued.tick));
                // After an outage it is later than any delay would cover.
                if again && !hitching && late <= self.clock.delay + Self::EARLY_TICKS {
                    self.clock.lateness.record(late);
                }
                self.moves.insert(index, queued);
            }
            None => {}
        }
    }
}
