//! Pushes by the server that client and server apply in the same move of the owner.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, Tick};

/// Pushes that wait for their tick or that a replay may need again.
///
/// Call [`push`](Self::push) on the server. The push is scheduled for a tick that the owner has not
/// simulated yet, if the round trip is short enough, and is sent with every acknowledgement until the owner
/// has simulated that move. Server and owner apply it in this very move, so that no correction is needed.
/// An owner that receives it late applies it in the past and replays its later moves.
#[doc(alias = "LaunchCharacter")]
#[doc(alias = "AddImpulse")]
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Default, type_path = false)]
pub struct ScheduledPushes<M: MoveModel> {
    // Pushes of a model need not be reflected.
    #[reflect(ignore)]
    unscheduled: VecDeque<M::Push>,
    #[reflect(ignore)]
    due: VecDeque<ScheduledPush<M::Push>>,
}

#[derive(Clone, Copy, Debug)]
struct ScheduledPush<P> {
    tick: Tick,
    push: P,
    /// Number of times that the push was sent to the owner.
    times_sent: u8,
    /// Whether the server has applied the push. Unused on the owner, who replays.
    done: bool,
}

impl<M: MoveModel> Default for ScheduledPushes<M> {
    fn default() -> Self {
        Self { unscheduled: VecDeque::new(), due: VecDeque::new() }
    }
}

impl<M: MoveModel> ScheduledPushes<M> {
    /// Maximum number of pushes, waiting or scheduled. Further ones are refused.
    pub const CAPACITY: usize = 128;

    /// Pushes the pawn at the first tick that its owner can still predict.
    pub fn push(&mut self, push: M::Push) {
        if self.unscheduled.len() < Self::CAPACITY {
            self.unscheduled.push_back(push);
        }
    }

    /// Schedules the waiting pushes from this tick on.
    pub(crate) fn schedule(&mut self, tick: Tick) {
        while let Some(push) = self.unscheduled.pop_front() {
            // Two equal pushes count twice, so they need different ticks.
            let free = (0..Self::CAPACITY as i32).find(|later| self.insert(tick.offset(*later), push));
            if free.is_none() {
                warn_once!(
                    "a pawn has {} pushes that its owner has not confirmed: further ones are refused",
                    Self::CAPACITY
                );
            }
        }
    }

    /// Adds a push that is due at a tick. Returns whether it was unknown and there was room.
    pub(crate) fn insert(&mut self, tick: Tick, push: M::Push) -> bool {
        let known = self.due.iter().any(|due| due.tick == tick && due.push == push);
        if known || self.due.len() == Self::CAPACITY {
            return false;
        }
        let index = self.due.partition_point(|due| !due.tick.is_newer_than(tick));
        self.due.insert(index, ScheduledPush { tick, push, times_sent: 0, done: false });
        true
    }

    /// Returns whether no push is waiting or scheduled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.unscheduled.is_empty() && self.due.is_empty()
    }

    /// Returns the state after all pushes that are due right before the step of `tick`.
    pub(crate) fn apply(&self, config: &M::Config, tick: Tick, state: &M::State) -> M::State {
        let due = self.due.iter().filter(|due| due.tick == tick);
        due.fold(*state, |state, due| M::push(config, &state, &due.push))
    }

    /// Returns the state after all pushes that are due up to `tick` and not applied yet. Each push is
    /// applied once, even if its move is never run.
    pub(crate) fn apply_due(&mut self, config: &M::Config, tick: Tick, state: &M::State) -> M::State {
        let open = self.due.iter_mut().filter(|due| !due.done && !due.tick.is_newer_than(tick));
        open.fold(*state, |state, due| {
            due.done = true;
            M::push(config, &state, &due.push)
        })
    }

    /// Returns whether the server has applied a push that the owner has not confirmed.
    pub(crate) fn unconfirmed(&self) -> bool {
        self.due.iter().any(|due| due.done)
    }

    /// Returns up to `most` pushes to send to the owner: those sent least often first, then the earliest.
    pub(crate) fn next_to_send(&mut self, most: usize) -> Vec<(Tick, M::Push)> {
        let mut sent = Vec::new();
        while sent.len() < most {
            // The first of the least sent ones that is not in this acknowledgement yet.
            let open = self.due.iter_mut().filter(|due| !sent.contains(&(due.tick, due.push)));
            let Some(next) = open.min_by_key(|due| due.times_sent) else { break };
            next.times_sent = next.times_sent.saturating_add(1);
            sent.push((next.tick, next.push));
        }
        sent
    }

    /// Removes the pushes up to the tick `settled`.
    pub(crate) fn remove_up_to(&mut self, settled: Tick) {
        while self.due.front().is_some_and(|due| !due.tick.is_newer_than(settled)) {
            self.due.pop_front();
        }
    }

    /// Removes the applied pushes up to the tick `settled`.
    pub(crate) fn confirm(&mut self, settled: Tick) {
        self.due.retain(|due| !due.done || due.tick.is_newer_than(settled));
    }

    /// Starts another epoch: pushes not applied yet wait for a new tick, applied ones are removed.
    pub(crate) fn restart(&mut self) {
        let open = self.due.iter().filter(|due| !due.done).map(|due| due.push);
        for (index, push) in open.enumerate() {
            self.unscheduled.insert(index, push);
        }
        self.unscheduled.truncate(Self::CAPACITY);
        self.due.clear();
    }

    /// Removes all scheduled pushes, on an owner's client whose epoch starts.
    pub(crate) fn clear(&mut self) {
        self.due.clear();
    }
}
