//! Conditions of one direction of a link, applied to packets. No Bevy, no lightyear.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// The most packets one [`Conditioner`] holds; packets beyond it are dropped and counted in
/// [`LinkCounters::overflowed`].
pub const MAX_QUEUED: usize = 4096;

/// The longest [`latency`](LinkConditions::latency), [`jitter`](LinkConditions::jitter),
/// [`reorder_delay`](LinkConditions::reorder_delay) and [`Pulse::latency`] that is applied; longer
/// ones are cut to it.
pub const MAX_DELAY: Duration = Duration::from_secs(60);

/// The longest mean burst that is applied, in packets.
const MAX_BURST: f32 = 10_000.0;

/// How long what a line cannot carry queues in front of it.
const LONGEST_QUEUE: Duration = Duration::from_secs(1);

/// How one direction of a link treats its packets. The default is a perfect link.
///
/// Probabilities are fractions from 0 to 1, not percent. Values outside their range are harmless:
/// a [`Conditioner`] works with [`sanitised`](Self::sanitised) ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConditions {
    /// One-way delay of every packet. Default 0.
    pub latency: Duration,
    /// Each packet's delay is [`latency`](Self::latency) ± a uniform draw up to this, never below
    /// zero. Default 0.
    ///
    /// Jitter alone never reorders: a packet that drew a short delay waits for the one before it,
    /// as behind a queue on the route. With several packets inside one jitter width the mean delay
    /// therefore lies somewhat above `latency`. Use [`reorder`](Self::reorder) to have packets
    /// overtake each other.
    pub jitter: Duration,
    /// The fraction of packets lost, 0 to 1, in the long run. Default 0.
    pub loss: f32,
    /// Mean number of packets lost in a row, 1 or more. Default 1: losses are independent.
    ///
    /// Larger values make losses come in bursts (a Gilbert–Elliott channel that loses everything
    /// while bad and nothing while good) at the same mean [`loss`](Self::loss). Independent losses
    /// already come in runs of 1/(1 − loss) on average, and shorter runs than that are not made.
    pub burst: f32,
    /// The fraction of delivered packets that arrive twice, 0 to 1. Default 0. The copy draws its
    /// own jitter and comes no earlier than the original; later packets may come before it.
    pub duplication: f32,
    /// The fraction of packets held back by [`reorder_delay`](Self::reorder_delay) so that later
    /// ones can overtake them, 0 to 1. Default 0.
    pub reorder: f32,
    /// How much later a packet held back by [`reorder`](Self::reorder) arrives. Default 0, with
    /// which `reorder` does nothing.
    pub reorder_delay: Duration,
    /// What the line carries, in bytes a second; 0 is everything. Default 0. What is beyond queues in front of it, for
    /// a second at most; then it is dropped, as by a router. Whole datagrams count, by
    /// [`Conditioner::push_sized`].
    pub bytes_per_second: u32,
    /// What comes on top every now and then. Default `None`.
    pub pulse: Option<Pulse>,
}

/// Spells of worse conditions, one at the end of every [`period`](Self::period): the hand-over
/// between satellites, a blackout, a lag switch.
///
/// Periods count from time zero, so a run starts calm, and directions with the same pulse suffer at
/// the same moments. Packets that follow a slow spell wait for those in it, as with
/// [`LinkConditions::jitter`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pulse {
    /// From the start of one spell to the start of the next. With zero there are no spells.
    pub period: Duration,
    /// How long a spell lasts: the last part of each period, and all of it if this is longer.
    pub length: Duration,
    /// What a spell adds to [`LinkConditions::latency`].
    pub latency: Duration,
    /// What [`LinkConditions::loss`] is at least during a spell, 0 to 1; 1 is a blackout.
    pub loss: f32,
}

impl Pulse {
    /// This pulse with every value in its range, or none if its period is zero.
    fn sanitised(self) -> Option<Self> {
        let pulse = Self {
            period: self.period,
            length: self.length.min(self.period),
            latency: self.latency.min(MAX_DELAY),
            loss: fraction(self.loss),
        };
        (!self.period.is_zero()).then_some(pulse)
    }

    /// Whether `now` lies in a spell of this pulse, which is a sanitised one.
    fn is_on(&self, now: Duration) -> bool {
        let calm = self.period.saturating_sub(self.length).as_nanos();
        now.as_nanos().checked_rem(self.period.as_nanos()).is_some_and(|phase| phase >= calm)
    }
}

impl LinkConditions {
    /// A perfect link: everything arrives once, in order and at once. The same as the default.
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

    /// These conditions with every value in its range: NaN becomes the default, fractions are
    /// clamped to 0..=1, `burst` to at least 1, durations to [`MAX_DELAY`] and a pulse's length to
    /// its period. A pulse with a period of zero becomes none.
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

    /// These conditions, which are sanitised ones, as they are at time `now`.
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

/// `value` clamped to 0..=1, with 0 for NaN.
fn fraction(value: f32) -> f32 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

/// What a [`Conditioner`] has done so far, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets handed in.
    pub sent: u64,
    /// Packets handed out, copies included.
    pub delivered: u64,
    /// Packets lost by [`LinkConditions::loss`] or a [`Pulse`].
    pub lost: u64,
    /// Copies made by [`LinkConditions::duplication`].
    pub duplicated: u64,
    /// Packets held back by [`LinkConditions::reorder`].
    pub reordered: u64,
    /// Packets and copies dropped because [`MAX_QUEUED`] were already held, or a second's worth of
    /// [`LinkConditions::bytes_per_second`].
    pub overflowed: u64,
}

