//! What prediction counts.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::Tick;

/// Counters of one pawn, on its owner's client; on the server only the first four move.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct PredictionStats {
    /// Moves made (client) or run (server).
    pub moves: u64,
    /// Bytes of move packets sent (client) or received (server).
    pub move_bytes: u64,
    /// Bytes of answers received (client) or sent (server).
    pub answer_bytes: u64,
    /// Messages that were no valid message.
    pub malformed: u64,
    /// Answers that said something new.
    pub answers: u64,
    /// Answers that put the pawn somewhere else than it was, teleports not counted.
    pub corrections: u64,
    /// The largest such error, in metres.
    pub largest_correction: f32,
    /// All such errors, in metres.
    pub summed_correction: f32,
    /// Moves that were made again.
    pub replayed: u64,
    /// The round trip, measured from answers to our own moves, smoothed over about a quarter of a
    /// second; frames of waiting on both sides included.
    pub rtt: Duration,
    sampled_at: f64,
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

    pub(crate) fn count_correction(&mut self, error: f32) {
        self.corrections += 1;
        self.largest_correction = self.largest_correction.max(error);
        self.summed_correction += error;
    }
}

/// Insert it on a pawn to have every move's result noted down: on the client as it was first
/// simulated, on the server as it was run. Comparing the two logs gives the owner's error at
/// equal move. Grows without bound: for measuring only.
#[derive(Component, Clone, Debug, Default)]
pub struct MoveTrace(pub Vec<(Tick, Vec3)>);
