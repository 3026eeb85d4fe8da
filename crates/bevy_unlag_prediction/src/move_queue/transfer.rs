//! Transfers of control: the first and the last move of an owner that has changed its pawn.

use bevy_unlag_core::{MoveModel, Tick, Wire};

use super::{MoveClock, MoveQueue};
use crate::packet::packet_epoch;

impl<M: MoveModel> MoveQueue<M> {
    /// Returns whether a packet is about the pawn that the owner controls before or after this one: its moves
    /// may be of another model.
    pub(crate) fn belongs_to_other_pawn(&self, packet: &[u8]) -> bool {
        let Some((own, epoch)) = self.clock.epoch.zip(packet_epoch(packet)) else { return false };
        self.first.is_some() && (epoch + 1) & 7 == own || self.end.is_some() && epoch == (own + 1) & 7
    }

    /// Returns whether the owner's first own move after a transfer of control may follow this one, which has run
    /// with `input`. A client that learns late of its control starts with neutral moves.
    pub(crate) fn may_take_over_after(&mut self, tick: Tick, input: &M::Input) -> bool {
        let Some((first, neutral)) = self.first.zip(self.unclaimed.as_ref()) else { return false };
        if first.is_newer_than(tick) {
            return first == tick.offset(1);
        }
        let is_neutral = input.to_bytes() == neutral.to_bytes();
        if !is_neutral {
            self.unclaimed = None;
        }
        is_neutral
    }

    /// Returns the first move of the owner after a transfer of control, and the last move that has run, in an
    /// epoch that began with a transfer.
    pub(crate) fn transfer(&self) -> Option<(Tick, Tick)> {
        self.first.zip(self.last_run())
    }

    /// Returns the clock of the owner's moves, with which another pawn continues; `None` before its first move.
    pub(crate) fn move_clock(&self) -> Option<MoveClock> {
        let is_known = self.clock.epoch.is_some() && self.clock.next.is_some() && !self.awaiting_first_move;
        is_known.then(|| self.clock.clone())
    }

    /// Creates the queue of a pawn whose owner continues the tick count of another pawn, with the move `first`.
    /// Until then it moves with `neutral` input.
    pub(crate) fn continuing(clock: MoveClock, first: Tick, neutral: M::Input) -> Self {
        Self {
            newest_before: clock.newest,
            clock: MoveClock { epoch: clock.epoch.map(|epoch| (epoch + 1) & 7), ..clock },
            first: Some(first),
            unclaimed: Some(neutral),
            offered: true,
            began: first,
            last_input: neutral,
            ..Self::default()
        }
    }

    /// Creates the queue of a pawn that is offered to an owner whose tick count is unknown.
    pub(crate) fn offered(neutral: M::Input) -> Self {
        Self { offered: true, last_input: neutral, ..Self::default() }
    }

    /// Lets the owner's moves before `end` run, and no later ones; `None` to let all run again.
    pub(crate) fn end_at(&mut self, end: Option<Tick>) {
        self.end = end;
    }

    /// Returns whether all moves before the end have run, or no further one can be expected.
    pub(crate) fn is_over(&self) -> bool {
        self.awaiting_first_move
            || self.end.zip(self.clock.next).is_some_and(|(end, next)| !end.is_newer_than(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        move_queue::DueMove,
        run_record::RanMoves,
        testing::{Slider, Way},
    };

    /// A queue in epoch 3 that has run the move of tick 9.
    fn after_move_9() -> MoveQueue<Slider> {
        let clock = MoveClock { epoch: Some(3), next: Some(Tick(10)), ..MoveClock::default() };
        MoveQueue { clock, awaiting_first_move: false, ..MoveQueue::default() }
    }

    #[test]
    fn another_pawn_continues_the_tick_count_in_the_next_epoch() {
        let clock = after_move_9().move_clock().expect("its owner is known");
        let mut continued = MoveQueue::<Slider>::continuing(clock, Tick(12), Way(0));
        assert_eq!(continued.clock.epoch, Some(4));
        assert!(matches!(continued.next_move(Tick(12), 0), DueMove::Neutral));
        assert_eq!(continued.last_run(), Some(Tick(10)));
        let last = MoveClock { epoch: Some(7), ..MoveClock::default() };
        assert_eq!(MoveQueue::<Slider>::continuing(last, Tick(12), Way(0)).clock.epoch, Some(0));
    }

    #[test]
    fn no_move_runs_from_the_end_on_until_all_may_run_again() {
        let mut queue = after_move_9();
        queue.end_at(Some(Tick(11)));
        assert!(!queue.is_over());
        assert!(matches!(queue.next_move(Tick(20), 0), DueMove::Missing { .. }), "move 10");
        assert!(queue.is_over());
        assert!(matches!(queue.next_move(Tick(20), 0), DueMove::Nothing), "move 11");
        queue.end_at(None);
        assert!(matches!(queue.next_move(Tick(20), 0), DueMove::Missing { .. }), "move 11, once more");
    }

    #[test]
    fn moves_that_ran_before_an_epoch_are_reported_until_its_first_move() {
        let mut queue = after_move_9();
        queue.ran.record(Tick(9));
        queue.restart(Tick(30));
        assert_ne!(queue.ran_before.for_ack(None), RanMoves::None);
        assert!(queue.ran.is_empty());
        // An epoch that its owner never started.
        queue.restart(Tick(60));
        assert_ne!(queue.ran_before.for_ack(None), RanMoves::None);
    }
}
