//! What a client's acknowledgements say of its way down.

use bevy_unlag_core::{HeardPacket, SUB_TICKS, Tick};

use super::frames::Frames;

/// Windows that are remembered, and how many ticks each is long: 16 s at 64 Hz, longer than a client's
/// playout remembers gaps.
const WINDOWS: usize = 8;
const WINDOW_TICKS: i32 = 128;
/// The longest gaps that a window remembers.
const LONGEST: usize = 3;
/// With fewer gaps than this the longest of them counts; with more the last of the [`LONGEST`], for playout
/// covers 97 of 100.
const MANY: u32 = 100;
/// Ticks for which little is known: playout itself begins with a guess, and takes seconds to leave it.
const YOUNG: i32 = 320;
/// A gap longer than this is an outage, which no playout learns from.
const OUTAGE: i32 = 72;
/// A delay that is no longer needed is given back at least this fast, in 1/256 of a tick a tick: playout at
/// 1.028 does it faster.
const GIVEN_BACK: i64 = 4;
/// Ticks without a packet for which a client is taken to have heard of nothing.
const LOST: i32 = 1;
/// No number in here is larger, whatever a client says.
const FAR: i32 = 1 << 20;

/// A stretch of a client's time.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Ticks from the newest snapshot heard to the move that says so: the fewest.
    least: i32,
    /// Ticks from a move to its arrival at the server: the fewest.
    up: i32,
    /// Ticks from one snapshot heard to the next: the fewest.
    spacing: i32,
    /// How old the newest snapshot was right before the next one was heard of: the longest, longest first.
    gaps: [i32; LONGEST],
    count: u32,
}

impl Window {
    const EMPTY: Self =
        Self { least: i32::MAX, up: i32::MAX, spacing: i32::MAX, gaps: [i32::MIN; LONGEST], count: 0 };
}

/// What one packet after the other says.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    line: u8,
    newest: Option<HeardPacket>,
    /// Ticks since the first packet.
    lived: i32,
    windows: [Window; WINDOWS],
    /// The window that is being filled, and when it began.
    filling: usize,
    began: Tick,
    /// The gap that playout has to cover, in 1/256 of a tick: it grows at once and shrinks slowly.
    covered: Option<i64>,
    frames: Frames,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            line: 0,
            newest: None,
            lived: 0,
            windows: [Window::EMPTY; WINDOWS],
            filling: 0,
            began: Tick(0),
            covered: None,
            frames: Frames::default(),
        }
    }
}

impl Meter {
    /// Whether this is the line that the packets were on so far. If not, all that was known is of no use.
    pub(super) fn on_line(&mut self, line: u8) -> bool {
        if self.line == line {
            return true;
        }
        *self = Self { line, ..Self::default() };
        false
    }

    /// A packet came. One that was overtaken teaches nothing.
    pub(super) fn take(&mut self, packet: HeardPacket, hurried: bool) {
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
        self.turn(packet.own);
        // What one packet forgot to say, the one before may have said.
        let packet = HeardPacket { heard: packet.heard.or(before.heard), ..packet };
        self.newest = Some(packet);
        self.measure(packet);
        if let Some((old, new)) = before.heard.zip(packet.heard)
            && new.is_newer_than(old)
        {
            // As far as packets say so: who is silent for longer than a packet was lost may have heard of it
            // at once.
            let silent = (passed - 1).min(LOST);
            self.gap(before.own.offset(silent).since(old).clamp(-FAR, FAR), new.since(old));
        }
        let needed = self.needed().map(|gap| i64::from(gap) * SUB_TICKS);
        let kept = self.covered.map(|covered| covered - i64::from(passed) * GIVEN_BACK);
        self.covered = kept.max(needed);
    }

    fn turn(&mut self, own: Tick) {
        let mut turns = own.since(self.began) / WINDOW_TICKS;
        if turns > 0 {
            self.began = self.began.offset(turns * WINDOW_TICKS);
        }
        while turns > 0 {
            turns = turns.min(WINDOWS as i32) - 1;
            self.filling = (self.filling + 1) % WINDOWS;
            self.windows[self.filling] = Window::EMPTY;
        }
    }

    fn measure(&mut self, packet: HeardPacket) {
        let window = &mut self.windows[self.filling];
        window.up = window.up.min(packet.arrived.since(packet.own).clamp(-FAR, FAR));
        if let Some(heard) = packet.heard {
            window.least = window.least.min(packet.own.since(heard).clamp(-FAR, FAR));
        }
    }

    fn gap(&mut self, gap: i32, spacing: i32) {
        let outage = self.least().is_some_and(|least| gap - least > OUTAGE);
        let window = &mut self.windows[self.filling];
        window.spacing = window.spacing.min(spacing);
        if outage {
            return;
        }
        window.count = window.count.saturating_add(1);
        insert(&mut window.gaps, gap);
    }

