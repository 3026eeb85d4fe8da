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
    due: VecDeque<Due<M::Push>>,
}

#[derive(Clone, Copy, Debug)]
struct Due<P> {
    tick: Tick,
    push: P,
    /// How often the owner was told.
    told: u8,
    /// Whether the server has done it; for an owner, who replays, it means nothing.
    done: bool,
}

impl<M: MoveModel> Default for ScheduledPushes<M> {
    fn default() -> Self {
        Self { asked: VecDeque::new(), due: VecDeque::new() }
    }
}

impl<M: MoveModel> ScheduledPushes<M> {
    /// More than this many are not remembered: new ones are then refused.
    pub const CAPACITY: usize = 128;

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
            if free.is_none() {
                warn_once!(
                    "a pawn has {} pushes that its owner has not confirmed: more are refused",
                    Self::CAPACITY
                );
            }
        }
    }

    /// Remembers a push that is due in a tick. Says whether it was unknown and there was room.
    pub(crate) fn insert(&mut self, tick: Tick, push: M::Push) -> bool {
        let known = self.due.iter().any(|due| due.tick == tick && due.push == push);
        if known || self.due.len() == Self::CAPACITY {
            return false;
        }
        let index = self.due.partition_point(|due| !due.tick.is_newer_than(tick));
        self.due.insert(index, Due { tick, push, told: 0, done: false });
        true
    }

    /// Whether any push is waiting or remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.due.is_empty()
    }

    /// Everything that happens right before the step of `tick`, done to a state.
    pub(crate) fn apply(&self, config: &M::Config, tick: Tick, state: &M::State) -> M::State {
        let due = self.due.iter().filter(|due| due.tick == tick);
        due.fold(*state, |state, due| M::push(config, &state, &due.push))
    }

    /// Everything that is due up to `tick` and was not done yet: each push is done once, whatever
    /// becomes of its move.
    pub(crate) fn perform(&mut self, config: &M::Config, tick: Tick, state: &M::State) -> M::State {
        let open = self.due.iter_mut().filter(|due| !due.done && !due.tick.is_newer_than(tick));
        open.fold(*state, |state, due| {
            due.done = true;
            M::push(config, &state, &due.push)
        })
    }

    /// Whether the server has done something that the owner has not confirmed.
    pub(crate) fn unconfirmed(&self) -> bool {
        self.due.iter().any(|due| due.done)
    }

    /// The next `most` pushes that the owner is to be told of: the least told first, then the
    /// earliest.
    pub(crate) fn tell(&mut self, most: usize) -> Vec<(Tick, M::Push)> {
        let mut told = Vec::new();
        while told.len() < most {
            // The first of the least told that was not told in this very answer.
            let open = self.due.iter_mut().filter(|due| !told.contains(&(due.tick, due.push)));
            let Some(next) = open.min_by_key(|due| due.told) else { break };
            next.told = next.told.saturating_add(1);
            told.push((next.tick, next.push));
        }
        told
    }

    /// Forgets the pushes up to `settled`.
    pub(crate) fn settle(&mut self, settled: Tick) {
        while self.due.front().is_some_and(|due| !due.tick.is_newer_than(settled)) {
            self.due.pop_front();
        }
    }

    /// The same of what the server has done.
    pub(crate) fn confirm(&mut self, settled: Tick) {
        self.due.retain(|due| !due.done || due.tick.is_newer_than(settled));
    }

    /// Another time line begins: what was not done yet is asked for again, what was done is done.
    pub(crate) fn restart(&mut self) {
        let open = self.due.iter().filter(|due| !due.done).map(|due| due.push);
        for (index, push) in open.enumerate() {
            self.asked.insert(index, push);
        }
        self.asked.truncate(Self::CAPACITY);
        self.due.clear();
    }

    /// Forgets all of them, on an owner's client whose time line begins.
    pub(crate) fn clear(&mut self) {
        self.due.clear();
    }
}
