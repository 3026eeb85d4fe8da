//! When packets arrive.

use core::time::Duration;

use bevy_unlag::link_conditioner::{Conditioner, LinkConditions};
use rand::{Rng, SeedableRng, rngs::SmallRng};

/// What is added to a packet's latency, in seconds.
#[derive(Clone, Copy, Debug)]
pub enum Jitter {
    /// Evenly from nothing to this.
    Uniform(f64),
    /// Mostly little: this on average, eight times that at most.
    Exponential(f64),
    /// Never quite nothing: the sum of three of an exponential, this on average.
    Gamma(f64),
}

impl Jitter {
    /// A draw, in seconds.
    pub fn draw(self, rng: &mut SmallRng) -> f64 {
        let mut exponential = |mean: f64| -mean * (1.0 - rng.random::<f64>()).ln();
        match self {
            Self::Uniform(most) => rng.random::<f64>() * most,
            Self::Exponential(mean) => exponential(mean).min(8.0 * mean),
            Self::Gamma(mean) => (0..3).map(|_| exponential(mean / 3.0)).sum(),
        }
    }
}

/// One way of a link of which every packet takes its own time, so that packets overtake each other.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Seconds that every packet takes.
    pub latency: f64,
    /// What comes on top.
    pub jitter: Jitter,
    /// The share of packets that are lost.
    pub loss: f64,
    /// How long a spell in which everything is lost lasts on average, in seconds; 0 for losses that know
    /// nothing of each other. A Gilbert-Elliott channel in time, so that it hits every send rate alike.
    pub spell: f64,
}

impl Way {
    /// Nothing but latency.
    pub const fn clean(latency: f64) -> Self {
        Self { latency, jitter: Jitter::Uniform(0.0), loss: 0.0, spell: 0.0 }
    }
}

/// A link from the server to a client.
#[derive(Clone, Copy, Debug)]
pub enum Link {
    /// By the lab.
    Way(Way),
    /// By the suite's own network simulation.
    Conditions(LinkConditions),
}

/// A packet that got through.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Seconds.
    pub at: f64,
    /// Which of the packets.
    pub packet: usize,
}

impl Link {
    /// When packets that are sent at these times arrive, soonest first; equal seeds, equal luck.
    pub fn arrivals(&self, sent: &[f64], seed: u64) -> Vec<Arrival> {
        let mut all = match self {
            Self::Way(way) => way.arrivals(sent, seed),
            Self::Conditions(conditions) => conditioned(conditions, sent, seed),
        };
        all.sort_by(|a, b| a.at.total_cmp(&b.at));
        all
    }
}

impl Way {
    fn arrivals(&self, sent: &[f64], seed: u64) -> Vec<Arrival> {
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x11);
        let (mut bad, mut last) = (false, 0.0);
        let mut all = Vec::with_capacity(sent.len());
        for (packet, &at) in sent.iter().enumerate() {
            // Always the same number of draws, so that loss does not change the jitter.
            let luck = rng.random::<f64>();
            let jitter = self.jitter.draw(&mut rng);
            let chance = if self.spell > 0.0 {
                // The longer ago, the less the last packet's fate says about this one's.
                let fade = (-(at - last) / (self.spell * (1.0 - self.loss))).exp();
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

/// To the millisecond.
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
    fn losses_and_spells_are_what_they_say() {
        let sent: Vec<f64> = (0..100_000).map(|k| f64::from(k) * 0.05).collect();
        for spell in [0.0, 0.15] {
            let way = Way { loss: 0.05, spell, ..Way::clean(0.02) };
            let arrived = Link::Way(way).arrivals(&sent, 7);
            let lost = 1.0 - arrived.len() as f64 / sent.len() as f64;
            assert!((lost - 0.05).abs() < 0.005, "{lost} lost");
            let runs = arrived.windows(2).filter(|pair| pair[1].packet > pair[0].packet + 1).count();
            let run = lost * sent.len() as f64 / runs as f64;
            let fade = if spell > 0.0 { (-0.05 / (spell * 0.95_f64)).exp() } else { 0.0 };
            let expected = 1.0 / (0.95 * (1.0 - fade));
            assert!((run - expected).abs() < 0.1, "{run} packets in a run, {expected} expected");
        }
    }

    #[test]
    fn jitter_has_the_mean_that_it_says() {
        let mut rng = SmallRng::seed_from_u64(1);
        for (jitter, mean) in
            [(Jitter::Uniform(0.066), 0.033), (Jitter::Exponential(0.01), 0.01), (Jitter::Gamma(0.01), 0.01)]
        {
            let sum: f64 = (0..50_000).map(|_| jitter.draw(&mut rng)).sum();
            assert!((sum / 50_000.0 - mean).abs() < mean * 0.03, "{jitter:?}: {}", sum / 50_000.0);
        }
    }
}
