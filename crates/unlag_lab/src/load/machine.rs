//! What the operating system knows: processor time, cores, memory.

use core::time::Duration;

/// Processor time of this process so far. On systems that do not tell, the time since it first asked.
pub fn cpu_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
    }
    #[cfg(not(unix))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
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
