//! Link conditioner: applies the conditions of one direction of a link to a stream of packets. Depends on
//! neither Bevy nor lightyear.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// Maximum number of packets that one [`Conditioner`] holds; further packets are dropped and counted in
/// [`LinkCounters::overflowed`].
pub const MAX_QUEUED: usize = 4096;

/// Upper bound of [`latency`](LinkConditions::latency), [`jitter`](LinkConditions::jitter),
/// [`reorder_delay`](LinkConditions::reorder_delay) and [`Pulse::latency`]; larger values are clamped.
pub const MAX_DELAY: Duration = Duration::from_secs(60);

/// Upper bound of the mean burst length, in packets.
const MAX_BURST: f32 = 10_000.0;

/// Longest queue in front of a rate-limited link.
const MAX_QUEUE_TIME: Duration = Duration::from_secs(1);

/// Conditions of one direction of a link. The default is a perfect link.
///
/// Probabilities are fractions from 0 to 1, not percent. Values out of range are harmless: a [`Conditioner`]
/// uses [`sanitised`](Self::sanitised) ones.
#[doc(alias = "LinkConditionerConfig")]
#[doc(alias = "FPacketSimulationSettings")]
#[doc(alias = "net_fakelag")]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "bevy", derive(bevy::prelude::Reflect))]
pub struct LinkConditions {
    /// One-way delay of every packet. Default 0.
    pub latency: Duration,
    /// Each packet's delay is [`latency`](Self::latency) ± a uniform random value up to this, never below
    /// zero. Default 0.
    ///
    /// Jitter alone never reorders: a packet with a short delay waits for the one before it, as in a queue on
    /// the route. With several packets within one jitter width the mean delay is therefore somewhat above
    /// `latency`. Use [`reorder`](Self::reorder) to let packets overtake each other.
    pub jitter: Duration,
    /// Mean fraction of packets lost, 0 to 1. Default 0.
    pub loss: f32,
    /// Mean number of packets lost in a row, at least 1. Default 1: losses are independent.
    ///
    /// Larger values make losses come in bursts at the same mean [`loss`](Self::loss): a Gilbert–Elliott
    /// channel that loses everything in the bad state and nothing in the good one. Independent losses already
    /// come in runs of 1/(1 − loss) on average; shorter runs are not possible.
    pub burst: f32,
    /// Fraction of delivered packets that arrive twice, 0 to 1. Default 0. The copy has its own jitter and
    /// arrives no earlier than the original; later packets may arrive before it.
    pub duplication: f32,
    /// Fraction of packets held back by [`reorder_delay`](Self::reorder_delay) so that later packets can
    /// overtake them, 0 to 1. Default 0.
    pub reorder: f32,
    /// Additional delay of a packet held back by [`reorder`](Self::reorder). Default 0, which disables
    /// reordering.
    pub reorder_delay: Duration,
    /// Rate limit in bytes per second; 0 means unlimited. Default 0. Excess packets queue for at most one
    /// second; beyond that they are dropped, as by a router. Needs the size of each packet, so use
    /// [`Conditioner::push_sized`]; `NetSim` of `bevy_unlag_lightyear` does.
    pub bytes_per_second: u32,
    /// Periodic degradation on top. Default `None`.
    pub pulse: Option<Pulse>,
}

/// Periodic degradation of a link, at the end of every [`period`](Self::period): a satellite handover, a
/// blackout, a lag switch.
///
/// Periods count from time zero, so a run starts undisturbed, and directions with the same pulse are
/// disturbed at the same times. Packets after a slow pulse wait for those in it, as with
/// [`LinkConditions::jitter`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "bevy", derive(bevy::prelude::Reflect))]
pub struct Pulse {
    /// Time from the start of one pulse to the start of the next. Zero disables the pulse.
    pub period: Duration,
    /// Duration of the pulse: the last part of each period; the whole period if this is longer.
    pub length: Duration,
    /// Latency added to [`LinkConditions::latency`] during the pulse.
    pub latency: Duration,
    /// Lower bound of [`LinkConditions::loss`] during the pulse, 0 to 1; 1 is a blackout.
    pub loss: f32,
}

impl Pulse {
    /// Returns this pulse with every value in its range, or `None` if its period is zero.
    fn sanitised(self) -> Option<Self> {
        let pulse = Self {
            period: self.period,
            length: self.length.min(self.period),
            latency: self.latency.min(MAX_DELAY),
            loss: fraction(self.loss),
        };
        (!self.period.is_zero()).then_some(pulse)
    }

    /// Whether `now` is within the pulse. The pulse must be sanitised.
    fn is_on(&self, now: Duration) -> bool {
        let calm = self.period.saturating_sub(self.length).as_nanos();
        now.as_nanos().checked_rem(self.period.as_nanos()).is_some_and(|phase| phase >= calm)
    }
}

