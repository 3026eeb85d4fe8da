//! Phase of a server's ticks on a core that several servers share.
//!
//! Servers whose ticks are due at the same moment wait for each other, although the core is idle for the rest of the
//! tick. A server that had to wait shifts its ticks to when it got the core, right behind the other one. Each server
//! decides for itself, and after some seconds their ticks follow each other.

use core::time::Duration;

use bevy::prelude::*;

/// Updates whose median wait decides. A quarter of a second at 64 Hz.
const WINDOW: usize = 16;
/// Shortest wait that counts. Threads of the same process and the system's own work cause shorter ones.
const LEAST_WAIT: Duration = Duration::from_micros(100);
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
    /// is slower by 0.2 % at most while the server searches, and clients follow. Raising it finds idle time sooner; 0
    /// turns the shifts off.
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
    added: Duration,
}

impl TickPhase {
    /// Begins to measure the calling thread, which must be the one that makes the updates.
    #[must_use]
    pub fn of_this_thread() -> Self {
        Self {
            thread: ThreadWait::new(),
            search: Search::default(),
            times: CoreTimes::default(),
            added: Duration::ZERO,
        }
    }

    /// Forgets how long the thread has waited so far. Call it before the sleep until the next update, if the thread has
    /// other work between two updates.
    pub fn skip_waits(&mut self) {
        self.thread.since_last();
    }

    /// Counts a wait of the next update that the system does not know of, as in a simulation of a shared core.
    pub fn add_wait(&mut self, wait: Duration) {
        self.added += wait;
    }

    /// Call it after each update. Updates are `tick` apart. Returns the time by which all further ticks should be
    /// later, which is zero most times: make the next update so much later, and then discard as much of the overstep of
    /// [`Time<Fixed>`].
    pub fn end_update(&mut self, tick: Duration, config: &TickPhaseConfig) -> Duration {
        let waited = self.thread.since_last() + core::mem::take(&mut self.added);
        let shift = self.search.shift(waited, tick, config);
        self.times.waited += waited;
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

/// Search for idle time of the core.
#[derive(Clone, Debug, Default)]
struct Search {
    waits: [Duration; WINDOW],
    count: usize,
    /// Shifts since the search began.
    shifted: Duration,
    /// Windows until the next search may begin.
    rest: u32,
}

impl Search {
    /// Takes the wait of an update. Returns the time by which all further ticks should be later.
    fn shift(&mut self, waited: Duration, tick: Duration, config: &TickPhaseConfig) -> Duration {
        self.waits[self.count] = waited;
        self.count += 1;
        if self.count < WINDOW {
            return Duration::ZERO;
        }
        self.count = 0;
        self.waits.sort_unstable();
        let median = self.waits[WINDOW / 2];
        if self.rest > 0 || median < LEAST_WAIT {
            self.rest = self.rest.saturating_sub(1);
            self.shifted = Duration::ZERO;
            return Duration::ZERO;
        }
        let slowdown = if config.max_slowdown > 0.0 { config.max_slowdown.min(MAX_SLOWDOWN) } else { 0.0 };
        let shift = median.min((tick * WINDOW as u32).mul_f32(slowdown));
        self.shifted += shift;
        if self.shifted > tick * MAX_SEARCH {
            // The core has no idle time that is long enough.
            self.rest = REST;
        }
        shift
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

    /// Total of the shifts by so many windows of updates that wait so long.
    fn shifted(search: &mut Search, windows: usize, waited: impl Fn(Duration) -> Duration) -> Duration {
        let config = TickPhaseConfig::default();
        let mut total = Duration::ZERO;
        for _ in 0..windows * WINDOW {
            total += search.shift(waited(total), TICK, &config);
        }
        total
    }

    #[test]
    fn ticks_are_shifted_behind_those_that_they_waited_for() {
        let mut search = Search::default();
        // Another server has the core for 3 ms from when the tick is due.
        let other = Duration::from_millis(3);
        let total = shifted(&mut search, 100, |shifted| other.saturating_sub(shifted));
        assert!(total > other - LEAST_WAIT && total <= other, "{total:?}");
    }

    #[test]
    fn game_slows_down_by_the_maximum_at_most() {
        let mut search = Search::default();
        let total = shifted(&mut search, 8, |_| TICK);
        let most = (TICK * WINDOW as u32 * 8).mul_f32(0.002);
        assert!(total > most.mul_f32(0.99) && total < most.mul_f32(1.01), "{total:?} of {most:?}");
    }

    #[test]
    fn search_on_a_core_without_idle_time_pauses() {
        let mut search = Search::default();
        let first = shifted(&mut search, 100, |_| TICK);
        assert!(first > TICK * MAX_SEARCH && first < TICK * (MAX_SEARCH + 1), "{first:?}");
        assert_eq!(shifted(&mut search, 60, |_| TICK), Duration::ZERO);
        assert!(shifted(&mut search, 100, |_| TICK) > Duration::ZERO, "control: it begins again");
    }

    #[test]
    fn short_waits_rare_waits_and_a_maximum_of_zero_shift_nothing() {
        assert_eq!(shifted(&mut Search::default(), 10, |_| LEAST_WAIT / 2), Duration::ZERO);
        let mut search = Search::default();
        for update in 0..10 * WINDOW {
            let waited = if update % 3 == 0 { TICK } else { Duration::ZERO };
            assert_eq!(search.shift(waited, TICK, &TickPhaseConfig::default()), Duration::ZERO);
        }
        for max_slowdown in [0.0, -1.0, f32::NAN] {
            let mut search = Search::default();
            for _ in 0..10 * WINDOW {
                assert_eq!(search.shift(TICK, TICK, &TickPhaseConfig { max_slowdown }), Duration::ZERO);
            }
        }
    }

    #[test]
    fn wait_is_the_second_number_of_schedstat() {
        assert_eq!(waited_by("123 4567 8\n"), Some(Duration::from_nanos(4567)));
        for text in ["", "1", "1 x 2", "1 -4 2"] {
            assert_eq!(waited_by(text), None, "{text}");
        }
    }

    #[test]
    fn wait_of_a_thread_never_decreases() {
        let mut wait = ThreadWait::new();
        assert!(wait.since_last() < Duration::from_secs(60));
    }
}
