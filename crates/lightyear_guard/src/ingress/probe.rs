//! The packet filter without app and link, for fuzz targets.

use core::time::Duration;

use lightyear_transport::packet::fragment_size_for_min_mtu;

use super::{IngressLimits, Refusal, gate::Gate, rules::Rules};

/// Longest packet of the link, in bytes.
const MTU: usize = 1_200;

/// The packet filter between one client and lightyear, with the rules of a small game: channel 0 is
/// unreliable, channel 1 reliable, channel 2 carries message 1, lightyear's ping; message 0 is the game's.
pub struct GateProbe {
    gate: Gate,
    rules: Rules,
    limits: IngressLimits,
    now: Duration,
}

impl Default for GateProbe {
    fn default() -> Self {
        Self {
            gate: Gate::default(),
            rules: Rules::example(),
            limits: IngressLimits::default(),
            now: Duration::ZERO,
        }
    }
}

impl GateProbe {
    /// Returns the limits in force.
    #[must_use]
    pub fn limits(&self) -> &IngressLimits {
        &self.limits
    }

    /// Advances time, as from one frame to the next.
    pub fn pass(&mut self, time: Duration) {
        self.now += time;
        self.gate.pass(&self.limits, time);
    }

    /// Checks whether a packet may pass now. Returns the number of messages and fragments in it.
    ///
    /// # Errors
    /// The reason for refusing it.
    pub fn judge(&mut self, packet: &[u8]) -> Result<u32, Refusal> {
        let sizes = (MTU, fragment_size_for_min_mtu(MTU));
        self.gate.judge(packet, &self.rules, &self.limits, sizes, self.now).map(|cost| cost.messages)
    }
}
