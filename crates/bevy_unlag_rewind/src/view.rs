//! View time and filter of a rewind query.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, Tick, ViewStamp, ViewTime};

use crate::{limits::RewindLimits, team::Team};
use bevy_unlag_smoothing::SentSnapshots;

/// Moment at which a query poses its targets.
#[derive(Clone, Copy, Debug, Default)]
pub enum RewindTime<'a> {
    /// The present.
    #[default]
    Now,
    /// The view of an ideal screen without packet loss. The time is not validated: for the server's own
    /// purposes.
    At(ViewTime),
    /// The view that a client claims for its screen, within the limits.
    View(QueryView<'a>),
}

/// View of a shooter's screen.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryView<'a> {
    /// View time of the remote pawns.
    pub time: ViewTime,
    /// Targets that were drawn from other snapshots than [`time`](Self::time) implies.
    pub overrides: &'a [StampOverride],
    /// View time of movement bases, on the shooter's own time line: passengers are posed where their lift
    /// was drawn. `None` for the current tick.
    pub bases: Option<ViewTime>,
    /// Ticks since the shot arrived at the server. The age of the view is measured at its arrival,
    /// because any waiting after that is the server's own.
    pub queued_ticks: u32,
    /// Shooter's round trip, for limits that depend on it. `None` if unknown.
    pub round_trip: Option<Duration>,
    /// Snapshots that were sent to this shooter; a target that was not among them cannot be hit. `None`
    /// for a shooter that sees everything.
    pub sent: Option<&'a SentSnapshots>,
    /// Limits of this weapon or game mode. `None` for those of the app.
    pub limits: Option<&'a RewindLimits>,
}

impl From<ViewTime> for QueryView<'_> {
    /// Creates the view of a screen without packet loss, for a shot that has just arrived.
    fn from(time: ViewTime) -> Self {
        Self { time, ..Self::default() }
    }
}

/// Snapshot pair that one target was drawn from, if it differs from what the view time implies: because a
/// snapshot between them was lost, or because the newest had not arrived yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct StampOverride {
    /// Network id of the target.
    pub target: NetId,
    /// Tick of the older snapshot.
    pub from: Tick,
    /// Tick of the newer snapshot; `None` if the pose was extrapolated from the older one.
    pub to: Option<Tick>,
    /// Delay of the target relative to the other remote pawns, in 1/256 of a tick: pawns that are updated
    /// at another rate, or that are simulated to the present, have a view time of their own.
    pub shift: i16,
}

impl StampOverride {
    /// Maximum span of a snapshot pair and maximum extrapolation, in ticks: half a second at 64 Hz. No
    /// honest screen extrapolates for longer, and a claim with a larger span would circumvent
    /// [`RewindLimits::max_age`](crate::RewindLimits::max_age).
    pub const MAX_SPAN: i32 = 32;

    /// Creates an override with a view time shift but without a snapshot pair: the pose comes from
    /// whatever was sent for that moment. Replaces a claim that the server rejected.
    pub(crate) fn at_moment(target: NetId, shift: i16) -> Self {
        Self { target, from: Tick(0), to: Some(Tick(0).offset(Self::NO_PAIR)), shift }
    }

    /// Returns whether this override has no snapshot pair.
    pub(crate) fn is_moment(&self) -> bool {
        self.to.is_some_and(|to| to.since(self.from) == Self::NO_PAIR)
    }

    /// Span that marks an override without a snapshot pair. A real pair is never that far apart.
    const NO_PAIR: i32 = i32::MIN;

    /// Returns the stamp for `time`, the target's own view time; `None` if no screen can have drawn it.
    #[must_use]
    pub fn stamp(&self, time: ViewTime) -> Option<ViewStamp> {
        let since = time.ticks_since(self.from);
        match self.to {
            Some(to) => {
                let span = to.since(self.from);
                let between = since >= 0.0 && time.ticks_since(to) <= 0.0;
                (between && span <= Self::MAX_SPAN).then_some(ViewStamp::Interpolated {
                    from: self.from,
                    to,
                    time,
                })
            }
            None => {
                let carried_on = (0.0..=Self::MAX_SPAN as f32).contains(&since);
                carried_on.then_some(ViewStamp::Extrapolated { from: self.from, time })
            }
        }
    }
}

/// Collision layers of a target, as a bit mask; a filter selects some of them. Default: all.
#[doc(alias = "CollisionLayers")]
#[doc(alias = "LayerMask")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Hash, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct HitLayers(pub u32);

impl Default for HitLayers {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

/// Filter for the targets of a query. Default: every target.
#[doc(alias = "FCollisionQueryParams")]
#[doc(alias = "QueryFilter")]
#[derive(Clone, Copy, Default)]
pub struct RewindFilter<'a> {
    /// Entity to exclude, such as the shooter.
    pub exclude: Option<Entity>,
    /// Team to exclude, such as the shooter's own.
    pub exclude_team: Option<Team>,
    /// Layers to test. A target must be in at least one of them.
    pub layers: HitLayers,
    /// Predicate that a target's entity must satisfy.
    pub predicate: Option<&'a (dyn Fn(Entity) -> bool + Sync)>,
}

impl core::fmt::Debug for RewindFilter<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RewindFilter")
            .field("exclude", &self.exclude)
            .field("exclude_team", &self.exclude_team)
            .field("layers", &self.layers)
            .finish_non_exhaustive()
    }
}

impl RewindFilter<'_> {
    /// Creates a filter that excludes one entity.
    #[must_use]
    pub fn exclude(entity: Entity) -> Self {
        Self { exclude: Some(entity), ..Self::default() }
    }

    pub(crate) fn allows(&self, entity: Entity, team: Option<Team>, layers: HitLayers) -> bool {
        self.exclude != Some(entity)
            && (self.exclude_team.is_none() || self.exclude_team != team)
            && self.layers.0 & layers.0 != 0
            && self.predicate.is_none_or(|predicate| predicate(entity))
    }
}
