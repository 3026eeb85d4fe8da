//! Simulated link with random packet delays that depend on the tick only: all packets of one tick share their
//! fate.

use core::time::Duration;
use std::collections::BTreeMap;

use rand::{Rng, SeedableRng, rngs::SmallRng};

use crate::scene::TICK;

/// Link conditions, the same in each direction.
#[derive(Clone, Copy)]
pub struct Link {
    /// Name as used in JSON keys.
    pub key: &'static str,
    /// Minimum one-way latency in seconds.
    pub latency: f64,
    /// Additional latency, uniform between zero and this number of seconds.
    pub jitter: f64,
    /// Fraction of lost packets.
    pub loss: f64,
}

/// Direction of a link.
#[derive(Clone, Copy)]
pub enum Direction {
    /// Uplink.
    Up,
    /// Downlink.
    Down,
}

impl Link {
    /// Returns the latency of a packet sent at `now`, or `None` if it is lost. Equal seeds give equal
    /// results.
    pub fn latency_or_loss(&self, way: Direction, now: Duration, seed: u64) -> Option<Duration> {
        let slot = (now.as_nanos() / TICK.as_nanos()) as u64;
        let mut rng =
            SmallRng::seed_from_u64(seed ^ ((slot << 1) | way as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (luck, jitter): (f64, f64) = (rng.random(), rng.random());
        (luck >= self.loss).then(|| Duration::from_secs_f64(self.latency + self.jitter * jitter))
    }
}

/// Packets in flight in one direction.
#[derive(Default)]
pub struct PacketQueue<T> {
    waiting: BTreeMap<(Duration, u64), T>,
    serial: u64,
}

impl<T> PacketQueue<T> {
    /// Adds a packet that arrives at `due`.
    pub fn push(&mut self, due: Duration, packet: T) {
        self.waiting.insert((due, self.serial), packet);
        self.serial += 1;
    }

    /// Returns the next packet that has arrived.
    pub fn pop(&mut self, now: Duration) -> Option<T> {
        let next = self.waiting.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(next.remove())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_one_tick_share_their_fate_and_those_of_other_ticks_do_not() {
        let link = Link { key: "", latency: 0.05, jitter: 0.066, loss: 0.05 };
        let latency_or_loss = |ms: u64, way| link.latency_or_loss(way, Duration::from_millis(ms), 7);
        assert_eq!(latency_or_loss(1_000, Direction::Down), latency_or_loss(1_002, Direction::Down));
        let fates: Vec<_> = (0..10_000).map(|k| latency_or_loss(k * 16, Direction::Down)).collect();
        let lost = fates.iter().filter(|latency_or_loss| latency_or_loss.is_none()).count();
        assert!((400..600).contains(&lost), "{lost} of 10,000 lost");
        let took = fates.iter().flatten().map(Duration::as_secs_f64);
        let mean = took.clone().sum::<f64>() / (10_000 - lost) as f64;
        assert!((mean - 0.083).abs() < 0.001 && took.clone().all(|t| (0.05..=0.116).contains(&t)), "{mean}");
        let other = (0..10_000)
            .filter(|k| latency_or_loss(k * 16, Direction::Up) == latency_or_loss(k * 16, Direction::Down))
            .count();
        assert!(other < 100, "{other} share their fate with the other direction");
    }

    #[test]
    fn packets_arrive_in_order_of_due_time() {
        let mut pipe = PacketQueue::default();
        let ms = Duration::from_millis;
        [(30, 'c'), (10, 'a'), (10, 'b')].into_iter().for_each(|(due, packet)| pipe.push(ms(due), packet));
        assert_eq!(pipe.pop(ms(9)), None);
        assert_eq!([pipe.pop(ms(20)), pipe.pop(ms(20)), pipe.pop(ms(20))], [Some('a'), Some('b'), None]);
        assert_eq!(pipe.pop(ms(30)), Some('c'));
    }
}
