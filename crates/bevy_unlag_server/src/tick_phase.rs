//! Phase of a server's ticks on a core that several servers share.
//!
//! Servers whose ticks are due at the same moment wait for each other, although the core is idle for the rest of the
//! tick. A server that had to wait shifts its ticks right behind those of the other server. Each server decides for
//! itself, and after some seconds their ticks follow each other.
//!
//! A server waits before its update if another one keeps the core, and during it if another one preempts it. The one
//! that preempts began later, by less than the update takes, and keeps the core until the wait is over. So the ticks
//! are shifted by the wait and by what the update takes. A smaller shift would only change which of the two preempts.

use core::time::Duration;
use std::time::Instant;

use bevy::prelude::*;

/// Updates whose waits decide. A quarter of a second at 64 Hz.
const WINDOW: usize = 16;
/// Number of them whose waits may be shorter than the one that decides. A server whose ticks are due at the same moment
/// causes a wait in most ticks; the machine and the longer ticks of other servers cause one in some.
const SHORTER: usize = WINDOW / 4;
/// Shortest wait that counts. Threads of the same process and the system's own work cause shorter ones.
const LEAST_WAIT: Duration = Duration::from_micros(100);
/// Divisor of the time that an update takes: shorter waits do not count either.
const LEAST_SHARE: u32 = 4;
/// Largest shift at once. Clocks of clients allow for 5 ms.
const MAX_SHIFT: Duration = Duration::from_millis(4);
/// Largest slowdown, whatever the setting says: far below what clients take for a stall.
const MAX_SLOWDOWN: f32 = 0.1;
/// Ticks by which the phase is shifted in search of idle time, before the search is given up for a while.
const MAX_SEARCH: u32 = 2;
/// Windows until the next search. Half a minute at 64 Hz.
const REST: u32 = 128;

/// Setting of the shifts by which [`run_by_ticks`](crate::run_by_ticks) and
/// [`TickRunnerPlugin`](crate::TickRunnerPlugin) move the ticks of a server into idle time of the core that it shares
/// with others. Without this resource they have its default. Only Linux tells how long a thread has waited; elsewhere
/// nothing is shifted.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct TickPhaseConfig {
    /// Most time by which the ticks are shifted later, as a fraction of the time that passes. Default 0.002: the game
    /// is slower by 0.2 % at most while the server searches. A shift is made at once, by 4 ms at most. Raising it finds
    /// idle time sooner; 0 turns the shifts off.
    pub max_slowdown: f32,
}

impl Default for TickPhaseConfig {
    fn default() -> Self {
        Self { max_slowdown: 0.002 }
    }
}

/// Time for which updates have waited for the core, and the shifts that follow from it. For loops that do not use
/// [`run_by_ticks`](crate::run_by_ticks).
#[derive(Debug)]
pub struct TickPhase {
    thread: ThreadWait,
    search: Search,
    times: CoreTimes,
    /// Beginning of the current update, and the wait before it.
    began: Instant,
    before: Duration,
}

impl TickPhase {
    /// Begins to measure the calling thread, which must be the one that makes the updates.
    #[must_use]
    pub fn of_this_thread() -> Self {
        Self {
            thread: ThreadWait::new(),
            search: Search::default(),
            times: CoreTimes::default(),
            began: Instant::now(),
            before: Duration::ZERO,
        }
    }

    /// Forgets how long the thread has waited so far. Call it before the sleep until the next update, if the thread has
    /// other work between two updates.
    pub fn skip_waits(&mut self) {
        self.thread.since_last();
    }

    /// Counts a wait before the next update that the system does not know of, as in a simulation of a shared core.
    pub fn add_wait(&mut self, wait: Duration) {
        self.before += wait;
    }

    /// Call it right before each update, after the sleep. Otherwise what the thread does between two updates counts as
    /// a part of the next one.
    pub fn begin_update(&mut self) {
        self.before += self.thread.since_last();
        self.began = Instant::now();
    }

    /// Call it after each update. Updates are `tick` apart. Returns the time by which all further ticks should be
    /// later, which is zero most times: make the next update so much later, and then discard as much of the overstep of
    /// [`Time<Fixed>`].
    pub fn end_update(&mut self, tick: Duration, config: &TickPhaseConfig) -> Duration {
        let during = self.thread.since_last();
        let before = core::mem::take(&mut self.before);
        let now = Instant::now();
        let ran = now.duration_since(self.began).saturating_sub(during);
        self.began = now;
        let shift = self.search.shift(UpdateTimes { before, during, ran }, tick, config);
        self.times.waited += before + during;
        self.times.shifted += shift;
        shift
    }

    pub(crate) fn times(&self) -> CoreTimes {
        self.times
    }
}

/// Times of an app whose updates [`run_by_ticks`](crate::run_by_ticks) makes, for metrics.
#[derive(Resource, Clone, Copy, Default, Debug)]
pub(crate) struct CoreTimes {
    /// Time for which updates have waited for the core.
    pub waited: Duration,
    /// Time by which the ticks have been shifted.
    pub shifted: Duration,
}

