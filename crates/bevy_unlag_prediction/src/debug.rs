//! Switches for tests: what a bad network and a disagreeing server do, on demand.

use bevy::prelude::*;

/// Switches for testing a game's own code against bad luck. All off by default; Unreal's
/// `p.NetForceClientAdjustmentPercent` and `p.NetForceClientServerMoveLossPercent`.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default)]
pub struct PredictionDebug {
    /// On a server: the share of acknowledgements, 0 to 1, that become corrections. The state in
    /// them is the true one: a client that predicts well replays and notices nothing else.
    pub force_corrections: f32,
    /// On a client: the share of move packets, 0 to 1, that are thrown away.
    pub lose_packets: f32,
    /// On a client: every answered move is made again from where it began and compared with what it
    /// led to: [`PredictionStats::unrepeatable`](crate::PredictionStats::unrepeatable) counts the
    /// ones that differ. It finds steps that read something else than their arguments. Costs a step
    /// a move.
    pub replay_every_move: bool,
}

impl PredictionDebug {
    /// Whether the answer after this many is to correct.
    pub(crate) fn corrects(&self, answers: u64) -> bool {
        is_nth(self.force_corrections, answers)
    }

    /// Whether the packet after this many is to be lost.
    pub(crate) fn loses(&self, packets: u64) -> bool {
        is_nth(self.lose_packets, packets)
    }
}

/// Spreads a share evenly over a count.
fn is_nth(share: f32, count: u64) -> bool {
    let share = f64::from(share.clamp(0.0, 1.0));
    // A NaN casts to 0.
    ((count + 1) as f64 * share) as u64 > (count as f64 * share) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_that_share() {
        for (share, expected) in [(0.0, 0), (0.1, 100), (0.37, 370), (1.0, 1_000), (f32::NAN, 0)] {
            assert_eq!((0..1_000).filter(|n| is_nth(share, *n)).count(), expected);
        }
    }
}
