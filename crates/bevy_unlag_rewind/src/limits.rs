//! Limits on how far back a shot may reach.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{SUB_TICKS, Tick, ViewTime, sub_ticks};
use serde::{Deserialize, Serialize};

use crate::cover::CoverProtection;

/// Whether shots are resolved in the shooter's past.
#[doc(alias = "sv_unlag")]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Serialize, Deserialize, Reflect)]
pub enum RewindMode {
    /// Targets are posed as the shooter saw them.
    #[default]
    On,
    /// Targets are posed as they are now, so players must lead their targets. The baseline for
    /// measurements.
    Off,
}

/// Limits on how far back a shot may reach. The resource applies to every query without limits of its
/// own; a weapon or a game mode may pass its own in [`QueryView::limits`](crate::QueryView::limits).
///
/// ```
/// use std::time::Duration;
///
/// use bevy::prelude::*;
/// use bevy_unlag_rewind::{CoverProtection, RewindLimits};
///
/// /// On the server: players on bad links must lead, and players in cover are safe sooner.
/// fn strict_limits() -> RewindLimits {
///     RewindLimits {
///         max_age: Duration::from_millis(250),
///         cover: Some(CoverProtection::default()),
///         ..default()
///     }
/// }
///
/// App::new().insert_resource(strict_limits());
/// ```
///
/// In the book: *Rewind and hit boxes*, `book/src/reference/rewind.md`.
#[doc(alias = "sv_maxunlag")]
#[derive(Resource, Clone, Copy, PartialEq, Debug, Serialize, Deserialize, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct RewindLimits {
    /// Whether to rewind. Default: [`RewindMode::On`].
    pub mode: RewindMode,
    /// Maximum age of a view, measured when the shot arrived. An older view is clamped to this age, and
    /// the result reports the clamping. Default: 400 ms. A round trip of 200 ms at 20 snapshots a second
    /// amounts to about 375 ms. A larger value lets players on worse links hit their targets, but also
    /// lets them hit players who have been in cover for longer, and it costs memory.
    pub max_age: Duration,
    /// Age beyond which a view is refused instead of clamped, because it dates from before an outage.
    /// Default: 1 s.
    pub refuse_beyond: Duration,
    /// Maximum distance in metres between a target's rewound position and its present one. A target that
    /// has moved further is not hit. Default: no limit.
    #[serde(with = "crate::checked_floats::limit")]
    pub max_distance: f32,
    /// Reduction of the rewind with the shooter's round trip. Default: none.
    pub high_ping: Option<HighPing>,
    /// Whether a target that has been despawned since can be hit where it was seen. Default: `true`. Its
    /// entity no longer exists, so the game decides what such a hit does.
    pub hit_despawned: bool,
    /// Protection of targets that have reached cover since the shooter's view. Default: off. If on, a hit
    /// with an old view costs up to one ray per hit box of the victim and tick of the grace period.
    pub cover: Option<CoverProtection>,
}

impl Default for RewindLimits {
    fn default() -> Self {
        Self {
            mode: RewindMode::On,
            max_age: Duration::from_millis(400),
            refuse_beyond: Duration::from_secs(1),
            max_distance: f32::INFINITY,
            high_ping: None,
            hit_despawned: true,
            cover: None,
        }
    }
}

/// Reduction of the rewind with the shooter's round trip, in favour of the targets: the accepted age of
/// the view decreases linearly from all of it at [`fade_from`](Self::fade_from) to zero at
/// [`stop_at`](Self::stop_at). With both values equal it is a hard cut, as in games that switch off
/// rewind above a certain ping.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, Reflect)]
pub struct HighPing {
    /// Round trip up to which the full age of a view is accepted.
    pub fade_from: Duration,
    /// Round trip from which on targets are posed as they are now.
    pub stop_at: Duration,
}

impl HighPing {
    /// Returns the fraction of a view's age that is accepted, 0 to 1.
    #[must_use]
    pub fn accepted_fraction(&self, round_trip: Duration) -> f64 {
        if round_trip <= self.fade_from {
            1.0
        } else if round_trip >= self.stop_at {
            0.0
        } else {
            let width = (self.stop_at - self.fade_from).as_secs_f64();
            (self.stop_at - round_trip).as_secs_f64() / width
        }
    }
}

/// Reason for which [`RewindLimits`] refuse a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RewindRefusal {
    /// The view is older than [`RewindLimits::refuse_beyond`], or dates from before [`MatchStart`].
    TooOld,
    /// The view lies ahead of the server's tick, so no client can have seen it.
    FromTheFuture,
}

