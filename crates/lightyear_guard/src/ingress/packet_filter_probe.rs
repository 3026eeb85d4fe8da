//! The packet filter without app and link, for fuzz targets.

use core::time::Duration;

use lightyear_transport::packet::fragment_size_for_min_mtu;

use super::{IngressLimits, IngressRefusal, channel_rules::ChannelRules, packet_filter::PacketFilter};

/// Longest packet of the link, in bytes.
const MTU: usize = 1_200;

/// The packet filter between one client and lightyear, with the rules of a small game: channel 0 is
/// unreliable, channel 1 reliable, channel 2 carries message 1, lightyear's ping; message 0 is the game's.
pub struct PacketFilterProbe {
    gate: PacketFilter,
    rules: ChannelRules,
    limits: IngressLimits,
    now: Duration,
}

impl Default for PacketFilterProbe {
    fn default() -> Self {
        Self {
            gate: PacketFilter::default(),
            rules: ChannelRules::example(),
            limits: IngressLimits::default(),
            now: Duration::ZERO,
        }
    }
}

impl PacketFilterProbe {
    /// Returns the limits in force.
    #[must_use]
    pub fn limits(&self) -> &IngressLimits {
        &self.limits
    }

    /// Advances time, as from one frame to the next.
    pub fn advance(&mut self, time: Duration) {
        self.now += time;
        self.gate.advance(&self.limits, time);
    }

    /// Checks whether a packet may pass now. Returns the number of messages and fragments in it.
    ///
    /// # Errors
    /// The reason for refusing it.
    pub fn check(&mut self, packet: &[u8]) -> Result<u32, IngressRefusal> {
        let sizes = (MTU, fragment_size_for_min_mtu(MTU));
        self.gate.check(packet, &self.rules, &self.limits, sizes, self.now).map(|cost| cost.messages)
    }
}
