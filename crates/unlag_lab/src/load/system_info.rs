//! Operating system queries: processor time, CPU affinity, open files, memory.

use std::sync::OnceLock;

use crate::prelude::*;

/// Coarsest processor clock that still resolves a tick.
const FINE: Duration = Duration::from_micros(100);

/// Returns the processor time of this process; on systems without such a clock, the time since the first
/// call.
pub fn cpu_time() -> Duration {
    #[cfg(unix)]
    {
        read_clock(rustix::time::ClockId::ProcessCPUTime)
    }
    #[cfg(not(unix))]
    {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}

/// Returns the processor time of this thread; on systems without such a clock, the same as [`cpu_time`].
pub fn thread_cpu_time() -> Duration {
    #[cfg(unix)]
    {
        read_clock(rustix::time::ClockId::ThreadCPUTime)
    }
    #[cfg(not(unix))]
    cpu_time()
}

#[cfg(unix)]
fn read_clock(clock: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Returns the resolution of [`cpu_time`], measured once. Some systems count in scheduler ticks of 10 ms.
pub fn cpu_granularity() -> Duration {
    static STEP: OnceLock<Duration> = OnceLock::new();
    *STEP.get_or_init(|| {
        /// Limit of the measurement and upper bound of its result.
        const PATIENCE: Duration = Duration::from_millis(50);
        let began = Instant::now();
        let (mut smallest, mut last) = (PATIENCE, cpu_time());
        for _ in 0..8 {
            let mut now = cpu_time();
            while now == last {
                if began.elapsed() > PATIENCE {
                    return smallest;
                }
                now = cpu_time();
            }
            smallest = smallest.min(now.saturating_sub(last));
            last = now;
        }
        smallest
    })
}

/// Returns whether [`cpu_time`] is fine enough to time a tick.
pub fn is_cpu_clock_fine() -> bool {
    cpu_granularity() <= FINE
}

/// Raises the limit on open files of this process and its future children to the system's maximum, if the
/// system permits it.
pub fn raise_open_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        // On failure the old limit stays; callers check how many files they could open.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}

/// Pins this thread and all threads that it starts later to one core. Does nothing on systems without CPU
/// affinity or with a single core.
pub fn pin_to_core(core: usize) {
    #[cfg(target_os = "linux")]
    {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if cores > 1 {
            let mut set = rustix::thread::CpuSet::new();
            set.set(core % cores);
            // A container may forbid it; the figures then come from whatever core the system picks.
            let _ = rustix::thread::sched_setaffinity(None, &set);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = core;
}

/// Returns the resident memory of this process in bytes, or 0 where it is unknown.
pub fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.as_deref().and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4_096
}
