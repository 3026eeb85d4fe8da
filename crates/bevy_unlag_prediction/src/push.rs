//! What the server does to a pawn, in a move of its owner's: both sides know the tick.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, Tick};

/// Pushes that wait for their tick, or that a replay may need again.
///
/// On the server call [`push`](Self::push): the push is given a tick that the owner has not made
/// yet, if the round trip is short enough, and travels with every answer until the owner has made
/// that move. The server does it in that very move, and so does the owner: nobody is corrected. An
/// owner that hears of it late does it in the past and makes its later moves again by itself.
#[derive(Component, Clone, Debug)]
pub struct ScheduledPushes<M: MoveModel> {
    asked: VecDeque<M::Push>,
    due: VecDeque<(Tick, M::Push)>,
}

impl<M: MoveModel> Default for ScheduledPushes<M> {
    fn default() -> Self {
        Self { asked: VecDeque::new(), due: VecDeque::new() }
    }
}

impl<M: MoveModel> ScheduledPushes<M> {
    /// More than this many are not remembered; the oldest make room.
    pub const CAPACITY: usize = 32;

    /// Pushes the pawn as soon as its owner can know.
    pub fn push(&mut self, push: M::Push) {
        if self.asked.len() < Self::CAPACITY {
            self.asked.push_back(push);
        }
    }

    /// Gives what was asked for its tick.
    pub(crate) fn schedule(&mut self, tick: Tick) {
        while let Some(push) = self.asked.pop_front() {
            // Two equal ones are two, and go into two ticks.
            let free = (0..Self::CAPACITY as i32).find(|later| self.insert(tick.offset(*later), push));
            debug_assert!(free.is_some());
        }
    }

    /// Remembers a push that is due in a tick. Says whether it was unknown.
    pub(crate) fn insert(&mut self, tick: Tick, push: M::Push) -> bool {
        if self.due.iter().any(|known| *known == (tick, push)) {
            return false;
        }
        if self.due.len() == Self::CAPACITY {
            self.due.pop_front();
        }
        let index = self.due.partition_point(|(other, _)| !other.is_newer_than(tick));
        self.due.insert(index, (tick, push));
        true
    }

    /// Whether any push is waiting or remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.due.is_empty()
    }

    /// Everything that happens right before the step of `tick`, done to a state.
    pub(crate) fn apply(&self, config: &M::Config, tick: Tick, state: &M::State) -> M::State {
        let due = self.due.iter().filter(|(at, _)| *at == tick);
        due.fold(*state, |state, (_, push)| M::push(config, &state, push))
    }

    /// The pushes after `settled`, the earliest first.
    pub(crate) fn after(&self, settled: Option<Tick>) -> impl Iterator<Item = &(Tick, M::Push)> {
        self.due.iter().filter(move |(at, _)| settled.is_none_or(|settled| at.is_newer_than(settled)))
    }

    /// Forgets the pushes up to `settled`.
    pub(crate) fn settle(&mut self, settled: Tick) {
        while self.due.front().is_some_and(|(at, _)| !at.is_newer_than(settled)) {
            self.due.pop_front();
        }
    }

    /// Forgets all but what was asked for and has no tick yet.
    pub(crate) fn restart(&mut self) {
        self.due.clear();
    }
}