/// Times of an update.
#[derive(Clone, Copy, Default, Debug)]
struct UpdateTimes {
    /// Wait for the core before it began.
    before: Duration,
    /// Wait after it began.
    during: Duration,
    /// Time that it took without that.
    ran: Duration,
}

/// Search for idle time of the core.
#[derive(Clone, Debug, Default)]
struct Search {
    updates: [UpdateTimes; WINDOW],
    count: usize,
    /// Shifts since the search began.
    shifted: Duration,
    /// Part of the shifts that the allowed slowdown has not made up for yet.
    debt: Duration,
    /// Windows until the next search may begin.
    rest: u32,
}

impl Search {
    /// Takes the times of an update. Returns the time by which all further ticks should be later.
    fn shift(&mut self, update: UpdateTimes, tick: Duration, config: &TickPhaseConfig) -> Duration {
        let slowdown = if config.max_slowdown > 0.0 { config.max_slowdown.min(MAX_SLOWDOWN) } else { 0.0 };
        self.debt = self.debt.saturating_sub(tick.mul_f32(slowdown));
        self.updates[self.count] = update;
        self.count += 1;
        if self.count < WINDOW {
            return Duration::ZERO;
        }
        self.count = 0;
        let before = self.usual(SHORTER, |update| update.before);
        let during = self.usual(SHORTER, |update| update.during);
        let ran = self.usual(WINDOW / 2, |update| update.ran);
        let least = LEAST_WAIT.max(ran / LEAST_SHARE);
        if self.rest > 0 || before.max(during) < least {
            self.rest = self.rest.saturating_sub(1);
            self.shifted = Duration::ZERO;
            return Duration::ZERO;
        }
        let behind = if during < least { during } else { during + ran };
        let shift = (before + behind).min(MAX_SHIFT);
        if slowdown == 0.0 || self.debt + shift > MAX_SHIFT {
            return Duration::ZERO;
        }
        self.debt += shift;
        self.shifted += shift;
        if self.shifted >= tick * MAX_SEARCH {
            // The core has no idle time that is long enough.
            self.rest = REST;
        }
        shift
    }

    /// Returns a time of the updates in the window, the one that so many others are shorter than.
    fn usual(&self, shorter: usize, time: impl Fn(&UpdateTimes) -> Duration) -> Duration {
        let mut times = self.updates.each_ref().map(time);
        times.sort_unstable();
        times[shorter]
    }
}

/// Time that a thread has been ready to run while other threads had its core.
#[derive(Debug)]
struct ThreadWait {
    #[cfg(target_os = "linux")]
    file: Option<std::fs::File>,
    last: Duration,
}

impl ThreadWait {
    /// Begins to measure the calling thread.
    fn new() -> Self {
        let mut wait = Self {
            #[cfg(target_os = "linux")]
            file: std::fs::File::open("/proc/thread-self/schedstat").ok(),
            last: Duration::ZERO,
        };
        wait.last = wait.total().unwrap_or_default();
        wait
    }

    /// Returns the time since the last call. Zero where the system does not tell.
    fn since_last(&mut self) -> Duration {
        let Some(total) = self.total() else { return Duration::ZERO };
        let waited = total.saturating_sub(self.last);
        self.last = total;
        waited
    }

    #[cfg(target_os = "linux")]
    fn total(&self) -> Option<Duration> {
        use std::os::unix::fs::FileExt;

        let mut text = [0; 96];
        let length = self.file.as_ref()?.read_at(&mut text, 0).ok()?;
        waited_by(core::str::from_utf8(text.get(..length)?).ok()?)
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "the same as on Linux")]
    fn total(&self) -> Option<Duration> {
        None
    }
}

