//! Where the moment at which a shot is judged comes from.

use core::time::Duration;

use bevy_unlag_core::{Tick, ViewTime, sub_ticks};

/// Where the moment at which a shot is judged comes from. Two simpler games' ways stand beside ours, to be
/// measured against and for transports that know nothing of what is drawn. Neither knows the playout delay, so
/// players have to lead by as much.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum StampSource {
    /// What the shooter's screen showed, as the shot says; checked by [`ViewLedger`](crate::ViewLedger).
    #[default]
    Drawn,
    /// A round trip before the shot arrived: what a client that sends its server time less a single trip
    /// arrives at, as the server itself measures it.
    RoundTrip,
    /// Half of the round trip before the shot arrived, less a fudge, up to a cap: Unreal Tournament's
    /// `GetPredictionTime`. See [`StampSource::UNREAL_TOURNAMENT`].
    #[doc(alias = "GetPredictionTime")]
    PredictionTime {
        /// What is taken off the round trip first: the time that measuring it adds.
        fudge: Duration,
        /// The longest round trip that counts.
        max: Duration,
    },
}

impl StampSource {
    /// Unreal Tournament's numbers: 20 ms of fudge, 120 ms at most, so 60 ms of rewind at most.
    pub const UNREAL_TOURNAMENT: Self =
        Self::PredictionTime { fudge: Duration::from_millis(20), max: Duration::from_millis(120) };

    /// The server's own idea of the moment of a shot that arrived at `arrived`; `None` where what the shot
    /// says counts. Without a round trip it is the arrival.
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
    fn the_simpler_sources_say_what_their_games_say() {
        let back = |source: StampSource, ms: u64| {
            let time = source.estimate(Tick(1_000), Some(Duration::from_millis(ms)), 1.0 / 64.0);
            time.map(|time| (-time.ticks_since(Tick(1_000)) * 1e3 / 64.0).round() as i64)
        };
        assert_eq!(back(StampSource::Drawn, 100), None);
        assert_eq!(back(StampSource::RoundTrip, 100), Some(100));
        let unreal = [10, 20, 100, 500].map(|ms| back(StampSource::UNREAL_TOURNAMENT, ms));
        assert_eq!(unreal, [Some(0), Some(0), Some(40), Some(60)]);
    }
}
