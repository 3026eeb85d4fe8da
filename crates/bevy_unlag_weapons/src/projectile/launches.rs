//! What was fired in this tick and is to fly.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, Tick, ViewTime};
use bevy_unlag_rewind::{RewindLimits, StampOverride, Team, View};

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
    /// The moment that it showed, before limits.
    asked: Option<ViewTime>,
    overrides: [StampOverride; MAX_OVERRIDES],
    named: usize,
    bases: Option<ViewTime>,
    waited: u32,
    round_trip: Option<Duration>,
    limits: Option<RewindLimits>,
    /// Whether it showed what its client was sent, rather than what the server thinks of.
    pub sent: bool,
}

impl Seen {
    /// Of a shot that was just judged; `None` for one at the present.
    pub fn of(view: Option<&View>) -> Self {
        let Some(view) = view else { return Self::default() };
        let View { bases, waited, round_trip, .. } = *view;
        let (asked, limits) = (Some(view.time), view.limits.copied());
        let mut seen =
            Self { asked, bases, waited, round_trip, limits, sent: view.sent.is_some(), ..default() };
        for (slot, named) in seen.overrides.iter_mut().zip(view.overrides) {
            *slot = *named;
            seen.named += 1;
        }
        seen
    }

    /// The view that was fired with, some ticks after it was judged at `fired`. What is to be looked at lies
    /// [later](bevy_unlag_rewind::Rewound::later).
    ///
    /// Limits were kept when it was judged, and everything later lies nearer to the present. What they are for from
    /// then on is whom the shot names: nobody's own moment lies before them either, and who was drawn from a pair at
    /// a moment that was not allowed is not posed from it at another one.
    pub fn view(&self, fired: ViewTime, since: Tick, now: Tick) -> View<'_> {
        let waited = if now == since { self.waited } else { 0 };
        let overrides = &self.overrides[..self.named.min(MAX_OVERRIDES)];
        let asked = self.asked.unwrap_or(fired);
        // They go on from where they were in the tick of the shot, whatever became of its moment.
        let bases = self.bases.map(|bases| bases.later(asked.since(fired)));
        let (round_trip, limits) = (self.round_trip, self.limits.as_ref());
        View { overrides, bases, waited, round_trip, limits, ..View::from(asked) }
    }
}

/// What was fired in this tick.
#[derive(Resource, Default, Debug)]
pub(crate) struct Launches(pub Vec<Launch>);
