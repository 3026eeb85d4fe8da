//! What was fired in this tick and is to fly.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, Tick, ViewTime};
use bevy_unlag_rewind::{StampOverride, Team, View};

use crate::{MAX_OVERRIDES, Round};

/// Something that is about to fly; on the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    /// Who fired it.
    pub shooter: Entity,
    /// The same, on the wire.
    pub id: NetId,
    /// In which shot.
    pub round: Round,
    /// Whom it does not hit.
    pub not_of: Option<Team>,
    /// From where, in metres.
    pub from: Vec3,
    /// The moment at which the shooter's screen showed everyone else; `None` for the present.
    pub at: Option<ViewTime>,
    /// What else is known of that screen.
    pub seen: Seen,
    /// Whether it is judged at another moment than its screen showed.
    pub clamped: bool,
}

/// What is known of a screen beside its moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    overrides: [StampOverride; MAX_OVERRIDES],
    named: usize,
    bases: Option<ViewTime>,
    waited: u32,
    round_trip: Option<Duration>,
    /// Whether it showed what its client was sent, rather than what the server thinks of.
    pub sent: bool,
}

impl Seen {
    /// Of a shot that was just judged; `None` for one at the present.
    pub fn of(view: Option<&View>) -> Self {
        let Some(view) = view else { return Self::default() };
        let View { bases, waited, round_trip, .. } = *view;
        let mut seen = Self { bases, waited, round_trip, sent: view.sent.is_some(), ..default() };
        for (slot, named) in seen.overrides.iter_mut().zip(view.overrides) {
            *slot = *named;
            seen.named += 1;
        }
        seen
    }

    /// The view at the moment at which it was fired, some ticks after it was judged.
    pub fn view(&self, time: ViewTime, since: Tick, now: Tick) -> View<'_> {
        let waited = if now == since { self.waited } else { 0 };
        let overrides = &self.overrides[..self.named.min(MAX_OVERRIDES)];
        View { overrides, bases: self.bases, waited, round_trip: self.round_trip, ..View::from(time) }
    }
}

/// What was fired in this tick.
#[derive(Resource, Default, Debug)]
pub(crate) struct Launches(pub Vec<Launch>);
