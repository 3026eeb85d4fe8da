//! Debug switches that simulate packet loss and corrections, or leave out a part of prediction.

use bevy::prelude::*;

/// Switches for testing a game under bad conditions, and for showing what a part of prediction is for. All are off by
/// default. Unreal's `p.NetForceClientAdjustmentPercent` and `p.NetForceClientServerMoveLossPercent`.
#[doc(alias = "NetForceClientAdjustmentPercent")]
#[doc(alias = "NetForceClientServerMoveLossPercent")]
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct PredictionDebug {
    /// On a server: the share of acknowledgements, 0 to 1, that become corrections. Their state is the true
    /// one: a client that predicts well only replays.
    pub force_corrections: f32,
    /// On a client: the share of move packets, 0 to 1, that are dropped.
    pub drop_packets: f32,
    /// On a client: whether every acknowledged move is simulated again from its start state and compared with
    /// its result.
    /// [`PredictionStats::nondeterministic_moves`](crate::PredictionStats::nondeterministic_moves) counts the
    /// moves that differ. It detects steps that read something other than their arguments, at the cost of one
    /// more step per move.
    pub replay_every_move: bool,
    /// On a client: whether the own pawn is drawn where the newest acknowledged move ended, as in a game without
    /// prediction: its moves appear about a round trip after the input.
    pub draw_acknowledged: bool,
    /// On a client: whether a correction sets the pawn's state without replaying the unacknowledged moves, which
    /// throws the pawn back by about a round trip.
    pub skip_replay: bool,
    /// On a client: whether each move is sent in one packet only. The moves of a lost packet never arrive.
    pub send_moves_once: bool,
}

impl PredictionDebug {
    /// Returns whether the acknowledgement after this many becomes a correction.
    pub(crate) fn should_correct(&self, acks: u64) -> bool {
        is_nth(self.force_corrections, acks)
    }

    /// Returns whether the packet after this many is dropped.
    pub(crate) fn should_drop(&self, packets: u64) -> bool {
        is_nth(self.drop_packets, packets)
    }
}

/// Distributes a share evenly over a count.
fn is_nth(share: f32, count: u64) -> bool {
    let share = f64::from(share.clamp(0.0, 1.0));
    // A NaN casts to 0.
    ((count + 1) as f64 * share) as u64 > (count as f64 * share) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_of_a_count_is_distributed_exactly_and_nan_counts_as_zero() {
        for (share, expected) in [(0.0, 0), (0.1, 100), (0.37, 370), (1.0, 1_000), (f32::NAN, 0)] {
            assert_eq!((0..1_000).filter(|n| is_nth(share, *n)).count(), expected);
        }
    }
}
