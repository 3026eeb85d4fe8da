//! Round trip time between this machine and the owner of a pawn.

use core::time::Duration;

use bevy::prelude::*;

/// Round trip between this machine and the owner of a pawn, as measured by the transport. It is on the
/// server's pawn and on every link.
///
/// The network integration updates it from packet acknowledgements, never from values that a client reports
/// about itself. It is missing before the first acknowledgement and on pawns without a remote owner.
///
/// A client that delays its acknowledgements makes it longer, and no client can make it shorter than the
/// real latency: a cheater can only appear more distant.
#[doc(alias = "ping")]
#[doc(alias = "PingManager")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Component, Debug)]
pub struct RoundTrip {
    /// Round trip, smoothed over some packets and therefore including the mean jitter. It includes the wait
    /// for the next tick on either side.
    pub rtt: Duration,
    /// Mean deviation of single packets from `rtt`.
    pub jitter: Duration,
    /// Shortest round trip of the last 256 to 512 packets: the latency without jitter.
    pub min_rtt: Duration,
    /// Minimum and number of packets in the current window, and the minimum of the previous window.
    now: Duration,
    packets: u16,
    before: Duration,
}

impl RoundTrip {
    /// Packets per window.
    const WINDOW: u16 = 256;

    /// Creates an estimate from the round trip of the first packet.
    #[must_use]
    pub fn first(sample: Duration) -> Self {
        let (rtt, jitter, min_rtt) = (sample, sample / 4, sample);
        Self { rtt, jitter, min_rtt, now: sample, packets: 1, before: Duration::MAX }
    }

    /// Updates the estimate with the round trip of one packet.
    pub fn sample(&mut self, sample: Duration) {
        let off = self.rtt.abs_diff(sample);
        self.jitter = (self.jitter * 15 + off) / 16;
        self.rtt = (self.rtt * 7 + sample) / 8;
        if self.packets == Self::WINDOW {
            (self.before, self.now, self.packets) = (self.now, sample, 0);
        }
        self.packets += 1;
        self.now = self.now.min(sample);
        self.min_rtt = self.now.min(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_converges_to_mean_jitter_and_minimum() {
        let ms = Duration::from_millis;
        let mut trip = RoundTrip::first(ms(300));
        for i in 0..400 {
            trip.sample(if i % 2 == 0 { ms(90) } else { ms(110) });
        }
        assert!(trip.rtt.abs_diff(ms(100)) < ms(3), "{trip:?}");
        assert!(trip.jitter.abs_diff(ms(10)) < ms(3), "{trip:?}");
        assert_eq!(trip.min_rtt, ms(90));
        // A longer latency is noticed after a while, a shorter one at once.
        (0..512).for_each(|_| trip.sample(ms(150)));
        assert_eq!(trip.min_rtt, ms(150));
        trip.sample(ms(40));
        assert_eq!(trip.min_rtt, ms(40));
    }
}
