//! Packet arrival times on simulated links.

use crate::prelude::*;

/// Distribution of the time added to a packet's latency, in seconds.
#[derive(Clone, Copy, Debug)]
pub enum Jitter {
    /// Uniform between zero and the value.
    Uniform(f64),
    /// Exponential with this mean, limited to eight times the mean.
    Exponential(f64),
    /// Gamma with shape 3 and this mean: rarely near zero.
    Gamma(f64),
}

impl Jitter {
    /// Draws a time in seconds.
    pub fn draw(self, rng: &mut SmallRng) -> f64 {
        let mut exponential = |mean: f64| -mean * (1.0 - rng.random::<f64>()).ln();
        match self {
            Self::Uniform(most) => rng.random::<f64>() * most,
            Self::Exponential(mean) => exponential(mean).min(8.0 * mean),
            Self::Gamma(mean) => (0..3).map(|_| exponential(mean / 3.0)).sum(),
        }
    }
}

/// Direction of a link with independent packet delays, so that packets overtake each other.
#[derive(Clone, Copy, Debug)]
pub struct LinkDirection {
    /// Minimum one-way latency in seconds.
    pub latency: f64,
    /// Additional latency.
    pub jitter: Jitter,
    /// Fraction of lost packets.
    pub loss: f64,
    /// Average duration of a loss burst in seconds; 0 for independent losses. A Gilbert-Elliott channel in
    /// time, so that it affects every send rate alike.
    pub mean_burst_seconds: f64,
}

impl LinkDirection {
    /// Returns a direction with nothing but latency.
    pub const fn clean(latency: f64) -> Self {
        Self { latency, jitter: Jitter::Uniform(0.0), loss: 0.0, mean_burst_seconds: 0.0 }
    }
}

/// Downlink of a client.
#[derive(Clone, Copy, Debug)]
pub enum Link {
    /// Simulated by the lab.
    LinkDirection(LinkDirection),
    /// Simulated by the suite's link conditioner.
    Conditions(LinkConditions),
}

/// Packet that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Arrival time in seconds.
    pub at: f64,
    /// Index of the packet.
    pub packet: usize,
}

impl Link {
    /// Returns a link with nothing but latency.
    pub const fn clean(latency: f64) -> Self {
        Self::LinkDirection(LinkDirection::clean(latency))
    }

    /// Returns the arrivals of packets sent at these times in order of arrival. Equal seeds give equal
    /// results.
    pub fn arrivals(&self, sent: &[f64], seed: u64) -> Vec<Arrival> {
        let mut all = match self {
            Self::LinkDirection(way) => way.arrivals(sent, seed),
            Self::Conditions(conditions) => conditioned(conditions, sent, seed),
        };
        all.sort_by(|a, b| a.at.total_cmp(&b.at));
        all
    }
}

impl LinkDirection {
    fn arrivals(&self, sent: &[f64], seed: u64) -> Vec<Arrival> {
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x11);
        let (mut bad, mut last) = (false, 0.0);
        let mut all = Vec::with_capacity(sent.len());
        for (packet, &at) in sent.iter().enumerate() {
            // A constant number of draws per packet, so that loss does not change the jitter.
            let luck = rng.random::<f64>();
            let jitter = self.jitter.draw(&mut rng);
            let chance = if self.mean_burst_seconds > 0.0 {
                // The correlation with the previous packet's loss decays with the time since it.
                let fade = (-(at - last) / (self.mean_burst_seconds * (1.0 - self.loss))).exp();
                self.loss + (f64::from(u8::from(bad)) - self.loss) * fade
            } else {
                self.loss
            };
            (bad, last) = (luck < chance, at);
            if !bad {
                all.push(Arrival { at: at + self.latency + jitter, packet });
            }
        }
        all
    }
}

/// Simulates the suite's conditioner with a resolution of one millisecond.
fn conditioned(conditions: &LinkConditions, sent: &[f64], seed: u64) -> Vec<Arrival> {
    let mut channel = Conditioner::new(seed);
    let mut waiting = sent.iter().copied().enumerate().peekable();
    let mut all = Vec::with_capacity(sent.len());
    let end = sent.last().copied().unwrap_or(0.0) + 5.0;
    for ms in 0..(end * 1_000.0) as u64 {
        let now = Duration::from_millis(ms);
        while let Some((packet, at)) = waiting.next_if(|(_, at)| *at <= now.as_secs_f64()) {
            channel.push(Duration::from_secs_f64(at), conditions, packet);
        }
        while let Some(packet) = channel.pop(now) {
            all.push(Arrival { at: now.as_secs_f64(), packet });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_rate_and_burst_length_match_the_configuration() {
        let sent: Vec<f64> = (0..100_000).map(|k| f64::from(k) * 0.05).collect();
        for mean_burst_seconds in [0.0, 0.15] {
            let way = LinkDirection { loss: 0.05, mean_burst_seconds, ..LinkDirection::clean(0.02) };
            let arrived = Link::LinkDirection(way).arrivals(&sent, 7);
            let lost = 1.0 - arrived.len() as f64 / sent.len() as f64;
            assert!((lost - 0.05).abs() < 0.005, "{lost} lost");
            let runs = arrived.windows(2).filter(|pair| pair[1].packet > pair[0].packet + 1).count();
            let run = lost * sent.len() as f64 / runs as f64;
            let fade =
                if mean_burst_seconds > 0.0 { (-0.05 / (mean_burst_seconds * 0.95_f64)).exp() } else { 0.0 };
            let expected = 1.0 / (0.95 * (1.0 - fade));
            assert!((run - expected).abs() < 0.1, "{run} packets per loss burst, expected {expected}");
        }
    }

    #[test]
    fn jitter_distributions_have_the_configured_mean() {
        let mut rng = SmallRng::seed_from_u64(1);
        for (jitter, mean) in
            [(Jitter::Uniform(0.066), 0.033), (Jitter::Exponential(0.01), 0.01), (Jitter::Gamma(0.01), 0.01)]
        {
            let sum: f64 = (0..50_000).map(|_| jitter.draw(&mut rng)).sum();
            assert!((sum / 50_000.0 - mean).abs() < mean * 0.03, "{jitter:?}: {}", sum / 50_000.0);
        }
    }
}
