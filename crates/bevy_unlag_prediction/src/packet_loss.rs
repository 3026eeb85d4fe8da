//! Packet loss measurement.

use bevy::prelude::*;
use bevy_unlag_core::Wire;

/// Level of packet loss on the uplink, as the server sends it to its client. It selects the redundancy of
/// move packets.
#[derive(Wire, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Reflect)]
pub struct LossLevel(#[wire(range = 0..=5)] u8);

impl LossLevel {
    /// Shares of lost packets at which the levels 1 to 5 begin.
    const STEPS: [f32; 5] = [0.003, 0.02, 0.06, 0.12, 0.25];
    /// Ages in ticks at which a move is sent again after its first packet. The last age of each level
    /// survives a burst of eight lost packets.
    const AGES: [&'static [u16]; 6] = [
        &[1, 9],
        &[1, 2, 9],
        &[1, 2, 4, 9],
        &[1, 2, 3, 6, 10],
        &[1, 2, 3, 4, 6, 9, 13],
        &[1, 2, 3, 4, 5, 6, 8, 10, 12, 14],
    ];

    /// Level assumed before the first measurement.
    pub const UNKNOWN: Self = Self(2);

    /// Returns the level of a share of lost packets, 0 to 1.
    #[must_use]
    pub fn of(lost: f32) -> Self {
        Self(Self::STEPS.iter().filter(|step| lost >= **step).count() as u8)
    }

    /// Returns the ages in ticks at which a move is sent again.
    #[must_use]
    pub fn ages(self) -> &'static [u16] {
        Self::AGES[usize::from(self.0).min(Self::AGES.len() - 1)]
    }
}

/// Loss meter that counts a client's packets by their sequence numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossMeter {
    newest: Option<u8>,
    /// Bit n: the n-th packet before the newest has arrived.
    arrived: u128,
    expected: u32,
    received: u32,
    share: Option<f32>,
}

impl LossMeter {
    const WINDOW: u32 = 64;

    /// Records the arrival of a packet.
    pub(crate) fn record(&mut self, sequence: u8) {
        let ahead = self.newest.map_or(1, |newest| sequence.wrapping_sub(newest));
        if (1..128).contains(&ahead) {
            self.newest = Some(sequence);
            self.expected += u32::from(ahead);
            self.arrived = self.arrived << ahead | 1;
        } else {
            let bit = 1 << ahead.wrapping_neg().min(127);
            if self.arrived & bit != 0 {
                // A duplicate.
                return;
            }
            self.arrived |= bit;
        }
        self.received += 1;
        if self.expected >= Self::WINDOW {
            let lost = 1.0 - (self.received as f32 / self.expected as f32).min(1.0);
            // Rises quickly, falls slowly.
            let old = self.share.unwrap_or(lost);
            self.share = Some(if lost > old { lost.midpoint(old) } else { old + (lost - old) * 0.15 });
            (self.expected, self.received) = (0, 0);
        }
    }

    /// Returns the share of lost packets, 0 to 1, or `None` before enough packets were sent.
    pub(crate) fn share(&self) -> Option<f32> {
        self.share
    }

    pub(crate) fn level(&self) -> LossLevel {
        self.share.map_or(LossLevel::UNKNOWN, LossLevel::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_is_measured_across_sequence_wraps_and_ignores_duplicates() {
        let mut meter = LossMeter::default();
        for i in 0..2_000_u32 {
            if i % 5 != 0 {
                meter.record(i as u8);
                meter.record(i as u8);
            }
            if i > 40 && (i - 40) % 5 != 0 {
                meter.record((i - 40) as u8);
            }
        }
        let share = meter.share().expect("2,000 packets were sent");
        assert!((share - 0.2).abs() < 0.04, "{share}");
        assert_eq!(meter.level(), LossLevel(4));
    }

    #[test]
    fn each_level_repeats_moves_beyond_a_burst_of_eight() {
        for level in 0..6 {
            let ages = LossLevel(level).ages();
            assert!(ages.iter().any(|age| *age > 8), "{ages:?}");
            assert!(ages.is_sorted());
        }
    }
}