/// One direction of a simulated link: packets go in with [`push`](Self::push) and come out of
/// [`pop`](Self::pop) when they are due, if at all.
///
/// The same seed and the same calls give the same result. (On one word size: the generator of
/// 32-bit targets differs from that of 64-bit ones.) Each packet draws the same number of random
/// values whatever the conditions, so which packets are lost does not depend on, say, the jitter.
///
/// Packets leave in the order they went in, except those held back by [`LinkConditions::reorder`]
/// and copies made by [`LinkConditions::duplication`]. A change of conditions acts on the next
/// packet: those already held keep their due time, and the next one does not wait for them. A
/// [`Pulse`] that comes or goes is no change of conditions.
#[derive(Debug)]
pub struct Conditioner<T> {
    rng: SmallRng,
    /// Held packets by due time, ties in the order they were pushed.
    queue: BTreeMap<(Duration, u64), T>,
    serial: u64,
    /// No packet in order is due before this.
    floor: Duration,
    /// Until then the line is busy with what went in before.
    busy: Duration,
    /// The conditions of the last packet, to notice a change.
    last: LinkConditions,
    /// Whether the channel is in its losing state.
    losing: bool,
    counters: LinkCounters,
}

impl<T: Clone> Conditioner<T> {
    /// An empty conditioner whose randomness all comes from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            rng: SmallRng::seed_from_u64(seed),
            queue: BTreeMap::new(),
            serial: 0,
            floor: Duration::ZERO,
            busy: Duration::ZERO,
            last: LinkConditions::PERFECT,
            losing: false,
            counters: LinkCounters::default(),
        }
    }

    /// Hands in a packet at time `now`, to be lost, delayed, held back or duplicated according to
    /// `conditions`.
    pub fn push(&mut self, now: Duration, conditions: &LinkConditions, packet: T) {
        self.push_sized(now, conditions, packet, 0);
    }

    /// The same of a packet of so many bytes: how large it is matters to [`LinkConditions::bytes_per_second`] alone.
    pub fn push_sized(&mut self, now: Duration, conditions: &LinkConditions, packet: T, bytes: usize) {
        let conditions = conditions.sanitised();
        if conditions != self.last {
            self.last = conditions;
            self.floor = Duration::ZERO;
        }
        let conditions = conditions.at(now);
        self.counters.sent = self.counters.sent.saturating_add(1);

        // Always all of them, in this order: see the type's documentation.
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
        let in_order = delayed(left, &conditions, jitter).max(self.floor);
        let held_back = !conditions.reorder_delay.is_zero() && reorder < f64::from(conditions.reorder);
        let due = if held_back {
            self.counters.reordered = self.counters.reordered.saturating_add(1);
            in_order.saturating_add(conditions.reorder_delay)
        } else {
            self.floor = in_order;
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

    /// When a packet has got through the line, if there is still room in front of it.
    fn leave(&mut self, now: Duration, conditions: &LinkConditions, bytes: usize) -> Option<Duration> {
        if conditions.bytes_per_second == 0 {
            self.busy = Duration::ZERO;
            return Some(now);
        }
        let begins = self.busy.max(now);
        if begins - now > LONGEST_QUEUE {
            return None;
        }
        let takes = bytes as f64 / f64::from(conditions.bytes_per_second);
        self.busy = begins.saturating_add(Duration::try_from_secs_f64(takes).unwrap_or(MAX_DELAY));
        Some(self.busy)
    }

    /// The next packet that is due at time `now`, if any. Call until `None`.
    pub fn pop(&mut self, now: Duration) -> Option<T> {
        let entry = self.queue.first_entry()?;
        let (due, _) = *entry.key();
        if due > now {
            return None;
        }
        self.counters.delivered = self.counters.delivered.saturating_add(1);
        Some(entry.remove())
    }

    /// How many packets are held, at most [`MAX_QUEUED`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether no packet is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Drops every packet held. Randomness and counters carry on.
    pub fn clear(&mut self) {
        self.queue.clear();
        (self.floor, self.busy) = (Duration::ZERO, Duration::ZERO);
    }

    /// What has been done so far.
    #[must_use]
    pub fn counters(&self) -> LinkCounters {
        self.counters
    }

    /// Moves the Gilbert–Elliott channel on by one packet: losing everything while bad, nothing
    /// while good, with the mean loss and mean burst length of `conditions`.
    fn step_channel(&mut self, conditions: &LinkConditions, draw: f64) {
        let loss = f64::from(conditions.loss);
        self.losing = if loss <= 0.0 {
            false
        } else if loss >= 1.0 {
            true
        } else {
            // With the shortest mean burst both chances of losing are `loss`: independent losses.
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

/// When a packet sent at `now` arrives with jitter drawn as `draw`, from 0 to 1; never before `now`.
fn delayed(now: Duration, conditions: &LinkConditions, draw: f64) -> Duration {
    let spread = conditions.jitter.mul_f64(2.0 * draw);
    let delay = conditions.latency.saturating_add(spread).saturating_sub(conditions.jitter);
    now.saturating_add(delay)
}

#[cfg(test)]
mod tests;
