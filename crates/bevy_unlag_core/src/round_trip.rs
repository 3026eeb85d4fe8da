//! How far away the owner of a pawn is.

use core::time::Duration;

use bevy::prelude::*;

/// The round trip between this machine and the owner of a pawn, as the transport measures it; on the
/// server's pawn, and on every link. The network's glue keeps it up to date, from acknowledgements of packets and never from
/// what a client says about itself. There is none before the first acknowledgement, and none on pawns
/// without a remote owner.
///
/// A client that holds its acknowledgements back makes it longer, and nothing makes it shorter than the
/// way is: who lies about it can only pass for somebody further away.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoundTrip {
    /// Smoothed over some packets, so the mean of what jitter makes of it. Waiting for the next tick of
    /// either side is in it.
    pub rtt: Duration,
    /// How far single packets are from that, on average.
    pub jitter: Duration,
    /// The shortest of the last 256 to 512 packets: the way without jitter.
    pub least: Duration,
    /// The shortest of this window, how many packets are in it, and the shortest of the one before.
    now: Duration,
    packets: u16,
    before: Duration,
}

impl RoundTrip {
    /// Packets in a window.
    const WINDOW: u16 = 256;

    /// With the round trip of the first packet.
    #[must_use]
    pub fn first(sample: Duration) -> Self {
        let (rtt, jitter, least) = (sample, sample / 4, sample);
        Self { rtt, jitter, least, now: sample, packets: 1, before: Duration::MAX }
    }

    /// Takes in the round trip of one packet.
    pub fn sample(&mut self, sample: Duration) {
        let off = self.rtt.abs_diff(sample);
        self.jitter = (self.jitter * 15 + off) / 16;
        self.rtt = (self.rtt * 7 + sample) / 8;
        if self.packets == Self::WINDOW {
            (self.before, self.now, self.packets) = (self.now, sample, 0);
        }
        self.packets += 1;
        self.now = self.now.min(sample);
        self.least = self.now.min(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_settles_on_the_mean_and_on_how_far_off_packets_are() {
        let ms = Duration::from_millis;
        let mut trip = RoundTrip::first(ms(300));
        for i in 0..400 {
            trip.sample(if i % 2 == 0 { ms(90) } else { ms(110) });
        }
        assert!(trip.rtt.abs_diff(ms(100)) < ms(3), "{trip:?}");
        assert!(trip.jitter.abs_diff(ms(10)) < ms(3), "{trip:?}");
        assert_eq!(trip.least, ms(90));
        // A longer way is noticed, and a shorter one at once.
        (0..512).for_each(|_| trip.sample(ms(150)));
        assert_eq!(trip.least, ms(150));
        trip.sample(ms(40));
        assert_eq!(trip.least, ms(40));
    }
}
