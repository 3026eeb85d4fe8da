//! Logs that a peer cannot fill.

use core::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bevy::{
    log::{
        BoxedLayer,
        tracing::{Event, Subscriber},
        tracing_subscriber::{Layer, layer::Context},
    },
    prelude::*,
};

/// Lines a second that each part of the network stack may write.
const LINES: u64 = 20;
/// Targets that are counted by themselves, of the suite and of those below it; others may share a count. What a flood
/// makes those below say keeps no line of the suite out, such as who was thrown out for it.
const TARGETS: usize = 256;

static LEFT_OUT: AtomicU64 = AtomicU64::new(0);

/// Lets each target of lightyear, replicon and the suite write no more than 20 lines a second, whatever a peer
/// sends. Give it to Bevy: `LogPlugin { custom_layer: limit_logs, ..default() }`. What a game itself writes is not
/// touched. [`log_lines_left_out`] tells how many lines are missing.
#[must_use]
pub fn limit_logs(_: &mut App) -> Option<BoxedLayer> {
    Some(Box::new(Limit::default()))
}

/// How many lines [`limit_logs`] has left out in this process.
#[must_use]
pub fn log_lines_left_out() -> u64 {
    LEFT_OUT.load(Ordering::Relaxed)
}

struct Limit {
    began: Instant,
    /// By target: the second, and how many lines in it.
    counts: [[AtomicU64; TARGETS]; 2],
}

impl Default for Limit {
    fn default() -> Self {
        Self { began: Instant::now(), counts: [const { [const { AtomicU64::new(0) }; TARGETS] }; 2] }
    }
}

impl Limit {
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
            LEFT_OUT.fetch_add(1, Ordering::Relaxed);
        }
        admits
    }
}

impl<S: Subscriber> Layer<S> for Limit {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        self.admits(event.metadata().target(), self.began.elapsed().as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_of_the_network_writes_twenty_lines_a_second_and_a_game_all() {
        let limit = Limit::default();
        let count = |target, second| (0..1_000).filter(|_| limit.admits(target, second)).count();
        for second in [0, 1, 5] {
            assert_eq!(count("lightyear_transport::plugin", second), 20);
            assert_eq!(count("lightyear_guard::ingress", second), 20);
            assert_eq!(count("a_game", second), 1_000);
        }
        assert_eq!(log_lines_left_out(), 6 * 980);
    }
}