impl LinkConditions {
    /// A perfect link: every packet arrives once, in order and immediately. Same as the default.
    pub const PERFECT: Self = Self {
        latency: Duration::ZERO,
        jitter: Duration::ZERO,
        loss: 0.0,
        burst: 1.0,
        duplication: 0.0,
        reorder: 0.0,
        reorder_delay: Duration::ZERO,
        bytes_per_second: 0,
        pulse: None,
    };

    /// Returns these conditions with every value in its range: NaN becomes the default, fractions are clamped
    /// to 0..=1, `burst` to at least 1, durations to [`MAX_DELAY`] and a pulse's length to its period. A
    /// pulse with a period of zero is removed.
    #[must_use]
    pub fn sanitised(self) -> Self {
        Self {
            latency: self.latency.min(MAX_DELAY),
            jitter: self.jitter.min(MAX_DELAY),
            loss: fraction(self.loss),
            burst: if self.burst.is_nan() { 1.0 } else { self.burst.clamp(1.0, MAX_BURST) },
            duplication: fraction(self.duplication),
            reorder: fraction(self.reorder),
            reorder_delay: self.reorder_delay.min(MAX_DELAY),
            bytes_per_second: self.bytes_per_second,
            pulse: self.pulse.and_then(Pulse::sanitised),
        }
    }

    /// Returns these conditions as they are at time `now`. They must be sanitised.
    fn at(mut self, now: Duration) -> Self {
        if let Some(pulse) = self.pulse.filter(|pulse| pulse.is_on(now)) {
            self.latency = self.latency.saturating_add(pulse.latency);
            self.loss = self.loss.max(pulse.loss);
        }
        self
    }
}

impl Default for LinkConditions {
    fn default() -> Self {
        Self::PERFECT
    }
}

/// Clamps `value` to 0..=1; NaN becomes 0.
fn fraction(value: f32) -> f32 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

/// Counters of a [`Conditioner`], in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets pushed.
    pub sent: u64,
    /// Packets popped, including copies.
    pub delivered: u64,
    /// Packets lost by [`LinkConditions::loss`] or a [`Pulse`].
    pub lost: u64,
    /// Copies made by [`LinkConditions::duplication`].
    pub duplicated: u64,
    /// Packets held back by [`LinkConditions::reorder`].
    pub reordered: u64,
    /// Packets and copies dropped because [`MAX_QUEUED`] packets were held already, or the queue of
    /// [`LinkConditions::bytes_per_second`] was a second long.
    pub overflowed: u64,
}

/// One direction of a simulated link: packets enter with [`push`](Self::push) and leave with
/// [`pop`](Self::pop) when they are due, unless they are lost.
///
/// The same seed and the same calls give the same result on targets of the same word size: the random
/// generator of 32-bit targets differs from that of 64-bit ones. Each packet draws the same number of random
/// values whatever the conditions, so for instance the jitter does not change which packets are lost.
///
/// Packets leave in the order in which they entered, except those held back by [`LinkConditions::reorder`]
/// and copies made by [`LinkConditions::duplication`]. A change of conditions applies to the next packet:
/// packets already held keep their due time, and the next one does not wait for them. The start or end of a
/// [`Pulse`] is not a change of conditions.
#[doc(alias = "LinkConditioner")]
#[derive(Debug)]
pub struct Conditioner<T> {
    rng: SmallRng,
    /// Held packets by due time; ties in push order.
    queue: BTreeMap<(Duration, u64), T>,
    serial: u64,
    /// Earliest due time of the next packet that is not held back.
    earliest_due: Duration,
    /// Time until which the rate-limited link is busy with previous packets.
    busy_until: Duration,
    /// Conditions of the last packet, to detect a change.
    last: LinkConditions,
    /// Whether the Gilbert–Elliott channel is in its losing state.
    losing: bool,
    counters: LinkCounters,
}

