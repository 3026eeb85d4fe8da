//! Downlink quality estimate from a client's acknowledgements.

use bevy_unlag_core::{SUB_TICKS, SnapshotAck, Tick};

use super::frame_lengths::FrameLengths;

/// Number of stored windows, and length of each in seconds: 16 s in total, longer than a client's playout
/// remembers gaps.
const WINDOWS: usize = 8;
const WINDOW_SECONDS: f32 = 2.0;
/// Number of longest gaps stored per window.
const LONGEST: usize = 3;
/// Number of gaps from which on the last of the [`LONGEST`] is used, since playout covers 97 % of gaps;
/// with fewer the longest is used.
const MANY: u32 = 100;
/// Seconds during which too little is known. Playout itself begins with a guess, and takes seconds to leave
/// it.
const WARM_UP_SECONDS: f32 = 5.0;
/// Length in seconds beyond which a gap is an outage, to which playout does not adapt.
const OUTAGE_SECONDS: f32 = 1.125;
/// Minimum rate at which excess delay decreases, in 1/256 of a tick per tick; playout at 1.028 is faster.
const MIN_RECOVERY: i64 = 4;
/// Ticks without a packet that are counted as time without a new snapshot.
const MAX_SILENT_TICKS: i32 = 1;
/// Limit for all tick differences, whatever a client sends.
const FAR: i32 = 1 << 20;

/// Durations above in ticks.
#[derive(Clone, Copy, Debug)]
struct Durations {
    tick_seconds: f32,
    window: i32,
    warm_up: i32,
    outage: i32,
}

impl Durations {
    fn new(tick_seconds: f32) -> Self {
        // A NaN casts to 0.
        let ticks = |seconds: f32| ((seconds / tick_seconds).round() as i32).clamp(1, FAR);
        Self {
            tick_seconds,
            window: ticks(WINDOW_SECONDS),
            warm_up: ticks(WARM_UP_SECONDS),
            outage: ticks(OUTAGE_SECONDS),
        }
    }
}

/// Those of the default tick rate.
impl Default for Durations {
    fn default() -> Self {
        Self::new(1.0 / 64.0)
    }
}

/// Measurements over a window of a client's ticks.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Smallest number of ticks from the newest received snapshot to the move that acknowledges it.
    least: i32,
    /// Smallest number of ticks from a move to its arrival at the server.
    up: i32,
    /// Smallest number of ticks between two received snapshots.
    spacing: i32,
    /// Largest ages of the newest snapshot just before the next one was received, in descending order.
    gaps: [i32; LONGEST],
    count: u32,
}

impl Default for Window {
    fn default() -> Self {
        Self { least: i32::MAX, up: i32::MAX, spacing: i32::MAX, gaps: [i32::MIN; LONGEST], count: 0 }
    }
}

/// Estimator that is fed with one packet after another.
#[derive(Clone, Debug, Default)]
pub(super) struct DownlinkEstimator {
    line: u8,
    durations: Durations,
    newest: Option<SnapshotAck>,
    /// Ticks since the first packet.
    lived: i32,
    windows: [Window; WINDOWS],
    /// Index of the window that is being filled, and its start.
    filling: usize,
    began: Tick,
    /// Gap that playout has to cover, in 1/256 of a tick; grows at once and shrinks slowly.
    covered: Option<i64>,
    /// Gap of all windows that playout has to cover, in ticks. Most packets change none of them.
    needed: Option<i32>,
    pub(super) frames: FrameLengths,
}

impl DownlinkEstimator {
    /// Returns whether `line` is the current connection line. If not, all measurements are reset.
    pub(super) fn on_line(&mut self, line: u8) -> bool {
        if self.line == line {
            return true;
        }
        *self = Self { line, durations: self.durations, ..Self::default() };
        false
    }

    /// Sets the length of a tick in seconds.
    pub(super) fn set_tick_seconds(&mut self, tick_seconds: f32) {
        if self.durations.tick_seconds != tick_seconds {
            self.durations = Durations::new(tick_seconds);
        }
    }

    /// Processes a packet. Packets that arrive out of order are ignored, except by the frame estimate.
    pub(super) fn take(&mut self, packet: SnapshotAck, hurried: bool) {
        self.frames.take(&packet, hurried);
        let Some(before) = self.newest else {
            self.began = packet.own;
            self.newest = Some(packet);
            self.measure(packet);
            return;
        };
        let passed = packet.own.since(before.own);
        if passed <= 0 {
            return;
        }
        self.lived = self.lived.saturating_add(passed);
        self.rotate_windows(packet.own);
        // A packet without an acknowledgement inherits the previous one.
        let packet = SnapshotAck {
            last_received_snapshot: packet.last_received_snapshot.or(before.last_received_snapshot),
            ..packet
        };
        self.newest = Some(packet);
        self.measure(packet);
        if let Some((old, new)) = before.last_received_snapshot.zip(packet.last_received_snapshot)
            && new.is_newer_than(old)
        {
            // Only as far as packets prove it: during a silence longer than a lost packet, the client may
            // have received the snapshot at once.
            let silent = (passed - 1).min(MAX_SILENT_TICKS);
            self.gap(before.own.offset(silent).since(old).clamp(-FAR, FAR), new.since(old));
        }
        let needed = self.needed.map(|gap| i64::from(gap) * SUB_TICKS);
        let kept = self.covered.map(|covered| covered - i64::from(passed) * MIN_RECOVERY);
        self.covered = kept.max(needed);
    }

