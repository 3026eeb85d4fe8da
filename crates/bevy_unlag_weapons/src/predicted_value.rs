//! Values that a player changes and the server has the last word on: aim, what is in hand, ammunition shown.
//!
//! What is predicted with the moves, like [`ArmsState`](crate::ArmsState), needs none of this: it is replayed. These
//! are for a game's own replicated values.

mod count;

use bevy::prelude::*;
use bevy_unlag_core::Tick;

pub use count::PredictedCount;

/// A value that the local player changes at once and the server confirms later: aim down sights, a weapon in
/// hand, a lamp. The local value wins over the late replicated one until the server has answered for the tick of
/// the last local change, or a later one; so a quick tap never flickers, whatever the delay, and what the server
/// refuses changes back once.
///
/// The server sends, with the value, the last of this client's ticks that it has taken in, and its own tick.
/// Answers may be lost, come twice and in any order. The network crate's `replicate_predicted` does all of that for a
/// component.
///
/// ```
/// # use bevy_unlag_core::Tick;
/// # use bevy_unlag_weapons::PredictedValue;
/// let mut aiming = PredictedValue::new(false);
/// aiming.set_local(true, Tick(10));
/// aiming.set_local(false, Tick(14));
/// aiming.confirm(true, Tick(12), Tick(508)); // From between the two changes.
/// assert!(!aiming.get());
/// aiming.confirm(false, Tick(14), Tick(510));
/// assert!(!aiming.get() && !aiming.is_pending());
/// ```
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PredictedValue<T: Send + Sync + 'static> {
    server: T,
    /// The last of the client's ticks that was answered.
    answered: Option<Tick>,
    /// The server's tick of the newest answer.
    sent: Option<Tick>,
    local: Option<(T, Tick)>,
}

impl<T: Copy + Send + Sync + 'static> PredictedValue<T> {
    /// What the server has to begin with.
    #[must_use]
    pub fn new(server: T) -> Self {
        Self { server, answered: None, sent: None, local: None }
    }

    /// What to show and to act on.
    #[must_use]
    pub fn get(&self) -> T {
        self.local.map_or(self.server, |(value, _)| value)
    }

    /// The player changes it in this tick, the client's. Of changes in several ticks only the last counts, and a tick
    /// that has been answered is over.
    pub fn set_local(&mut self, value: T, tick: Tick) {
        let newest = self.local.map(|(_, at)| at);
        let over = self.answered.is_some_and(|answered| tick.since(answered) <= 0);
        if !over && newest.is_none_or(|newest| tick.since(newest) >= 0) {
            self.local = Some((value, tick));
        }
    }

    /// The server had this value in its tick `sent`, when it had taken in this client's ticks up to `answered`, or
    /// `None` of them. What was sent before another answer that was here does nothing.
    pub fn confirm(&mut self, value: T, answered: impl Into<Option<Tick>>, sent: Tick) {
        if self.sent.is_some_and(|newest| newest.is_newer_than(sent)) {
            return;
        }
        (self.server, self.sent) = (value, Some(sent));
        let Some(answered) = answered.into() else { return };
        self.answered = Some(answered);
        if self.local.is_some_and(|(_, at)| answered.since(at) >= 0) {
            self.local = None;
        }
    }

    /// The server's value, as of its last answer.
    #[must_use]
    pub fn server(&self) -> T {
        self.server
    }

    /// Whether the server has yet to answer for the last change.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.local.is_some()
    }

    /// The last change, while the server has yet to answer for it, and its tick: what is to be sent.
    #[must_use]
    pub fn pending(&self) -> Option<(T, Tick)> {
        self.local
    }

    /// Goes back to the server's value when a change has not been answered for more than `patience` ticks. For
    /// values that a server only sends when they change: one that it refused it may never send.
    pub fn give_up(&mut self, now: Tick, patience: i32) {
        if self.local.is_some_and(|(_, at)| now.since(at) > patience) {
            self.local = None;
        }
    }
}

#[cfg(test)]
mod tests;
