//! What prediction counts.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::Tick;

use crate::CorrectionCause;

/// Counters of one pawn, on its owner's client and on the server.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct PredictionStats {
    /// Moves made (client) or run (server).
    pub moves: u64,
    /// Move packets sent (client).
    pub packets: u64,
    /// Bytes of move packets sent (client) or received (server).
    pub move_bytes: u64,
    /// Bytes of answers received (client) or sent (server).
    pub answer_bytes: u64,
    /// Messages that were no valid message.
    pub malformed: u64,
    /// Answers that said something new (client) or were sent (server).
    pub answers: u64,
    /// Client: answers that put the pawn somewhere else than it was, teleports not counted.
    pub corrections: u64,
    /// Those corrections (client), or the answers that corrected (server), by
    /// [`CorrectionCause::index`].
    pub by_cause: [u32; CorrectionCause::ALL.len()],
    /// Client: the largest such error, in metres.
    pub largest_correction: f32,
    /// Client: all such errors, in metres.
    pub summed_correction: f32,
    /// Client: moves that were made again.
    pub replayed: u64,
    /// Client: how many moves the last replay made.
    pub last_replay: u32,
    /// Client: how long it took.
    pub last_replay_time: Duration,
    /// Client: moves that wait for an answer.
    pub unanswered: u32,
    /// Client: moves that were forgotten before they were answered, because there were too many.
    pub forgotten: u64,
    /// Client: pushes that it heard of after it had made their move.
    pub late_pushes: u64,
    /// Client: moves that another run of the same step did not lead to the same state; counted with
    /// [`PredictionDebug::replay_every_move`](crate::PredictionDebug::replay_every_move).
    pub unrepeatable: u64,
    /// Client: the server says that this clock is too fast and is being paid back.
    pub resolving: bool,
    /// Server: moves that did not arrive in time, which the pawn was carried on without.
    pub carried: u64,
    /// Server: moves that arrived and were not run, because the client's clock was too fast.
    pub withheld: u64,
    /// Server: end positions taken over from the client.
    pub accepted: u64,
    /// Server: the most ticks that a move was run after it was due.
    pub latest: i32,
    /// Server: the ticks after its own that a move is due in.
    pub delay: i32,
    /// Server: the share of packets lost on the way up, 0 to 1.
    pub loss: f32,
    /// Client: the round trip, measured from answers to our own moves, smoothed over about a quarter
    /// of a second; frames of waiting on both sides included.
    pub rtt: Duration,
    pub(crate) sampled_at: f64,
}

impl PredictionStats {
    /// Seconds after which a sample has lost about two thirds of its weight.
    const RTT_MEMORY: f64 = 0.25;

    /// Takes a round trip in that was measured at `now`, both in seconds. Smoothed over time, not
    /// over samples: few frames a second make few samples.
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
        if let Some(count) = self.by_cause.get_mut(cause.index()) {
            *count = count.saturating_add(1);
        }
    }

    /// The corrections of one cause.
    #[must_use]
    pub fn corrections_of(&self, cause: CorrectionCause) -> u32 {
        self.by_cause.get(cause.index()).copied().unwrap_or(0)
    }
}

/// Insert it on a pawn to have every move's result noted down: on the client as it was first
/// simulated, on the server as it was run. Comparing the two logs gives the owner's error at
/// equal move. Grows without bound: for measuring only.
#[derive(Component, Clone, Debug, Default)]
pub struct MoveTrace(pub Vec<(Tick, Vec3)>);
