//! Tuning of prediction.

use bevy::prelude::*;

/// Tuning of prediction, for client and server.
#[derive(Resource, Clone, Copy, Debug)]
pub struct PredictionConfig {
    /// How many of the newest unanswered moves a packet carries. Default 8: a run of seven lost
    /// packets loses no move. Raising it costs upstream bytes, about two a move that turns.
    pub moves_per_packet: usize,
    /// How far, in metres, the client's own result may be from the server's before the server
    /// corrects it. Default 0.0173, Unreal's `MAXPOSITIONERRORSQUARED` of 3 cm². Raising it saves
    /// corrections and lets the two drift further apart.
    pub tolerance: f32,
    /// Server ticks between two answers to one client. Default 2. Raising it saves downstream
    /// bytes and lengthens the list of unanswered moves.
    pub answer_interval: u32,
    /// How many moves beyond one a server tick a client may have run at once, after a silence.
    /// Default 32, half a second at 64 Hz. Raising it forgives longer outages, and lets a client
    /// that withholds moves cover more ground in an instant.
    pub max_credit: f32,
    /// How much faster than the server a client's clock may run for good. Default 0.01.
    pub clock_drift: f32,
    /// Metres beyond which a correction is shown at once instead of eased. Default 2.56, as
    /// Unreal's `NetworkMaxSmoothUpdateDistance`.
    pub snap_distance: f32,
}

impl Default for PredictionConfig {
    fn default() -> Self {
        Self {
            moves_per_packet: 8,
            tolerance: 0.0173,
            answer_interval: 2,
            max_credit: 32.0,
            clock_drift: 0.01,
            snap_distance: 2.56,
        }
    }
}
