//! Tuning of prediction.

use bevy::prelude::*;

use crate::{SendRate, TimeDiscrepancyConfig};

/// Tuning of prediction, for client and server. Both should have the same.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct PredictionConfig {
    /// How far, in metres, the client's own result may be from the server's before the server
    /// corrects it. Default 0.0173, Unreal's `MAXPOSITIONERRORSQUARED` of 3 cm². Raising it saves
    /// corrections and lets the two drift further apart.
    pub tolerance: f32,
    /// Up to which difference, in metres, the server takes the client's end position over instead
    /// of correcting it, when nothing is in the way. Default 0, never. Raising it saves corrections
    /// and lets a cheat gain this much in every move. Unreal's
    /// `bServerAcceptClientAuthoritativePosition`.
    pub accept_client_position: f32,
    /// Server ticks between two acknowledgements to one client. Default 2. Raising it saves
    /// downstream bytes, and makes clients repeat moves that have long arrived.
    pub answer_interval: u32,
    /// Server ticks between two corrections of one client. Default 4, 62 ms at 64 Hz; Unreal waits
    /// 100 ms. Raising it saves downstream bytes and leaves the owner astray longer.
    pub correction_interval: u32,
    /// The error in metres from which on corrections are paced by
    /// [`answer_interval`](Self::answer_interval). Default 0.15, as in Unreal.
    pub large_error: f32,
    /// How long, in seconds, the server waits for a move that is due before it carries the pawn on
    /// without it: a lost move, or a silent client. Default 0.25, Unreal's
    /// `MAXCLIENTUPDATEINTERVAL`. Raising it forgives longer bursts of loss, and lets a client that
    /// withholds moves hang in the air longer and cover more ground at once.
    pub patience: f32,
    /// How long, in seconds, the moves of a silent client are waited for. After that its pawn is on its own: it falls,
    /// lands and rides lifts, and whoever comes back begins anew where it is. A pawn whose owner has never sent a move
    /// stays where it was put. Default 5; Unreal's
    /// `MaxClientForcedUpdateDuration` is 1. Raising it keeps up more of an outage that ends late.
    pub forced_update: f32,
    /// How long, in seconds, a pawn without moves goes on walking for the eyes of others before it
    /// lets go of the stick. Default 0.125. Raising it hides longer gaps and overshoots more stops.
    pub carry_axes: f32,
    /// Ticks of lateness that others see as lateness, not as a guess. Default 3, one snapshot.
    /// Raising it needs a longer playout delay to stay smooth.
    pub show_late: u32,
    /// The most ticks for which the server holds moves back so that jitter does not show. Default
    /// 12. Raising it hides more jitter and makes the pawn of a bad link act later.
    pub max_buffer: u32,
    /// How far, in seconds, a client's tick may be behind the server's. Default 3: a round trip of
    /// two seconds and its jitter. Raising it lets a client live further in the past of lifts.
    pub max_lag: f32,
    /// Ticks between the newest move heard and the one in which a push happens. Default 4. When it
    /// is longer than the round trip, the push is no surprise; raising it delays every push.
    pub push_lead: u32,
    /// Metres beyond which a correction is shown at once instead of eased; what the pawn can run
    /// between two answers comes on top. Default 2.56, Unreal's `NetworkMaxSmoothUpdateDistance`.
    pub snap_distance: f32,
    /// Whether a client's clock is steered by up to 5 % so that it does not drift away from the
    /// server's. Default true.
    pub steer_clock: bool,
    /// How often moves are sent.
    pub send: SendRate,
    /// What happens to clocks that run too fast.
    pub time: TimeDiscrepancyConfig,
}

impl Default for PredictionConfig {
    fn default() -> Self {
        Self {
            tolerance: 0.0173,
            accept_client_position: 0.0,
            answer_interval: 2,
            correction_interval: 4,
            large_error: 0.15,
            patience: 0.25,
            forced_update: 5.0,
            carry_axes: 0.125,
            show_late: 3,
            max_buffer: 12,
            max_lag: 3.0,
            push_lead: 4,
            snap_distance: 2.56,
            steer_clock: true,
            send: SendRate::default(),
            time: TimeDiscrepancyConfig::default(),
        }
    }
}

/// Whole ticks in a time; what is no time is none.
pub(crate) fn ticks(seconds: f32, dt: f32) -> i32 {
    // A NaN casts to 0.
    (seconds / dt).round().clamp(0.0, 100_000.0) as i32
}
