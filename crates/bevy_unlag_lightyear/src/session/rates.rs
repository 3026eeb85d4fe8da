//! Comparison of the rates of client and server.

use core::{fmt, time::Duration};

use bevy::{ecs::message::Message, prelude::*};
use bevy_unlag_core::SimulationRate;

/// Policy of a client when it joins a server. May be changed at any time.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct JoinConfig {
    /// Whether to stay on a server with another tick or snapshot rate. Default: `false`. Such a client is
    /// corrected all the time, and most of its hits are refused: it is for measurements only.
    pub allow_other_rates: bool,
}

/// Client and server have different rates. Written once on the client, right after it has connected; the
/// connection is then closed, unless [`JoinConfig::allow_other_rates`] is set. `Display` says what to do.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct RateMismatch {
    /// The server's rates.
    pub server: SimulationRate,
    /// This client's rates.
    pub client: SimulationRate,
}

impl RateMismatch {
    /// Returns the mismatch of two rates, if there is one.
    pub(super) fn between(server: SimulationRate, client: SimulationRate) -> Option<Self> {
        let differ =
            durations_differ(server.tick, client.tick) || server.snapshot_ticks != client.snapshot_ticks;
        differ.then_some(Self { server, client })
    }
}

impl fmt::Display for RateMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = |rate: &SimulationRate| {
            let [tick, snapshot] = [rate.tick, rate.snapshot_interval()].map(|time| time.as_secs_f64() * 1e3);
            format!("{tick:.3} ms a tick and {snapshot:.3} ms a snapshot")
        };
        write!(
            f,
            "the server has {}, this client {}: pass the same SimulationRate to UnlagServerPlugins and \
             UnlagClientPlugins",
            rate(&self.server),
            rate(&self.client)
        )
    }
}

/// Whether two durations differ by more than rounding (0.01 %).
pub(crate) fn durations_differ(a: Duration, b: Duration) -> bool {
    a.abs_diff(b) > a.max(b) / 10_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_that_differ_by_rounding_only_are_equal() {
        let tick = Duration::from_secs_f64(1.0 / 60.0);
        assert!(!durations_differ(tick, Duration::from_secs_f32(tick.as_secs_f32())));
        assert!(durations_differ(tick, Duration::from_nanos(15_625_000)));
        assert!(durations_differ(tick, Duration::ZERO));
    }

    #[test]
    fn either_rate_makes_a_mismatch_and_the_sentence_names_both() {
        let usual = SimulationRate::default();
        assert_eq!(RateMismatch::between(usual, usual), None);
        let ticks = RateMismatch::between(SimulationRate::from_hz(30.0), usual).expect("they differ");
        let line = ticks.to_string();
        assert!(line.contains("has 33.333 ms a tick") && line.contains("this client 15.625 ms"), "{line}");
        let slower = SimulationRate { snapshot_ticks: 6, ..usual };
        assert!(RateMismatch::between(usual, slower).is_some());
    }
}
