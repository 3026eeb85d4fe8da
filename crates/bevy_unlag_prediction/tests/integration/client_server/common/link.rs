//! One direction of the pipe: loss, delay, duplication and reordering of messages.

use core::time::Duration;
use std::collections::BTreeMap;

use rand::{Rng, SeedableRng, rngs::SmallRng};

/// Link conditions of one direction. Shares are 0 to 1, times are in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkProfile {
    pub delay: f64,
    /// Maximum deviation from the delay.
    pub jitter: f64,
    pub loss: f64,
    /// Mean length of a burst of losses (Gilbert-Elliott model); 0 for independent losses.
    pub burst: f64,
    pub duplication: f64,
    /// Share of messages that are held up, and the longest time of it.
    pub reordering: f64,
    pub reorder_delay: f64,
    /// Whether no message overtakes another.
    pub ordered: bool,
    /// Retransmission delay of a reliable, ordered channel: a lost message arrives this much later, and all
    /// messages behind it wait.
    pub resent_after: Option<f64>,
}

impl LinkProfile {
    pub const PERFECT: Self = Self {
        delay: 0.0,
        jitter: 0.0,
        loss: 0.0,
        burst: 0.0,
        duplication: 0.0,
        reordering: 0.0,
        reorder_delay: 0.0,
        ordered: false,
        resent_after: None,
    };
    pub const FIBRE: Self = Self { delay: 0.009, jitter: 0.001, loss: 0.001, ..Self::PERFECT };
    pub const BROADBAND: Self = Self { delay: 0.016, jitter: 0.006, loss: 0.01, ..Self::PERFECT };
    /// Unreal's "Average" and "Bad" network profiles.
    pub const AVERAGE: Self = Self { delay: 0.045, jitter: 0.015, loss: 0.01, ..Self::PERFECT };
    pub const BAD: Self = Self { delay: 0.15, jitter: 0.05, loss: 0.05, ..Self::PERFECT };

    pub fn late(delay: f64) -> Self {
        Self { delay, ..Self::PERFECT }
    }
}

/// One seeded direction. Equal seeds give equal conditions, and the fate of a message does not depend on
/// that of the others.
pub struct LinkDirection {
    pub profile: LinkProfile,
    /// Whether all messages are dropped.
    pub cut: bool,
    /// Number of next messages that are dropped.
    pub lose_next: u32,
    seed: u64,
    in_burst: bool,
    last_due: Duration,
    sent: u64,
    waiting: BTreeMap<(Duration, u64), Vec<u8>>,
}

impl LinkDirection {
    pub fn new(seed: u64, profile: LinkProfile) -> Self {
        Self {
            profile,
            cut: false,
            lose_next: 0,
            seed,
            in_burst: false,
            last_due: Duration::ZERO,
            sent: 0,
            waiting: BTreeMap::new(),
        }
    }

    fn loses(&mut self, dice: &mut SmallRng) -> bool {
        let LinkProfile { loss, burst, .. } = self.profile;
        let roll = dice.random::<f64>();
        if self.lose_next > 0 {
            self.lose_next -= 1;
            return true;
        }
        if burst <= 1.0 {
            return roll < loss;
        }
        let turn = if self.in_burst { 1.0 / burst } else { loss / (burst * (1.0 - loss).max(0.01)) };
        self.in_burst ^= roll < turn;
        self.in_burst
    }

    pub fn send(&mut self, now: Duration, bytes: Vec<u8>) {
        self.sent += 1;
        let mut dice = SmallRng::seed_from_u64(self.seed ^ (self.sent << 20));
        let lost = self.loses(&mut dice);
        let profile = self.profile;
        if self.cut || lost && profile.resent_after.is_none() {
            return;
        }
        let mut after = profile.delay + profile.jitter * (2.0 * dice.random::<f64>() - 1.0);
        let (held_up, by, twice, later) =
            (dice.random::<f64>(), dice.random::<f64>(), dice.random::<f64>(), dice.random::<f64>());
        if held_up < profile.reordering {
            after += profile.reorder_delay * by;
        }
        if lost {
            after += profile.resent_after.unwrap_or(0.0);
        }
        let mut due = now + Duration::from_secs_f64(after.max(0.0));
        if profile.ordered || profile.resent_after.is_some() {
            due = due.max(self.last_due);
            self.last_due = due;
        }
        if twice < profile.duplication {
            // A copy, at the same time or up to a tenth of a second later.
            let due = due + Duration::from_secs_f64((later - 0.5).max(0.0) * 0.2);
            self.waiting.insert((due, 2 * self.sent + 1), bytes.clone());
        }
        self.waiting.insert((due, 2 * self.sent), bytes);
    }

    /// Returns the messages that have arrived by `now`.
    pub fn arrived(&mut self, now: Duration) -> impl Iterator<Item = Vec<u8>> {
        let later = self.waiting.split_off(&(now, u64::MAX));
        core::mem::replace(&mut self.waiting, later).into_values()
    }
}
