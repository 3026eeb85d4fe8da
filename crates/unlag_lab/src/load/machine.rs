//! What the operating system knows: processor time, cores, open files, memory.

use core::time::Duration;
use std::{sync::OnceLock, time::Instant};

/// The coarsest clock that still says something about a tick.
const FINE: Duration = Duration::from_micros(100);

/// Processor time of this process so far. On systems that do not tell, the time since it first asked.
pub fn cpu_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
    }
    #[cfg(not(unix))]
    {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}

/// The step in which [`cpu_time`] goes on, measured once. Some systems count in their scheduler's ticks of 10 ms.
pub fn cpu_granularity() -> Duration {
    static STEP: OnceLock<Duration> = OnceLock::new();
    *STEP.get_or_init(|| {
        /// A clock that does not move within this time is as coarse as that.
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

/// Whether [`cpu_time`] can tell what a tick takes.
pub fn is_cpu_clock_fine() -> bool {
    cpu_granularity() <= FINE
}

/// Lets this process, and those that it starts from now on, open as many files as the system allows; where that cannot
/// be asked for, as many as before.
pub fn open_many_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        // Whoever needs more than that looks at what it gets.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}

/// Stays on one core from now on, with all threads that are started later; where that cannot be asked for, or there
/// is one core only, wherever the system puts it.
pub fn stay_on(core: usize) {
    #[cfg(target_os = "linux")]
    {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if cores > 1 {
            let mut set = rustix::thread::CpuSet::new();
            set.set(core % cores);
            // A container may forbid it: then the figures are of whatever core there was.
            let _ = rustix::thread::sched_setaffinity(None, &set);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = core;
}

/// Memory of this process that is in use, in bytes; 0 where the system does not tell.
pub fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.as_deref().and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4_096
}
