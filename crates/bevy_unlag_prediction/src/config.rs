//! Configuration of prediction.

use bevy::prelude::*;

use crate::{send_rate::SendRate, time_discrepancy::TimeDiscrepancyConfig};

/// Configuration of prediction for client and server. It should be the same on both.
///
/// In the book: *Prediction*, `book/src/reference/prediction.md`.
#[doc(alias = "PredictionManager")]
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct PredictionConfig {
    /// Maximum distance in metres between the client's and the server's result of a move without a
    /// correction. Default 0.0173, Unreal's `MAXPOSITIONERRORSQUARED` of 3 cm². A larger value saves
    /// corrections and lets client and server drift further apart.
    #[doc(alias = "MAXPOSITIONERRORSQUARED")]
    pub tolerance: f32,
    /// Maximum distance in metres at which the server accepts the client's end position instead of
    /// correcting it, if nothing is in the way. Default 0, which disables it. A larger value saves
    /// corrections but lets a cheat gain this distance in every move. Unreal's
    /// `bServerAcceptClientAuthoritativePosition`.
    #[doc(alias = "bServerAcceptClientAuthoritativePosition")]
    pub accept_client_position: f32,
    /// Seconds between two acknowledgements to a client, at least a tick. Default 0.03125, two ticks at
    /// 64 Hz. A larger value saves downlink bytes, but clients repeat moves that have already arrived.
    pub ack_interval: f32,
    /// Seconds between two corrections of a client. Default 0.0625, four ticks at 64 Hz; Unreal waits 0.1.
    /// A larger value saves downlink bytes and leaves the owner mispredicted for longer.
    pub correction_interval: f32,
    /// Error in metres from which corrections are sent every [`ack_interval`](Self::ack_interval). Default
    /// 0.15, as in Unreal.
    pub large_error: f32,
    /// Seconds for which the server waits for a move that is due before it extrapolates the pawn without
    /// it, for a lost move as for a silent client. Default 0.25, Unreal's `MAXCLIENTUPDATEINTERVAL`. A
    /// larger value tolerates longer bursts of loss, and lets a client that withholds moves stay in the air
    /// longer and cover more ground at once.
    #[doc(alias = "MAXCLIENTUPDATEINTERVAL")]
    pub missing_move_timeout: f32,
    /// Seconds for which the server waits for the moves of a silent client, extrapolating its pawn move by
    /// move. After that the pawn falls, lands and rides lifts with neutral input, and a client that returns
    /// starts a new epoch where the pawn is. A pawn whose owner has never sent a move stays where it was
    /// spawned. Default 5; Unreal's `MaxClientForcedUpdateDuration` is 1. A larger value lets a client
    /// continue its epoch after a longer outage.
    #[doc(alias = "MaxClientForcedUpdateDuration")]
    pub forced_update: f32,
    /// Seconds for which a pawn with missing moves keeps walking on other clients' screens before its input
    /// becomes neutral. Default 0.125. A larger value hides longer gaps and overshoots more stops.
    pub input_hold: f32,
    /// Seconds by which moves may be late before other clients are shown an extrapolated copy of the pawn.
    /// Up to this, they receive its last state with a late tick. Default 0.046875: three ticks at 64 Hz, one
    /// snapshot. A larger value needs a longer playout delay (interpolation delay) to stay smooth.
    pub max_published_lateness: f32,
    /// Maximum time in seconds for which the server buffers moves to hide jitter. Default 0.1875, twelve
    /// ticks at 64 Hz. A larger value hides more jitter and makes the pawn of a bad link react later.
    #[doc(alias = "jitter buffer")]
    pub max_buffer: f32,
    /// Maximum time in seconds by which a client's tick may be behind the server's. Default 3: a round trip
    /// of two seconds and its jitter. A larger value lets a client see lifts further in the past.
    pub max_lag: f32,
    /// Seconds from the newest received move to the one in which a push is scheduled. Default 0.0625, four
    /// ticks at 64 Hz. If it is longer than the round trip, the owner predicts the push. A larger value
    /// delays every push.
    pub push_lead: f32,
    /// Correction distance in metres beyond which visuals snap instead of being eased, in addition to the
    /// distance that the pawn can run between two acknowledgements. Default 2.56, Unreal's
    /// `NetworkMaxSmoothUpdateDistance`.
    #[doc(alias = "NetworkMaxSmoothUpdateDistance")]
    pub snap_distance: f32,
    /// Whether a client's clock is steered by up to 6 % against drift from the server's. Default true.
    pub steer_clock: bool,
    /// Rate at which clients send moves.
    pub send: SendRate,
    /// Detection and resolution of clocks that run too fast.
    pub time: TimeDiscrepancyConfig,
}

impl Default for PredictionConfig {
    fn default() -> Self {
        Self {
            tolerance: 0.0173,
            accept_client_position: 0.0,
            ack_interval: 0.031_25,
            correction_interval: 0.062_5,
            large_error: 0.15,
            missing_move_timeout: 0.25,
            forced_update: 5.0,
            input_hold: 0.125,
            max_published_lateness: 0.046_875,
            max_buffer: 0.187_5,
            max_lag: 3.0,
            push_lead: 0.062_5,
            snap_distance: 2.56,
            steer_clock: true,
            send: SendRate::default(),
            time: TimeDiscrepancyConfig::default(),
        }
    }
}

/// Converts seconds to whole ticks; returns 0 for negative times and NaN.
pub(crate) fn ticks(seconds: f32, dt: f32) -> i32 {
    // A NaN casts to 0.
    (seconds / dt).round().clamp(0.0, 100_000.0) as i32
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::SimulationRate;

    use super::*;

    #[test]
    fn default_times_last_about_as_long_at_any_tick_rate() {
        let at = |hz: f64| {
            let (config, dt) = (PredictionConfig::default(), SimulationRate::from_hz(hz).tick_seconds());
            [
                config.ack_interval,
                config.correction_interval,
                config.max_published_lateness,
                config.max_buffer,
                config.push_lead,
            ]
            .map(|seconds| ticks(seconds, dt))
        };
        assert_eq!(at(20.0), [1, 1, 1, 4, 1]);
        assert_eq!(at(30.0), [1, 2, 1, 6, 2]);
        assert_eq!(at(60.0), [2, 4, 3, 11, 4]);
        assert_eq!(at(64.0), [2, 4, 3, 12, 4]);
        assert_eq!(at(128.0), [4, 8, 6, 24, 8]);
    }
}
