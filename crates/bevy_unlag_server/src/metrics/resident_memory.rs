//! Memory of this process.

/// Returns the resident memory in bytes; `None` where the operating system does not say it, which is everywhere but on
/// Linux.
pub(super) fn resident_bytes() -> Option<u64> {
    // `statm` counts in pages, whose size differs between machines.
    read_status(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn read_status(status: &str) -> Option<u64> {
    let size = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = size.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_is_read_in_kibibytes_and_anything_else_is_unknown() {
        let status = "Name:\tshooter\nVmHWM:\t   90000 kB\nVmRSS:\t   65432 kB\nThreads:\t3\n";
        assert_eq!(read_status(status), Some(65_432 * 1_024));
        for other in ["", "VmRSS:", "VmRSS:\t5 MB", "VmRSS:\tmany kB", "VmRSS:\t99999999999999999999 kB"] {
            assert_eq!(read_status(other), None, "{other}");
        }
        assert_eq!(resident_bytes().is_some(), cfg!(target_os = "linux"));
        assert!(resident_bytes().is_none_or(|bytes| bytes > 100_000));
    }
}
