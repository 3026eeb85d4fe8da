//! Values that a player changes locally and the server confirms: aiming, held weapon, displayed ammunition.
//!
//! State that is predicted with the moves, such as a weapon's magazine, is replayed and needs
//! none of this. These types are for a game's own replicated values.

mod count;

use bevy::prelude::*;
use bevy_unlag_core::Tick;

pub use count::PredictedCount;

/// A value that the local player changes immediately and the server confirms later: aim down sights, the held
/// weapon, a flashlight.
///
/// The local value takes precedence over the delayed replicated one until the server has acknowledged the
/// tick of the last local change or a later one. So a quick tap never flickers, whatever the latency, and a
/// change that the server refuses is reverted exactly once.
///
/// With the value, the server sends the last of this client's ticks that it has processed and its own tick.
/// Confirmations may be lost, duplicated or reordered. `replicate_predicted` in the network crate implements
/// all of that for a component.
///
/// ```
/// # use bevy_unlag_core::Tick;
/// # use bevy_unlag_prediction::PredictedValue;
/// let mut aiming = PredictedValue::new(false);
/// aiming.set_local(true, Tick(10));
/// aiming.set_local(false, Tick(14));
/// aiming.confirm(true, Tick(12), Tick(508)); // From between the two changes.
/// assert!(!aiming.get());
/// aiming.confirm(false, Tick(14), Tick(510));
/// assert!(!aiming.get() && !aiming.is_pending());
/// ```
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Component)]
#[doc(alias = "FPredictionKey")]
pub struct PredictedValue<T: Send + Sync + 'static> {
    server: T,
    /// The last acknowledged client tick.
    acknowledged: Option<Tick>,
    /// The server's tick of the newest confirmation.
    sent: Option<Tick>,
    local: Option<(T, Tick)>,
}

impl<T: Copy + Send + Sync + 'static> PredictedValue<T> {
    /// Creates a value from the server's initial one.
    #[must_use]
    pub fn new(server: T) -> Self {
        Self { server, acknowledged: None, sent: None, local: None }
    }

    /// Returns the value to display and to act on.
    #[must_use]
    pub fn get(&self) -> T {
        self.local.map_or(self.server, |(value, _)| value)
    }

    /// Changes the value locally in client tick `tick`. Of changes in several ticks only the last one counts,
    /// and a change in an already acknowledged tick is ignored.
    pub fn set_local(&mut self, value: T, tick: Tick) {
        let newest = self.local.map(|(_, at)| at);
        let over = self.acknowledged.is_some_and(|acknowledged| tick.since(acknowledged) <= 0);
        if !over && newest.is_none_or(|newest| tick.since(newest) >= 0) {
            self.local = Some((value, tick));
        }
    }

    /// Applies a confirmation: the server had this value in its tick `sent`, when it had processed this
    /// client's ticks up to `acknowledged`, or `None` if it had processed none. A confirmation that is older
    /// than the newest one received is ignored.
    pub fn confirm(&mut self, value: T, acknowledged: impl Into<Option<Tick>>, sent: Tick) {
        if self.sent.is_some_and(|newest| newest.is_newer_than(sent)) {
            return;
        }
        (self.server, self.sent) = (value, Some(sent));
        let Some(acknowledged) = acknowledged.into() else { return };
        self.acknowledged = Some(acknowledged);
        if self.local.is_some_and(|(_, at)| acknowledged.since(at) >= 0) {
            self.local = None;
        }
    }

    /// Returns the server's value as of the newest confirmation.
    #[must_use]
    pub fn server(&self) -> T {
        self.server
    }

    /// Whether the server has yet to acknowledge the last change.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.local.is_some()
    }

    /// Returns the last unacknowledged change and its tick, for sending.
    #[must_use]
    pub fn pending(&self) -> Option<(T, Tick)> {
        self.local
    }
}

#[cfg(test)]
mod tests;