impl<T: Clone> Conditioner<T> {
    /// Creates an empty conditioner. All randomness comes from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            rng: SmallRng::seed_from_u64(seed),
            queue: BTreeMap::new(),
            serial: 0,
            earliest_due: Duration::ZERO,
            busy_until: Duration::ZERO,
            last: LinkConditions::PERFECT,
            losing: false,
            counters: LinkCounters::default(),
        }
    }

    /// Pushes a packet at time `now`, to be lost, delayed, held back or duplicated according to `conditions`.
    /// It counts as 0 bytes.
    pub fn push(&mut self, now: Duration, conditions: &LinkConditions, packet: T) {
        self.push_sized(now, conditions, packet, 0);
    }

    /// Pushes a packet of `bytes` bytes; the size only matters for [`LinkConditions::bytes_per_second`].
    pub fn push_sized(&mut self, now: Duration, conditions: &LinkConditions, packet: T, bytes: usize) {
        let conditions = conditions.sanitised();
        if conditions != self.last {
            self.last = conditions;
            self.earliest_due = Duration::ZERO;
        }
        let conditions = conditions.at(now);
        self.counters.sent = self.counters.sent.saturating_add(1);

        // Always all of them and in this order: see the type's documentation.
        let [loss, jitter, reorder, duplicate, copy_jitter]: [f64; 5] = self.rng.random();

        self.step_channel(&conditions, loss);
        if self.losing {
            self.counters.lost = self.counters.lost.saturating_add(1);
            return;
        }

        let Some(left) = self.leave(now, &conditions, bytes) else {
            self.counters.overflowed = self.counters.overflowed.saturating_add(1);
            return;
        };
        let in_order = delayed(left, &conditions, jitter).max(self.earliest_due);
        let held_back = !conditions.reorder_delay.is_zero() && reorder < f64::from(conditions.reorder);
        let due = if held_back {
            self.counters.reordered = self.counters.reordered.saturating_add(1);
            in_order.saturating_add(conditions.reorder_delay)
        } else {
            self.earliest_due = in_order;
            in_order
        };

        if duplicate < f64::from(conditions.duplication) {
            self.counters.duplicated = self.counters.duplicated.saturating_add(1);
            let copy = packet.clone();
            self.enqueue(due, packet);
            self.enqueue(delayed(left, &conditions, copy_jitter).max(due), copy);
        } else {
            self.enqueue(due, packet);
        }
    }

    /// Returns the time at which a packet has passed the rate limit; `None` if the queue is full.
    fn leave(&mut self, now: Duration, conditions: &LinkConditions, bytes: usize) -> Option<Duration> {
        if conditions.bytes_per_second == 0 {
            self.busy_until = Duration::ZERO;
            return Some(now);
        }
        let begins = self.busy_until.max(now);
        if begins - now > MAX_QUEUE_TIME {
            return None;
        }
        let takes = bytes as f64 / f64::from(conditions.bytes_per_second);
        self.busy_until = begins.saturating_add(Duration::try_from_secs_f64(takes).unwrap_or(MAX_DELAY));
        Some(self.busy_until)
    }

    /// Returns the next packet that is due at time `now`, if any. Call it until it returns `None`.
    pub fn pop(&mut self, now: Duration) -> Option<T> {
        let entry = self.queue.first_entry()?;
        let (due, _) = *entry.key();
        if due > now {
            return None;
        }
        self.counters.delivered = self.counters.delivered.saturating_add(1);
        Some(entry.remove())
    }

    /// Returns the number of packets held, at most [`MAX_QUEUED`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether no packet is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Drops all packets held. The random generator and the counters keep their state.
    pub fn clear(&mut self) {
        self.queue.clear();
        (self.earliest_due, self.busy_until) = (Duration::ZERO, Duration::ZERO);
    }

    /// Returns the counters so far.
    #[must_use]
    pub fn counters(&self) -> LinkCounters {
        self.counters
    }

    /// Advances the Gilbert–Elliott channel by one packet: it loses everything in the bad state and nothing
    /// in the good one, with the mean loss and mean burst length of `conditions`.
    fn step_channel(&mut self, conditions: &LinkConditions, draw: f64) {
        let loss = f64::from(conditions.loss);
        self.losing = if loss <= 0.0 {
            false
        } else if loss >= 1.0 {
            true
        } else {
            // With the shortest mean burst both probabilities are `loss`: independent losses.
            let burst = f64::from(conditions.burst).max(1.0 / (1.0 - loss));
            let recover = 1.0 / burst;
            let chance = if self.losing { 1.0 - recover } else { loss * recover / (1.0 - loss) };
            draw < chance
        };
    }

    fn enqueue(&mut self, due: Duration, packet: T) {
        if self.queue.len() >= MAX_QUEUED {
            self.counters.overflowed = self.counters.overflowed.saturating_add(1);
            return;
        }
        self.queue.insert((due, self.serial), packet);
        self.serial = self.serial.wrapping_add(1);
    }
}

/// Returns the arrival time of a packet sent at `now`, with the jitter drawn as `draw` from 0 to 1; never
/// before `now`.
fn delayed(now: Duration, conditions: &LinkConditions, draw: f64) -> Duration {
    let spread = conditions.jitter.mul_f64(2.0 * draw);
    let delay = conditions.latency.saturating_add(spread).saturating_sub(conditions.jitter);
    now.saturating_add(delay)
}

#[cfg(test)]
mod tests;
