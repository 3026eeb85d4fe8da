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

/// Lines per second and target.
const LINES: u64 = 20;
/// Counters per group of targets; targets with the same hash share one. The suite's targets are a group of
/// their own: a flood in the libraries below cannot suppress the suite's lines, such as the name of a kicked
/// client.
const TARGETS: usize = 256;

static SUPPRESSED: AtomicU64 = AtomicU64::new(0);

/// Limits each log target of lightyear, `bevy_replicon`, aeronet and the suite to 20 lines per second,
/// whatever a peer sends. Pass it to Bevy: `LogPlugin { custom_layer: limit_logs, ..default() }`. A game's
/// own targets are not limited. [`suppressed_log_lines`] returns the number of suppressed lines.
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
    /// Per group and target: the second in the upper half, the number of lines in it in the lower half.
    counts: [[AtomicU64; TARGETS]; 2],
}

impl Default for LogLimiter {
    fn default() -> Self {
        Self { began: clock::monotonic(), counts: [const { [const { AtomicU64::new(0) }; TARGETS] }; 2] }
    }
}

impl LogLimiter {
    fn admits(&self, target: &str, second: u64) -> bool {
        if !["lightyear", "bevy_replicon", "aeronet", "bevy_unlag"]
            .iter()
            .any(|ours| target.starts_with(ours))
        {
            return true;
        }
        let hash = target.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        let own = usize::from(target.starts_with("bevy_unlag"));
        let count = &self.counts[own][(hash % TARGETS as u64) as usize];
        let packed = count.fetch_add(1, Ordering::Relaxed);
        let lines = if packed >> 32 == second & 0xFFFF_FFFF {
            packed & 0xFFFF_FFFF
        } else {
            count.store((second & 0xFFFF_FFFF) << 32 | 1, Ordering::Relaxed);
            0
        };
        let admits = lines < LINES;
        if !admits {
            SUPPRESSED.fetch_add(1, Ordering::Relaxed);
        }
        admits
    }
}

impl<S: Subscriber> Layer<S> for LogLimiter {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        self.admits(event.metadata().target(), self.began.elapsed().as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_targets_are_limited_to_20_lines_per_second_and_game_targets_are_not() {
        let limit = LogLimiter::default();
        let count = |target, second| (0..1_000).filter(|_| limit.admits(target, second)).count();
        for second in [0, 1, 5] {
            assert_eq!(count("lightyear_transport::plugin", second), 20);
            assert_eq!(count("lightyear_guard::ingress", second), 20);
            assert_eq!(count("a_game", second), 1_000);
        }
        assert_eq!(suppressed_log_lines(), 6 * 980);
    }
}