/// Returns the time for which a thread has waited, by its `schedstat`: nanoseconds on a core, nanoseconds of waiting,
/// number of times that it got a core.
#[cfg(any(target_os = "linux", test))]
fn waited_by(schedstat: &str) -> Option<Duration> {
    schedstat.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_micros(15_625);
    const OWN: Duration = Duration::from_millis(1);
    const OTHER: Duration = Duration::from_millis(2);

    /// Total of the shifts by so many windows of updates, whose waits before and during them `waits` says.
    fn shifted(search: &mut Search, windows: usize, waits: impl Fn(Duration) -> [Duration; 2]) -> Duration {
        let config = TickPhaseConfig::default();
        let mut total = Duration::ZERO;
        for _ in 0..windows * WINDOW {
            let [before, during] = waits(total);
            total += search.shift(UpdateTimes { before, during, ran: OWN }, TICK, &config);
        }
        total
    }

    fn before(wait: Duration) -> [Duration; 2] {
        [wait, Duration::ZERO]
    }

    #[test]
    fn ticks_are_shifted_behind_those_that_they_waited_for() {
        // Another server has the core from when the tick is due.
        let total = shifted(&mut Search::default(), 100, |shifted| before(OTHER.saturating_sub(shifted)));
        assert!(total > OTHER - OWN / LEAST_SHARE && total <= OTHER, "{total:?}");
    }

    #[test]
    fn ticks_are_shifted_behind_those_that_preempt_them() {
        // Another server wakes up half a millisecond after the tick is due, and gets the core at once.
        let began = OWN / 2;
        let waits = |shifted: Duration| {
            // An update that begins later preempts the other one.
            let during = if shifted < began { OTHER } else { Duration::ZERO };
            [Duration::ZERO, during]
        };
        let total = shifted(&mut Search::default(), 100, waits);
        assert!(total >= began + OTHER, "{total:?}: the two still overlap");
        assert!(total <= OWN + OTHER, "{total:?}");
    }

    #[test]
    fn servers_that_preempt_each_other_do_not_overtake_each_other_forever() {
        let mut searches = [Search::default(), Search::default()];
        let mut phases = [Duration::ZERO, OWN / 4];
        let config = TickPhaseConfig::default();
        for _ in 0..100 * WINDOW {
            // The one that begins later, by less than an update takes, preempts the other one.
            let [a, b] = phases;
            let overlap = a.abs_diff(b) < OWN;
            let waits = [overlap && a <= b, overlap && b < a];
            for (index, search) in searches.iter_mut().enumerate() {
                let during = if waits[index] { OWN } else { Duration::ZERO };
                let update = UpdateTimes { before: Duration::ZERO, during, ran: OWN };
                phases[index] += search.shift(update, TICK, &config);
            }
        }
        assert!(phases[0].abs_diff(phases[1]) >= OWN, "{phases:?} still overlap");
        assert!(phases[0].max(phases[1]) <= OWN * 4, "{phases:?}");
    }

    #[test]
    fn game_slows_down_by_the_maximum_at_most() {
        let (mut search, mut total) = (Search::default(), Duration::ZERO);
        for window in 1..=40 {
            total += shifted(&mut search, 1, |_| before(TICK));
            let most = (TICK * WINDOW as u32 * window).mul_f32(0.002) + MAX_SHIFT;
            assert!(total <= most, "{total:?} of {most:?} after {window} windows");
        }
        assert!(total > MAX_SHIFT * 3, "{total:?}: the ticks are shifted as soon as it is allowed");
    }

    #[test]
    fn search_on_a_core_without_idle_time_pauses() {
        let mut search = Search::default();
        let first = shifted(&mut search, 150, |_| before(TICK));
        assert!(first >= TICK * MAX_SEARCH && first < TICK * MAX_SEARCH + MAX_SHIFT, "{first:?}");
        assert_eq!(shifted(&mut search, 20, |_| before(TICK)), Duration::ZERO);
        assert!(shifted(&mut search, 100, |_| before(TICK)) > Duration::ZERO, "control: it begins again");
    }

    #[test]
    fn short_waits_rare_waits_and_a_maximum_of_zero_shift_nothing() {
        for wait in [LEAST_WAIT / 2, OWN / LEAST_SHARE / 2] {
            assert_eq!(shifted(&mut Search::default(), 10, |_| [wait; 2]), Duration::ZERO);
        }
        let config = TickPhaseConfig::default();
        let mut search = Search::default();
        for update in 0..10 * WINDOW {
            let wait = if update % 3 == 0 { Duration::ZERO } else { TICK };
            let times = UpdateTimes { before: wait, during: wait, ran: OWN };
            assert_eq!(search.shift(times, TICK, &config), Duration::ZERO);
        }
        for max_slowdown in [0.0, -1.0, f32::NAN] {
            let mut search = Search::default();
            for _ in 0..10 * WINDOW {
                let times = UpdateTimes { before: TICK, during: TICK, ran: OWN };
                assert_eq!(search.shift(times, TICK, &TickPhaseConfig { max_slowdown }), Duration::ZERO);
            }
        }
    }

    #[test]
    fn absurd_settings_and_ticks_are_survived() {
        for max_slowdown in [f32::INFINITY, f32::MAX] {
            for tick in [Duration::ZERO, TICK, Duration::from_secs(3_600)] {
                let mut search = Search::default();
                for _ in 0..10 * WINDOW {
                    let times = UpdateTimes { before: TICK, during: TICK, ran: Duration::ZERO };
                    assert!(search.shift(times, tick, &TickPhaseConfig { max_slowdown }) <= MAX_SHIFT);
                }
            }
        }
    }

    #[test]
    fn time_of_an_update_is_measured_from_its_beginning() {
        let mut phase = TickPhase::of_this_thread();
        std::thread::sleep(OWN * 20);
        phase.begin_update();
        let began = Instant::now();
        std::thread::sleep(OWN * 2);
        phase.end_update(TICK, &TickPhaseConfig::default());
        let [first, ..] = &phase.search.updates;
        assert!(first.ran + first.during >= OWN * 2 && first.ran <= began.elapsed() + OWN, "{first:?}");
    }

    #[test]
    fn wait_is_the_second_number_of_schedstat() {
        assert_eq!(waited_by("123 4567 8\n"), Some(Duration::from_nanos(4567)));
        for text in ["", "1", "1 x 2", "1 -4 2"] {
            assert_eq!(waited_by(text), None, "{text}");
        }
    }
}
