//! A number that shots take from.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::Tick;

/// A number of which the local player takes some and the server confirms it later: rounds shown, grenades,
/// charges of an ability. It is the server's number with every change on it that the server has not answered
/// for. What only the server adds, such as a pickup, just comes with an answer.
///
/// Unlike a plain counter of requests that are under way, it is right whichever answers are lost.
///
/// ```
/// # use bevy_unlag_core::Tick;
/// # use bevy_unlag_weapons::PredictedCount;
/// let mut rounds = PredictedCount::new(30);
/// rounds.change(-1, Tick(10));
/// rounds.change(-1, Tick(16));
/// rounds.confirm(29, Tick(12), Tick(508));
/// assert_eq!(rounds.get(), 28);
/// ```
#[derive(Component, Clone, PartialEq, Eq, Debug, Default)]
pub struct PredictedCount {
    server: u16,
    /// The last of the client's ticks that was answered, and the server's when it was.
    answered: Option<(Tick, Tick)>,
    /// Oldest first, one for a tick.
    pending: VecDeque<(Tick, i32)>,
}

impl PredictedCount {
    /// Changes that are remembered one by one. Beyond it the oldest two become one, which is answered with the
    /// later of them.
    pub const MOST_PENDING: usize = 64;

    /// What the server has to begin with.
    #[must_use]
    pub fn new(server: u16) -> Self {
        Self { server, answered: None, pending: VecDeque::with_capacity(Self::MOST_PENDING) }
    }

    /// What to show and to act on; never less than nothing.
    #[must_use]
    pub fn get(&self) -> u16 {
        let changes = self.pending.iter().fold(0_i32, |sum, (_, by)| sum.saturating_add(*by));
        i32::from(self.server).saturating_add(changes).clamp(0, i32::from(u16::MAX)) as u16
    }

    /// The player changes it in this tick, the client's: −1 for a shot, more for a reload. A tick before that of
    /// another change, or that has been answered, is over.
    pub fn change(&mut self, by: i32, tick: Tick) {
        if self.answered.is_some_and(|(answered, _)| tick.since(answered) <= 0) {
            return;
        }
        match self.pending.back_mut() {
            Some((newest, sum)) if *newest == tick => *sum = sum.saturating_add(by),
            Some((newest, _)) if newest.is_newer_than(tick) => {}
            _ => {
                if self.pending.len() >= Self::MOST_PENDING
                    && let Some((_, oldest)) = self.pending.pop_front()
                    && let Some((_, sum)) = self.pending.front_mut()
                {
                    *sum = sum.saturating_add(oldest);
                }
                self.pending.push_back((tick, by));
            }
        }
    }

    /// The server had this number in its tick `sent`, when it had taken in this client's ticks up to `answered`.
    /// What was sent before another answer that was here does nothing.
    pub fn confirm(&mut self, count: u16, answered: Tick, sent: Tick) {
        if self.answered.is_some_and(|(_, newest)| newest.is_newer_than(sent)) {
            return;
        }
        (self.server, self.answered) = (count, Some((answered, sent)));
        while self.pending.front().is_some_and(|(tick, _)| answered.since(*tick) >= 0) {
            self.pending.pop_front();
        }
    }

    /// The server's number, as of its last answer.
    #[must_use]
    pub fn server(&self) -> u16 {
        self.server
    }

    /// Whether the server has yet to answer for a change.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }
}