    fn rotate_windows(&mut self, own: Tick) {
        let window = self.durations.window;
        let mut turns = own.since(self.began) / window;
        if turns > 0 {
            self.began = self.began.offset(turns * window);
        }
        if turns <= 0 {
            return;
        }
        while turns > 0 {
            turns = turns.min(WINDOWS as i32) - 1;
            self.filling = (self.filling + 1) % WINDOWS;
            self.windows[self.filling] = Window::default();
        }
        self.needed = self.needed_gap();
    }

    fn measure(&mut self, packet: SnapshotAck) {
        let window = &mut self.windows[self.filling];
        window.up = window.up.min(packet.arrived.since(packet.own).clamp(-FAR, FAR));
        if let Some(last_received_snapshot) = packet.last_received_snapshot {
            window.least = window.least.min(packet.own.since(last_received_snapshot).clamp(-FAR, FAR));
        }
    }

    fn gap(&mut self, gap: i32, spacing: i32) {
        let outage = self.least().is_some_and(|least| gap - least > self.durations.outage);
        let window = &mut self.windows[self.filling];
        window.spacing = window.spacing.min(spacing);
        if outage {
            return;
        }
        window.count = window.count.saturating_add(1);
        insert(&mut window.gaps, gap);
        self.needed = self.needed_gap();
    }

    /// Returns the gap that playout has to cover, in ticks.
    fn needed_gap(&self) -> Option<i32> {
        let mut longest = [i32::MIN; LONGEST];
        self.windows.iter().flat_map(|window| window.gaps).for_each(|gap| insert(&mut longest, gap));
        let gaps: u32 = self.windows.iter().map(|window| window.count).sum();
        let which = if gaps >= MANY { LONGEST - 1 } else { 0 };
        Some(longest[which]).filter(|gap| *gap > i32::MIN)
    }

    fn fewest(&self, of: impl Fn(&Window) -> i32) -> Option<i32> {
        self.windows.iter().map(of).min().filter(|fewest| *fewest < i32::MAX)
    }

    /// Returns whether too little is known yet.
    pub(super) fn is_young(&self) -> bool {
        self.lived < self.durations.warm_up
    }

    /// Returns the smallest number of ticks from the newest received snapshot to the move that
    /// acknowledges it: the downlink latency plus the offset between the two tick counts.
    pub(super) fn least(&self) -> Option<i32> {
        self.fewest(|window| window.least)
    }

    /// Returns the smallest number of ticks from a move to its arrival: the uplink latency less the
    /// offset between the tick counts.
    pub(super) fn up(&self) -> Option<i32> {
        self.fewest(|window| window.up)
    }

    /// Returns the smallest number of ticks between two snapshots.
    pub(super) fn spacing(&self) -> Option<i32> {
        self.fewest(|window| window.spacing)
    }

    /// Returns the delay behind the client's moves of a playout that covers all gaps, including the gap
    /// that is still open, in 1/256 of a tick.
    pub(super) fn covered(&self) -> Option<i64> {
        let open = self.newest.and_then(|newest| {
            let age = newest.own.since(newest.last_received_snapshot?).clamp(-FAR, FAR);
            (age - self.least()? <= self.durations.outage).then_some(i64::from(age) * SUB_TICKS)
        });
        self.covered.max(open)
    }
}

