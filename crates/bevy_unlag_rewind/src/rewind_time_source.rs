//! Source of the rewind time of a shot.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{Tick, ViewTime, sub_ticks};

/// Source of the rewind time of a shot. [`RoundTrip`](Self::RoundTrip) and
/// [`PredictionTime`](Self::PredictionTime) are simpler schemes of other games, provided for comparison
/// and for transports that do not report view times. Neither includes the playout delay, so players have
/// to lead their targets by as much.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Reflect)]
pub enum RewindTimeSource {
    /// The view time that the shot carries, validated by [`ViewTimeValidator`](crate::ViewTimeValidator).
    #[default]
    Drawn,
    /// One round trip before the shot's arrival, as measured by the server. Equals the result for a
    /// client that sends its server time less a one-way trip.
    RoundTrip,
    /// Half of the round trip before the shot's arrival, less a fudge factor, up to a maximum: Unreal
    /// Tournament's `GetPredictionTime`. See [`RewindTimeSource::UNREAL_TOURNAMENT`].
    #[doc(alias = "GetPredictionTime")]
    PredictionTime {
        /// Time subtracted from the round trip first, for what the measurement itself adds.
        fudge: Duration,
        /// Maximum round trip that is compensated.
        max: Duration,
    },
}

impl RewindTimeSource {
    /// Unreal Tournament's values: a fudge factor of 20 ms and a maximum of 120 ms, so at most 60 ms of
    /// rewind.
    pub const UNREAL_TOURNAMENT: Self =
        Self::PredictionTime { fudge: Duration::from_millis(20), max: Duration::from_millis(120) };

    /// Returns the server's estimate of the view time for a shot that arrived at `arrived`; `None` for
    /// [`Drawn`](Self::Drawn), where the shot's own view time is used. Without a round trip it is the
    /// arrival.
    #[must_use]
    pub fn estimate(
        &self,
        arrived: Tick,
        round_trip: Option<Duration>,
        tick_seconds: f32,
    ) -> Option<ViewTime> {
        let round_trip = round_trip.unwrap_or_default();
        let back = match *self {
            Self::Drawn => return None,
            Self::RoundTrip => round_trip,
            Self::PredictionTime { fudge, max } => round_trip.saturating_sub(fudge).min(max) / 2,
        };
        Some(ViewTime::at(arrived).later(-sub_ticks(back, tick_seconds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_match_the_schemes_of_other_games() {
        let back = |source: RewindTimeSource, ms: u64| {
            let time = source.estimate(Tick(1_000), Some(Duration::from_millis(ms)), 1.0 / 64.0);
            time.map(|time| (-time.ticks_since(Tick(1_000)) * 1e3 / 64.0).round() as i64)
        };
        assert_eq!(back(RewindTimeSource::Drawn, 100), None);
        assert_eq!(back(RewindTimeSource::RoundTrip, 100), Some(100));
        let unreal = [10, 20, 100, 500].map(|ms| back(RewindTimeSource::UNREAL_TOURNAMENT, ms));
        assert_eq!(unreal, [Some(0), Some(0), Some(40), Some(60)]);
    }
}
