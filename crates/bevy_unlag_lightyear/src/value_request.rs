//! Requests of a pawn's owner to change a predicted value.

use bevy::prelude::*;
use bevy_unlag_core::Tick;

/// On the server: the value of `T` that the owner of a pawn requests.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component)]
pub struct ValueRequest<T: Send + Sync + 'static> {
    pub(crate) requested: Option<T>,
    /// The newest client tick for which a change has arrived.
    pub(crate) received_tick: Option<Tick>,
    pub(crate) acked_tick: Option<Tick>,
}

impl<T: Send + Sync + 'static> Default for ValueRequest<T> {
    fn default() -> Self {
        Self { requested: None, received_tick: None, acked_tick: None }
    }
}

impl<T: Copy + Send + Sync + 'static> ValueRequest<T> {
    /// Returns the requested value, `None` if there is no request. It can be any value that decodes.
    #[must_use]
    pub fn requested(&self) -> Option<T> {
        self.requested
    }

    /// Refuses the request: the value stays, and the owner is corrected.
    pub fn refuse(&mut self) {
        self.requested = None;
    }

    /// Returns the last client tick that was acknowledged.
    pub(crate) fn acked_tick(&self) -> Option<Tick> {
        self.acked_tick
    }

    /// Records a request, unless it is a duplicate or older than a previous one.
    pub(crate) fn record_request(&mut self, value: T, tick: Tick) {
        if self.received_tick.is_none_or(|received_tick| tick.is_newer_than(received_tick)) {
            (self.requested, self.received_tick) = (Some(value), Some(tick));
        }
    }
}