/// Inserts into a list in descending order and keeps the longest.
fn insert(longest: &mut [i32; LONGEST], gap: i32) {
    let at = longest.partition_point(|known| *known >= gap);
    if at < LONGEST {
        longest[at..].rotate_right(1);
        longest[at] = gap;
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    use super::*;

    /// Simulates a client whose moves acknowledge snapshots: one every three ticks, seven ticks late,
    /// some of them lost.
    fn meter(lost: impl Fn(i32) -> bool, ticks: i32, origin: Tick) -> DownlinkEstimator {
        let mut meter = DownlinkEstimator::default();
        let mut last_received_snapshot = None;
        for tick in 0..ticks {
            if (tick - 7) % 3 == 0 && !lost((tick - 7) / 3) {
                last_received_snapshot = Some(origin.offset(tick - 7));
            }
            let own = origin.offset(tick);
            meter.take(SnapshotAck { own, arrived: own.offset(4), last_received_snapshot }, false);
        }
        meter
    }

    #[test]
    fn clean_link_is_measured_to_the_tick_across_tick_wraparound() {
        for origin in [Tick(0), Tick(u32::MAX - 500)] {
            let meter = meter(|_| false, 2_000, origin);
            assert_eq!((meter.least(), meter.up(), meter.spacing()), (Some(7), Some(4), Some(3)));
            assert_eq!(meter.covered(), Some(9 * SUB_TICKS));
            assert!(!meter.is_young());
        }
    }

    #[test]
    fn repeated_losses_raise_the_covered_gap_and_are_forgotten_later() {
        let covered = |meter: &DownlinkEstimator| meter.covered().map_or(0, |gap| gap / SUB_TICKS);
        assert_eq!(covered(&meter(|_| false, 1_500, Tick(0))), 9);
        assert_eq!(covered(&meter(|k| k == 300, 1_500, Tick(0))), 9, "one loss in sixteen seconds");
        assert_eq!(covered(&meter(|k| k % 40 == 0, 1_500, Tick(0))), 12);
        assert_eq!(covered(&meter(|k| k < 200 && k % 40 == 0, 3_000, Tick(0))), 9);
        // An outage does not count as a gap.
        assert_eq!(covered(&meter(|k| (300..340).contains(&k), 1_500, Tick(0))), 9);
    }

    #[test]
    fn durations_are_the_same_time_at_every_tick_rate() {
        let ticks = |rate: f32| {
            let Durations { window, warm_up, outage, .. } = Durations::new(1.0 / rate);
            (window, warm_up, outage)
        };
        assert_eq!(ticks(64.0), (128, 320, 72));
        assert_eq!(ticks(128.0), (256, 640, 144));
        assert_eq!(ticks(20.0), (40, 100, 23));
        assert_eq!((ticks(0.0), ticks(f32::NAN)), ((1, 1, 1), (1, 1, 1)));
    }

    #[test]
    fn gap_of_a_second_counts_as_one_at_128_hz_and_a_longer_one_as_an_outage() {
        let covered = |ticks: i32, tick_seconds: f32| {
            let mut meter = DownlinkEstimator::default();
            meter.set_tick_seconds(tick_seconds);
            let is_lost = |snapshot: i32| (300..300 + ticks).contains(&snapshot);
            for tick in 7..600 {
                // A snapshot every ten ticks, seven ticks late.
                let last_received_snapshot = (0..=(tick - 7) / 10).rev().find(|number| !is_lost(number * 10));
                let last_received_snapshot = last_received_snapshot.map(|number| Tick(0).offset(number * 10));
                let own = Tick(0).offset(tick);
                meter.take(SnapshotAck { own, arrived: own, last_received_snapshot }, false);
            }
            (meter.covered().map_or(0, |gap| gap / SUB_TICKS), meter.is_young())
        };
        assert_eq!(covered(100, 1.0 / 64.0), (16, false), "100 ticks are 1.6 s: an outage");
        let (gap, is_young) = covered(100, 1.0 / 128.0);
        assert!(gap > 60 && is_young, "0.8 s are a gap, and 4.6 s are a short life: {gap}");
        assert_eq!(covered(200, 1.0 / 128.0).0, 16, "1.6 s are an outage");
    }

    #[test]
    fn pauses_in_sending_are_not_counted_as_gaps() {
        let last_received_snapshot = |own: Tick| Some(Tick(own.0 / 3 * 3));
        let mut meter = DownlinkEstimator::default();
        for k in 0..400 {
            for own in [Tick(100 + 15 * k), Tick(101 + 15 * k)] {
                meter.take(
                    SnapshotAck {
                        own,
                        arrived: own.offset(4),
                        last_received_snapshot: last_received_snapshot(own),
                    },
                    false,
                );
            }
        }
        assert!(meter.covered().is_some_and(|gap| gap <= 4 * SUB_TICKS), "{:?}", meter.covered());
    }

    #[test]
    fn arbitrary_packets_cause_no_overflow() {
        let mut meter = DownlinkEstimator::default();
        let mut rng = SmallRng::seed_from_u64(7);
        for _ in 0..200_000 {
            let last_received_snapshot = rng.random_bool(0.75).then(|| Tick(rng.random()));
            meter.take(
                SnapshotAck { own: Tick(rng.random()), arrived: Tick(rng.random()), last_received_snapshot },
                rng.random_bool(0.125),
            );
            assert!(meter.covered().is_none_or(|covered| covered.abs() < 1 << 40));
            assert_eq!(meter.needed, meter.needed_gap(), "stored when the windows changed");
        }
    }
}