    /// The gap that playout has to cover, in ticks.
    fn needed(&self) -> Option<i32> {
        let mut longest = [i32::MIN; LONGEST];
        self.windows.iter().flat_map(|window| window.gaps).for_each(|gap| insert(&mut longest, gap));
        let which = if self.gaps() >= MANY { LONGEST - 1 } else { 0 };
        Some(longest[which]).filter(|gap| *gap > i32::MIN)
    }

    fn gaps(&self) -> u32 {
        self.windows.iter().map(|window| window.count).sum()
    }

    fn fewest(&self, of: impl Fn(&Window) -> i32) -> Option<i32> {
        self.windows.iter().map(of).min().filter(|fewest| *fewest < i32::MAX)
    }

    /// The longest of this client's frames that are usual, in ticks of its own.
    pub(super) fn frame(&self) -> u8 {
        self.frames.longest_usual()
    }

    /// How many ticks the frame had in which a move was made; 0 when that is not known.
    pub(super) fn frame_of(&self, own: Tick) -> u8 {
        self.frames.of(own)
    }

    /// Whether little is known.
    pub(super) fn is_young(&self) -> bool {
        self.lived < YOUNG
    }

    /// Ticks from the newest snapshot heard to the move that says so, at best: the way down, and how far
    /// the two counts of ticks are apart.
    pub(super) fn least(&self) -> Option<i32> {
        self.fewest(|window| window.least)
    }

    /// Ticks from a move to its arrival, at best: the way up, less how far the counts are apart.
    pub(super) fn up(&self) -> Option<i32> {
        self.fewest(|window| window.up)
    }

    /// Ticks from one snapshot to the next, at best.
    pub(super) fn spacing(&self) -> Option<i32> {
        self.fewest(|window| window.spacing)
    }

    /// How far playout that covers gaps runs behind the client's moves, in 1/256 of a tick; also the gap that
    /// is still open.
    pub(super) fn covered(&self) -> Option<i64> {
        let open = self.newest.and_then(|newest| {
            let age = newest.own.since(newest.heard?).clamp(-FAR, FAR);
            (age - self.least()? <= OUTAGE).then_some(i64::from(age) * SUB_TICKS)
        });
        self.covered.max(open)
    }
}

/// Keeps the longest, longest first.
fn insert(longest: &mut [i32; LONGEST], gap: i32) {
    let at = longest.partition_point(|known| *known >= gap);
    if at < LONGEST {
        longest[at..].rotate_right(1);
        longest[at] = gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client whose moves say what it had heard, at three ticks a snapshot, seven ticks late, of which
    /// some are lost.
    fn meter(lost: impl Fn(i32) -> bool, ticks: i32, origin: Tick) -> Meter {
        let mut meter = Meter::default();
        let mut heard = None;
        for tick in 0..ticks {
            if (tick - 7) % 3 == 0 && !lost((tick - 7) / 3) {
                heard = Some(origin.offset(tick - 7));
            }
            let own = origin.offset(tick);
            meter.take(HeardPacket { own, arrived: own.offset(4), heard }, false);
        }
        meter
    }

    #[test]
    fn a_clean_way_is_known_to_the_tick_across_the_wrap() {
        for origin in [Tick(0), Tick(u32::MAX - 500)] {
            let meter = meter(|_| false, 2_000, origin);
            assert_eq!((meter.least(), meter.up(), meter.spacing()), (Some(7), Some(4), Some(3)));
            assert_eq!(meter.covered(), Some(9 * SUB_TICKS));
            assert!(!meter.is_young());
        }
    }

    #[test]
    fn losses_are_covered_once_they_are_usual_and_forgotten_later() {
        let covered = |meter: &Meter| meter.covered().map_or(0, |gap| gap / SUB_TICKS);
        assert_eq!(covered(&meter(|k| k == 300, 1_500, Tick(0))), 9, "one loss in sixteen seconds");
        assert_eq!(covered(&meter(|k| k % 40 == 0, 1_500, Tick(0))), 12);
        assert_eq!(covered(&meter(|k| k < 200 && k % 40 == 0, 3_000, Tick(0))), 9);
        // An outage is none of it.
        assert_eq!(covered(&meter(|k| (300..340).contains(&k), 1_500, Tick(0))), 9);
    }

    #[test]
    fn silence_is_no_gap() {
        let heard = |own: Tick| Some(Tick(own.0 / 3 * 3));
        let mut meter = Meter::default();
        for k in 0..400 {
            for own in [Tick(100 + 15 * k), Tick(101 + 15 * k)] {
                meter.take(HeardPacket { own, arrived: own.offset(4), heard: heard(own) }, false);
            }
        }
        assert!(meter.covered().is_some_and(|gap| gap <= 4 * SUB_TICKS), "{:?}", meter.covered());
    }

    #[test]
    fn whatever_it_is_told_nothing_overflows() {
        let mut meter = Meter::default();
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        };
        for _ in 0..200_000 {
            let heard = (random() % 4 > 0).then(|| Tick(random()));
            meter
                .take(HeardPacket { own: Tick(random()), arrived: Tick(random()), heard }, random() % 8 == 0);
            assert!(meter.covered().is_none_or(|covered| covered.abs() < 1 << 40));
        }
    }
}
