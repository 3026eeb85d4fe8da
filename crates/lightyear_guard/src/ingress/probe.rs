//! The second filter by itself, for fuzzers: no app, no link.

use core::time::Duration;

use lightyear_transport::packet::fragment_size_for_min_mtu;

use super::{IngressLimits, Refusal, gate::Gate, rules::Rules};

/// The longest packet of a link.
const MTU: usize = 1_200;

/// What stands between one client and lightyear, with a small game's rules: channel 0 is unreliable, 1 reliable and
/// 2 lightyear's own for message 1, a ping; message 0 is the game's.
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
    /// Its limits.
    #[must_use]
    pub fn limits(&self) -> &IngressLimits {
        &self.limits
    }

    /// Lets time pass, as from one frame to the next.
    pub fn pass(&mut self, time: Duration) {
        self.now += time;
        self.gate.pass(&self.limits, time);
    }

    /// Whether a packet may pass now. The messages and parts of messages in it.
    ///
    /// # Errors
    /// Why not.
    pub fn judge(&mut self, packet: &[u8]) -> Result<u32, Refusal> {
        let sizes = (MTU, fragment_size_for_min_mtu(MTU));
        self.gate.judge(packet, &self.rules, &self.limits, sizes, self.now).map(|cost| cost.messages)
    }
}
