//! Statistics of prediction.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::Tick;

use crate::cause::CorrectionCause;

/// Counters of one pawn, on its owner's client and on the server.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::LocalControl;
/// use bevy_unlag_prediction::PredictionStats;
///
/// /// On a client: prints how well its player's moves are predicted.
/// fn print_stats(own: Single<&PredictionStats, With<LocalControl>>) {
///     println!("round trip {} ms", own.rtt.as_millis());
///     println!("{} corrections by at most {:.2} m", own.corrections, own.largest_correction);
/// }
/// ```
///
/// In the book: *Diagnostics*, `book/src/reference/diagnostics.md`.
#[doc(alias = "PredictionMetrics")]
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct PredictionStats {
    /// Number of moves simulated (client) or run (server).
    pub moves: u64,
    /// Client: number of move packets sent.
    pub packets: u64,
    /// Bytes of move packets sent (client) or received (server).
    pub move_bytes: u64,
    /// Bytes of acknowledgements received (client) or sent (server).
    pub ack_bytes: u64,
    /// Number of received messages that were invalid.
    pub malformed: u64,
    /// Number of acknowledgements of further moves (client) or of all acknowledgements sent (server).
    pub acks: u64,
    /// Client: number of corrections that changed the pawn's state, without teleports and without
    /// [`server_changes`](Self::server_changes).
    pub corrections: u64,
    /// Number of those corrections and of changes by the server (client), or of acknowledgements with a correction
    /// (server), by [`CorrectionCause`] in the order of [`CorrectionCause::ALL`].
    pub by_cause: [u32; CorrectionCause::ALL.len()],
    /// Client: largest error of these corrections, in metres.
    pub largest_correction: f32,
    /// Client: sum of the errors of these corrections, in metres.
    pub summed_correction: f32,
    /// Client: number of replayed moves.
    pub replayed: u64,
    /// Client: number of moves in the last replay.
    pub last_replay: u32,
    /// Client: duration of the last replay.
    pub last_replay_time: Duration,
    /// Client: number of unacknowledged moves.
    pub unacknowledged_moves: u32,
    /// Client: number of moves dropped before their acknowledgement because
    /// [`SavedMoves`](crate::SavedMoves) was full.
    pub dropped_moves: u64,
    /// Client: number of pushes received after their move was simulated.
    pub late_pushes: u64,
    /// Client: number of moves whose repeated simulation had another result; counted with
    /// [`PredictionDebug::replay_every_move`](crate::PredictionDebug::replay_every_move).
    pub nondeterministic_moves: u64,
    /// Client: whether the server reports that this client's clock ran too fast and the time is being paid
    /// back.
    pub resolving: bool,
    /// Server: number of moves that did not arrive in time, for which the pawn was extrapolated.
    pub extrapolated_moves: u64,
    /// Server: number of received moves that were not run because the client's clock was too fast.
    pub withheld: u64,
    /// Server: number of end positions accepted from the client.
    pub accepted: u64,
    /// Server: largest delay of a move beyond its due time, in ticks.
    pub largest_delay: i32,
    /// Server: ticks from a move's own tick to the server tick in which it is due.
    pub delay: i32,
    /// Server: number of received moves that have not run yet.
    pub queued_moves: u32,
    /// Server: share of packets lost on the uplink, 0 to 1.
    pub loss: f32,
    /// Client: round trip, measured with acknowledgements of own moves and smoothed over about a quarter of
    /// a second. It includes the frames that both sides wait.
    pub rtt: Duration,
    pub(crate) sampled_at: f64,
}

impl PredictionStats {
    /// Seconds after which a sample has lost about two thirds of its weight.
    const RTT_MEMORY: f64 = 0.25;

    /// Adds a round trip measured at `now`, both in seconds. The smoothing is over time instead of samples,
    /// because a low frame rate yields few samples.
    pub(crate) fn sample_rtt(&mut self, sample: f64, now: f64) {
        let sample = sample.clamp(0.0, 60.0);
        let old = self.rtt.as_secs_f64();
        let weight = 1.0 - ((self.sampled_at - now).min(0.0) / Self::RTT_MEMORY).exp();
        let new = if self.sampled_at == 0.0 { sample } else { old + (sample - old) * weight };
        self.rtt = Duration::from_secs_f64(new);
        self.sampled_at = now;
    }

    pub(crate) fn count_correction(&mut self, error: f32, cause: CorrectionCause) {
        self.corrections += 1;
        self.largest_correction = self.largest_correction.max(error);
        self.summed_correction += error;
        self.count_cause(cause);
    }

    pub(crate) fn count_cause(&mut self, cause: CorrectionCause) {
        let count = &mut self.by_cause[cause as usize];
        *count = count.saturating_add(1);
    }

    /// Client: returns the number of changes of the pawn's state that the server ordered beside the moves, such as
    /// deaths and respawns. They are no corrections.
    #[must_use]
    pub fn server_changes(&self) -> u32 {
        self.corrections_of(CorrectionCause::ServerChange)
    }

    /// Returns the number of corrections with this cause.
    #[must_use]
    pub fn corrections_of(&self, cause: CorrectionCause) -> u32 {
        self.by_cause[cause as usize]
    }
}

/// Recording of each move's result, for pawns on which it is inserted: as first simulated on the client,
/// and as run on the server. Comparing the two gives the owner's error per move. It grows without bound and
/// is for measurements only.
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct MoveTrace(pub Vec<(Tick, Vec3)>);
