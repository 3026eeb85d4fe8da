//! The moment at which a query looks.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, Tick, ViewStamp, ViewTime};

use crate::RewindLimits;
use bevy_unlag_smoothing::SentLog;

/// The moment at which a query looks.
#[derive(Clone, Copy, Debug, Default)]
pub enum RewindTime<'a> {
    /// As everything is.
    #[default]
    Now,
    /// As a screen would have shown it that lost nothing. Nothing is checked: for the server's own purposes.
    At(ViewTime),
    /// As a client says that its screen showed it, within the limits.
    View(View<'a>),
}

/// What a shooter's screen showed.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The moment at which it showed everyone else.
    pub time: ViewTime,
    /// Targets that were drawn from other snapshots than the moment implies.
    pub overrides: &'a [StampOverride],
    /// The moment at which it showed movement bases, on the shooter's own time line: passengers are judged
    /// where their lift was drawn. `None` for this tick.
    pub bases: Option<ViewTime>,
    /// Ticks since the shot arrived here. How old its view was is measured at its arrival: what it
    /// waits for after that is the server's doing.
    pub waited: u32,
    /// The shooter's round trip, for limits that depend on it. `None` when it is not known.
    pub round_trip: Option<Duration>,
    /// What this shooter was sent: who was not in it is not hit. `None` for one who sees everything.
    pub sent: Option<&'a SentLog>,
    /// Limits of this weapon or mode. `None` for those of the app.
    pub limits: Option<&'a RewindLimits>,
}

impl From<ViewTime> for View<'_> {
    /// A view that lost nothing, just arrived.
    fn from(time: ViewTime) -> Self {
        Self { time, overrides: &[], bases: None, waited: 0, round_trip: None, sent: None, limits: None }
    }
}

/// Says that one target was drawn from other snapshots than the view time implies: one between
/// them was lost on the way, or the newest had not come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StampOverride {
    /// Whom.
    pub target: NetId,
    /// The older snapshot.
    pub from: Tick,
    /// The newer snapshot; `None` when the pose was carried on beyond the older one.
    pub to: Option<Tick>,
    /// How much later than everyone else it was drawn, in 1/256 of a tick: pawns that are updated at
    /// another rate, or that are simulated to the present, have a moment of their own.
    pub shift: i16,
}

impl StampOverride {
    /// Ticks that a named pair may span, and that a pose may be carried on: half a second at
    /// 64 Hz. No honest screen goes on without news for longer, and a claim that reached further
    /// would be a way around [`RewindLimits::max_age`](crate::RewindLimits::max_age).
    pub const MAX_SPAN: i32 = 32;

    /// Somebody drawn at a moment of its own, from whatever was sent for that moment: what the server believes
    /// of a claim that cannot have been.
    pub(crate) fn at_moment(target: NetId, shift: i16) -> Self {
        Self { target, from: Tick(0), to: Some(Tick(0).offset(Self::NO_PAIR)), shift }
    }

    /// Whether it says nothing of snapshots.
    pub(crate) fn is_moment(&self) -> bool {
        self.to.is_some_and(|to| to.since(self.from) == Self::NO_PAIR)
    }

    /// No pair is so far apart.
    const NO_PAIR: i32 = i32::MIN;

    /// The stamp at `time`, the target's own moment; `None` when no screen could have drawn it.
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

/// Whose side somebody is on. Without one it is on nobody's.
#[derive(Component, Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Team(pub u8);

/// In which layers a target is, as bits; a filter looks into some of them. Default: all.
#[derive(Component, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HitLayers(pub u32);

impl Default for HitLayers {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

/// Whom a query looks for. Default: everybody.
#[derive(Clone, Copy, Default)]
pub struct RewindFilter<'a> {
    /// Somebody who is not hit, such as the shooter.
    pub without: Option<Entity>,
    /// A side that is not hit, such as the shooter's own.
    pub not_of: Option<Team>,
    /// Only who is in one of these layers.
    pub layers: HitLayers,
    /// Only those for whom this says yes.
    pub only: Option<&'a (dyn Fn(Entity) -> bool + Sync)>,
}

impl core::fmt::Debug for RewindFilter<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RewindFilter")
            .field("without", &self.without)
            .field("not_of", &self.not_of)
            .field("layers", &self.layers)
            .finish_non_exhaustive()
    }
}

impl RewindFilter<'_> {
    /// Everybody but one.
    #[must_use]
    pub fn without(entity: Entity) -> Self {
        Self { without: Some(entity), ..Self::default() }
    }

    pub(crate) fn allows(&self, entity: Entity, team: Option<Team>, layers: HitLayers) -> bool {
        self.without != Some(entity)
            && (self.not_of.is_none() || self.not_of != team)
            && self.layers.0 & layers.0 != 0
            && self.only.is_none_or(|only| only(entity))
    }
}