/// Start of the current match. A view from before it is refused, whatever its age. `None` for the first
/// match. A transport that restarts matches sets it.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct MatchStart(pub Option<Tick>);

impl MatchStart {
    /// Returns whether `time` belongs to a previous match.
    #[must_use]
    pub fn is_before(self, time: ViewTime) -> bool {
        self.0.is_some_and(|start| time.since(ViewTime::at(start)) < 0)
    }
}

impl RewindLimits {
    /// Returns the moment at which to resolve a shot with a view at `time` that arrived in the tick
    /// `now`, from a shooter with this round trip.
    ///
    /// # Errors
    /// Returns the reason if the view is refused.
    pub fn validate(
        &self,
        time: ViewTime,
        now: Tick,
        tick_seconds: f32,
        round_trip: Option<Duration>,
    ) -> Result<ViewTime, RewindRefusal> {
        let now = ViewTime::at(now);
        let age = now.since(time);
        if age < 0 {
            return Err(RewindRefusal::FromTheFuture);
        }
        let max_age = sub_ticks(self.max_age, tick_seconds);
        if age > max_age && age > sub_ticks(self.refuse_beyond, tick_seconds) {
            return Err(RewindRefusal::TooOld);
        }
        let accepted_fraction = age.min(max_age);
        Ok(now.later(-self.faded(accepted_fraction, round_trip)))
    }

    /// Returns the oldest moment that is accepted for any target of a shot that arrived in the tick
    /// `now`.
    pub(crate) fn oldest_accepted(
        &self,
        now: Tick,
        tick_seconds: f32,
        round_trip: Option<Duration>,
    ) -> ViewTime {
        let oldest = sub_ticks(self.max_age, tick_seconds);
        ViewTime::at(now).later(-self.faded(oldest, round_trip))
    }

    /// Returns the part of an age that is accepted for this round trip.
    fn faded(&self, age: i64, round_trip: Option<Duration>) -> i64 {
        let Some((rule, round_trip)) = self.high_ping.zip(round_trip) else { return age };
        (age as f64 * rule.accepted_fraction(round_trip)) as i64
    }

    /// Returns the number of ticks to store for these limits.
    pub(crate) fn ticks(&self, tick_seconds: f32) -> i32 {
        let ticks = (sub_ticks(self.max_age, tick_seconds) + SUB_TICKS - 1) / SUB_TICKS;
        ticks.clamp(1, 1_000) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validate(limits: &RewindLimits, tick: u32, ping: u64) -> Result<ViewTime, RewindRefusal> {
        let ping = Some(Duration::from_millis(ping));
        limits.validate(ViewTime::at(Tick(tick)), Tick(1_000), 1.0 / 64.0, ping)
    }

    #[test]
    fn old_views_are_clamped_and_older_or_future_ones_refused() {
        let limits = RewindLimits::default();
        let at = |tick| Ok(ViewTime::at(Tick(tick)));
        assert_eq!(validate(&limits, 990, 0), at(990));
        let oldest = ViewTime::after(Tick(1_000), -25.6);
        assert!(validate(&limits, 970, 0).is_ok_and(|used| used.since(oldest).abs() <= 1), "clamped");
        assert_eq!(validate(&limits, 900, 0), Err(RewindRefusal::TooOld));
        assert_eq!(validate(&limits, 1_001, 0), Err(RewindRefusal::FromTheFuture));
    }

    #[test]
    fn views_from_before_the_match_start_are_recognised() {
        let at = |tick| ViewTime::at(Tick(tick));
        assert!(!MatchStart(None).is_before(at(0)));
        let start = MatchStart(Some(Tick(3)));
        assert!(start.is_before(at(2)) && start.is_before(at(u32::MAX)) && !start.is_before(at(3)));
    }

    #[test]
    fn rewind_fades_linearly_between_the_high_ping_bounds() {
        let high_ping =
            HighPing { fade_from: Duration::from_millis(100), stop_at: Duration::from_millis(200) };
        let limits = RewindLimits { high_ping: Some(high_ping), ..default() };
        let tick = |ping| validate(&limits, 980, ping).map(|time| time.tick.0);
        assert_eq!([tick(100), tick(150), tick(200), tick(900)], [Ok(980), Ok(990), Ok(1_000), Ok(1_000)]);
    }
}
