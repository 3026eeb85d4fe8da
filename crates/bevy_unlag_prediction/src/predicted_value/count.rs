//! Predicted counter.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::Tick;

/// A counter that the local player changes immediately and the server confirms later: displayed ammunition,
/// grenades, charges of an ability. Its value is the server's number plus every change that the server has
/// not acknowledged. Additions by the server alone, such as a pickup, arrive with the next confirmation.
///
/// Unlike a plain counter of requests in flight, it stays correct when confirmations are lost.
///
/// ```
/// # use bevy_unlag_core::Tick;
/// # use bevy_unlag_prediction::PredictedCount;
/// let mut rounds = PredictedCount::new(30);
/// rounds.change(-1, Tick(10));
/// rounds.change(-1, Tick(16));
/// rounds.confirm(29, Tick(12), Tick(508));
/// assert_eq!(rounds.get(), 28);
/// ```
#[derive(Component, Clone, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct PredictedCount {
    server: u16,
    /// The last acknowledged client tick, and the server's tick of that confirmation.
    acknowledged: Option<(Tick, Tick)>,
    /// Oldest first, one entry per tick.
    pending: VecDeque<(Tick, i32)>,
}

impl PredictedCount {
    /// Changes that are remembered individually. Beyond it the two oldest are merged into one, which is
    /// acknowledged with the later of them.
    pub const MAX_PENDING: usize = 64;

    /// Creates a counter from the server's initial number.
    #[must_use]
    pub fn new(server: u16) -> Self {
        Self { server, acknowledged: None, pending: VecDeque::with_capacity(Self::MAX_PENDING) }
    }

    /// Returns the number to display and to act on; never negative.
    #[must_use]
    pub fn get(&self) -> u16 {
        let changes = self.pending.iter().fold(0_i32, |sum, (_, by)| sum.saturating_add(*by));
        i32::from(self.server).saturating_add(changes).clamp(0, i32::from(u16::MAX)) as u16
    }

    /// Changes the number locally in client tick `tick`: −1 for a shot, a positive number for a reload. A
    /// change is ignored if its tick is older than that of another change or already acknowledged.
    pub fn change(&mut self, by: i32, tick: Tick) {
        if self.acknowledged.is_some_and(|(acknowledged, _)| tick.since(acknowledged) <= 0) {
            return;
        }
        match self.pending.back_mut() {
            Some((newest, sum)) if *newest == tick => *sum = sum.saturating_add(by),
            Some((newest, _)) if newest.is_newer_than(tick) => {}
            _ => {
                if self.pending.len() >= Self::MAX_PENDING
                    && let Some((_, oldest)) = self.pending.pop_front()
                    && let Some((_, sum)) = self.pending.front_mut()
                {
                    *sum = sum.saturating_add(oldest);
                }
                self.pending.push_back((tick, by));
            }
        }
    }

    /// Applies a confirmation: the server had this number in its tick `sent`, when it had processed this
    /// client's ticks up to `acknowledged`. A confirmation that is older than the newest one received is
    /// ignored.
    pub fn confirm(&mut self, count: u16, acknowledged: Tick, sent: Tick) {
        if self.acknowledged.is_some_and(|(_, newest)| newest.is_newer_than(sent)) {
            return;
        }
        (self.server, self.acknowledged) = (count, Some((acknowledged, sent)));
        while self.pending.front().is_some_and(|(tick, _)| acknowledged.since(*tick) >= 0) {
            self.pending.pop_front();
        }
    }

    /// Returns the server's number as of the newest confirmation.
    #[must_use]
    pub fn server(&self) -> u16 {
        self.server
    }

    /// Whether the server has yet to acknowledge a change.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }
}
