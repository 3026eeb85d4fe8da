//! Projectiles fired in the current tick.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, Tick, ViewTime};
use bevy_unlag_rewind::{QueryView, RewindLimits, StampOverride};

use crate::{fire_input::MAX_OVERRIDES, friendly_fire::SparedTeam, weapon_extension::PredictedShot};

/// A projectile about to be launched; on the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingLaunch {
    /// The shooter.
    pub shooter: Entity,
    /// The shooter's network identifier.
    pub id: NetId,
    /// The shot that launches it.
    pub round: PredictedShot,
    /// Team that it does not damage.
    pub spared: SparedTeam,
    /// Start position, in metres.
    pub from: Vec3,
    /// View time of the shooter's screen, at which it showed remote pawns; `None` for the present.
    pub at: Option<ViewTime>,
    /// Time from `at` to the server's tick; `None` for the present.
    pub rewind: Option<Duration>,
    /// Further properties of that view.
    pub seen: LaunchView,
    /// Whether its view time was clamped, so that it differs from that of the shooter's screen.
    pub clamped: bool,
}

/// Properties of a view besides its view time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaunchView {
    /// The view time that the screen showed, before limits.
    requested: Option<ViewTime>,
    overrides: [StampOverride; MAX_OVERRIDES],
    named: usize,
    bases: Option<ViewTime>,
    queued_ticks: u32,
    round_trip: Option<Duration>,
    limits: Option<RewindLimits>,
    /// Whether remote pawns are posed from the snapshots sent to the client rather than from the server's own
    /// history.
    pub sent: bool,
}

impl LaunchView {
    /// Captures the view of a shot that has just been validated; `None` for the present.
    pub fn of(view: Option<&QueryView>) -> Self {
        let Some(view) = view else { return Self::default() };
        let QueryView { bases, queued_ticks, round_trip, .. } = *view;
        let (requested, limits) = (Some(view.time), view.limits.copied());
        let mut seen = Self {
            requested,
            bases,
            queued_ticks,
            round_trip,
            limits,
            sent: view.sent.is_some(),
            ..default()
        };
        for (slot, named) in seen.overrides.iter_mut().zip(view.overrides) {
            *slot = *named;
            seen.named += 1;
        }
        seen
    }

    /// Returns the view that the projectile was fired with, some ticks after the shot was validated at
    /// `fired`. Poses at a later moment follow with [`later`](bevy_unlag_rewind::Rewound::later).
    ///
    /// The rewind limits were applied during validation, and all later moments lie nearer to the present.
    /// From then on the limits only concern the targets that the shot names in overrides: their own moments
    /// must not lie before the limits either, and a target drawn from a snapshot pair at a moment that was
    /// not allowed must not be posed from that pair at another moment.
    pub fn view(&self, fired: ViewTime, since: Tick, now: Tick) -> QueryView<'_> {
        let queued_ticks = if now == since { self.queued_ticks } else { 0 };
        let overrides = &self.overrides[..self.named.min(MAX_OVERRIDES)];
        let requested = self.requested.unwrap_or(fired);
        // Base times continue from their value in the tick of the shot, even if its view time was clamped.
        let bases = self.bases.map(|bases| bases.later(requested.since(fired)));
        let (round_trip, limits) = (self.round_trip, self.limits.as_ref());
        QueryView { overrides, bases, queued_ticks, round_trip, limits, ..QueryView::from(requested) }
    }
}

/// Projectiles fired in the current tick.
#[derive(Resource, Default, Debug)]
pub(crate) struct PendingLaunches(pub Vec<PendingLaunch>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn view_of_a_flight_goes_on_from_the_one_that_was_validated() {
        let fired = ViewTime::at(Tick(90));
        let named = [StampOverride { target: NetId(4), from: Tick(86), ..default() }];
        let limits = RewindLimits { max_distance: 3.0, ..default() };
        let validated = QueryView {
            overrides: &named,
            bases: Some(ViewTime::at(Tick(95))),
            queued_ticks: 2,
            round_trip: Some(Duration::from_millis(80)),
            limits: Some(&limits),
            ..QueryView::from(fired)
        };
        let view = LaunchView::of(Some(&validated));
        assert!(!view.sent);
        for (now, queued_ticks) in [(Tick(100), 2), (Tick(101), 0)] {
            let later = view.view(fired, Tick(100), now);
            assert_eq!((later.time, later.bases, later.queued_ticks), (fired, validated.bases, queued_ticks));
            assert_eq!((later.overrides, later.round_trip), (&named[..], validated.round_trip));
            assert_eq!(later.limits.map(|limits| limits.max_distance), Some(3.0));
        }
    }

    #[test]
    fn base_times_of_a_clamped_view_move_with_it() {
        let (requested, clamped) = (ViewTime::at(Tick(60)), ViewTime::at(Tick(64)));
        let validated = QueryView { bases: Some(ViewTime::at(Tick(66))), ..QueryView::from(requested) };
        let view = LaunchView::of(Some(&validated));
        let later = view.view(clamped, Tick(70), Tick(70));
        assert_eq!(later.time, requested);
        assert_eq!(later.bases, Some(ViewTime::at(Tick(62))));
    }
}
