//! Log rate limiter: a peer cannot flood the log.

use core::sync::atomic::{AtomicU64, Ordering};

use bevy::{
    log::{
        BoxedLayer,
        tracing::{Event, Subscriber},
        tracing_subscriber::{Layer, layer::Context},
    },
    prelude::*,
};

use crate::clock::{self, Instant};

/// Lines per second of each kind.
const LINES: u32 = 20;
/// Lines that one kind of the suite may write at once: every player of a full server leaves in the same second.
const BURST: u32 = 300;
/// Counters per group of kinds; kinds with the same hash share one. The suite's lines are a group of their own: a
/// flood in the libraries below cannot suppress the suite's lines, such as the name of a kicked client.
const KINDS: usize = 256;

static SUPPRESSED: AtomicU64 = AtomicU64::new(0);

/// Limits the log lines of lightyear, `bevy_replicon`, aeronet and the suite to 20 per second of each kind,
/// whatever a peer sends. Pass it to Bevy: `LogPlugin { custom_layer: limit_logs, ..default() }`.
///
/// A kind is a target of the libraries, or one line of source code of the suite, which may also write 300 lines at
/// once: no kind suppresses another one. A game's own lines are not limited. [`suppressed_log_lines`] returns the
/// number of suppressed lines; a server also logs it.
#[must_use]
pub fn limit_logs(_: &mut App) -> Option<BoxedLayer> {
    Some(Box::new(LogLimiter::default()))
}

/// Returns how many lines [`limit_logs`] has suppressed in this process.
#[must_use]
pub fn suppressed_log_lines() -> u64 {
    SUPPRESSED.load(Ordering::Relaxed)
}

struct LogLimiter {
    began: Instant,
    /// Per group and kind: the second of the last line in the upper half, the used part of the budget in the lower
    /// half.
    used: [[AtomicU64; KINDS]; 2],
}

impl Default for LogLimiter {
    fn default() -> Self {
        Self { began: clock::monotonic(), used: [const { [const { AtomicU64::new(0) }; KINDS] }; 2] }
    }
}

impl LogLimiter {
    /// Whether a line may be written in this second; `line` is its place in the source code.
    fn admits(&self, target: &str, line: u32, second: u32) -> bool {
        let starts_with_any = |names: &[&str]| names.iter().any(|name| target.starts_with(name));
        let (group, line, burst) = if starts_with_any(&["bevy_unlag", "lightyear_guard"]) {
            (1, line, BURST)
        } else if starts_with_any(&["lightyear", "bevy_replicon", "aeronet"]) {
            (0, 0, LINES)
        } else {
            return true;
        };
        let hash = target.bytes().chain(line.to_le_bytes()).fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        let admits = take(&self.used[group][(hash % KINDS as u64) as usize], second, burst);
        if !admits {
            SUPPRESSED.fetch_add(1, Ordering::Relaxed);
        }
        admits
    }
}

/// Takes one line from a budget of `burst` lines, of which [`LINES`] come back per second.
fn take(budget: &AtomicU64, second: u32, burst: u32) -> bool {
    let taken = budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |packed| {
        let (last, used) = ((packed >> 32) as u32, packed as u32);
        let used = used.saturating_sub(second.saturating_sub(last).saturating_mul(LINES));
        (used < burst).then(|| u64::from(second.max(last)) << 32 | u64::from(used + 1))
    });
    taken.is_ok()
}

impl<S: Subscriber> Layer<S> for LogLimiter {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let kind = event.metadata();
        let second = u32::try_from(self.began.elapsed().as_secs()).unwrap_or(u32::MAX);
        self.admits(kind.target(), kind.line().unwrap_or(0), second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because the number of suppressed lines is the process's.
    #[test]
    fn each_kind_of_line_has_a_limit_of_its_own_and_a_game_has_none() {
        let limit = LogLimiter::default();
        let count = |target, line, second| (0..1_000).filter(|_| limit.admits(target, line, second)).count();
        for second in [0, 1, 5] {
            // A library's target is one kind, whatever the line.
            assert_eq!(count("lightyear_transport::plugin", 7, second), 20);
            assert_eq!(count("lightyear_transport::plugin", 8, second), 0);
            assert_eq!(count("a_game", 7, second), 1_000);
        }
        // A full server may leave at once; sustained, there are 20 lines per second.
        assert_eq!(count("lightyear_guard::kicks", 7, 5), 300);
        assert_eq!(count("lightyear_guard::kicks", 7, 6), 20);
        assert_eq!(count("lightyear_guard::kicks", 7, 8), 40);
        // The flood suppresses no other line of the same target, nor another target.
        assert!(limit.admits("lightyear_guard::kicks", 9, 8));
        assert!(limit.admits("bevy_unlag::players", 7, 8));
        assert_eq!(suppressed_log_lines(), 3 * (980 + 1_000) + 700 + 980 + 960);
    }
}
