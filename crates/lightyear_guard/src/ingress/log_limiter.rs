//! Log rate limiter: a peer cannot flood the log.

use core::{
    hash::Hash,
    sync::atomic::{AtomicU64, Ordering},
};
use std::sync::{Mutex, PoisonError};

use bevy::{
    log::{
        BoxedLayer,
        tracing::{Event, Subscriber, callsite::Identifier},
        tracing_subscriber::{Layer, layer::Context},
    },
    platform::collections::HashMap,
    prelude::*,
};

use crate::clock::{self, Instant};

/// Lines per second of each kind.
const LINES: u32 = 20;
/// Lines that one kind of the suite may write at once: every player of a full server leaves in the same second.
const BURST: u32 = 300;
/// Kinds with a budget of their own, per group; the others share one. Kinds are code, so a peer cannot add any, and
/// the suite has fewer.
const KINDS: usize = 1_024;

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

/// Budgets of both groups. A flood in the libraries cannot suppress the suite's lines, such as the name of a kicked
/// client.
struct LogLimiter {
    began: Instant,
    libraries: Mutex<Budgets<&'static str>>,
    suite: Mutex<Budgets<Identifier>>,
}

impl Default for LogLimiter {
    fn default() -> Self {
        Self {
            began: clock::monotonic(),
            libraries: Mutex::new(Budgets::new(LINES)),
            suite: Mutex::new(Budgets::new(BURST)),
        }
    }
}

impl LogLimiter {
    /// Whether a line may be written in this second; `callsite` is its place in the source code.
    fn admits(&self, target: &'static str, callsite: Identifier, second: u32) -> bool {
        let starts_with_any = |names: &[&str]| names.iter().any(|name| target.starts_with(name));
        let admits = if starts_with_any(&["bevy_unlag", "lightyear_guard"]) {
            take(&self.suite, callsite, second)
        } else if starts_with_any(&["lightyear", "bevy_replicon", "aeronet"]) {
            take(&self.libraries, target, second)
        } else {
            return true;
        };
        if !admits {
            SUPPRESSED.fetch_add(1, Ordering::Relaxed);
        }
        admits
    }
}

/// Takes one line from the budget of a kind.
fn take<K: Eq + Hash>(budgets: &Mutex<Budgets<K>>, kind: K, second: u32) -> bool {
    budgets.lock().unwrap_or_else(PoisonError::into_inner).take(kind, second)
}

/// Budgets of the kinds of one group.
struct Budgets<K> {
    /// Lines that one kind may write at once.
    burst: u32,
    own: HashMap<K, Budget>,
    /// Budget of all kinds beyond the first [`KINDS`].
    shared: Budget,
}

impl<K: Eq + Hash> Budgets<K> {
    fn new(burst: u32) -> Self {
        Self { burst, own: HashMap::default(), shared: Budget::default() }
    }

    /// Takes one line from the budget of a kind.
    fn take(&mut self, kind: K, second: u32) -> bool {
        let has_own = self.own.len() < KINDS || self.own.contains_key(&kind);
        let budget = if has_own { self.own.entry(kind).or_default() } else { &mut self.shared };
        budget.take(second, self.burst)
    }
}

/// Lines that a kind has used, of which [`LINES`] come back per second.
#[derive(Default)]
struct Budget {
    /// Second of the last line.
    last: u32,
    used: u32,
}

impl Budget {
    /// Takes one of `burst` lines.
    fn take(&mut self, second: u32, burst: u32) -> bool {
        let used = self.used.saturating_sub(second.saturating_sub(self.last).saturating_mul(LINES));
        let takes = used < burst;
        if takes {
            *self = Self { last: second.max(self.last), used: used + 1 };
        }
        takes
    }
}

impl<S: Subscriber> Layer<S> for LogLimiter {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let kind = event.metadata();
        let second = u32::try_from(self.began.elapsed().as_secs()).unwrap_or(u32::MAX);
        self.admits(kind.target(), kind.callsite(), second)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bevy::log::{
        tracing::{
            Metadata,
            callsite::Callsite,
            subscriber::{Interest, with_default},
        },
        tracing_subscriber::{Registry, layer::SubscriberExt},
    };

    use super::*;

    /// Line of source code.
    struct Line {
        /// Without a size, two lines could have the same address.
        _size: u8,
    }

    impl Callsite for Line {
        fn set_interest(&self, _: Interest) {}

        fn metadata(&self) -> &Metadata<'_> {
            unreachable!("the limiter has it from the event")
        }
    }

    static KICK: Line = Line { _size: 0 };
    static STRIKE: Line = Line { _size: 1 };

    /// Counts the lines that the limiter admits.
    struct Written(Arc<AtomicU64>);

    impl<S: Subscriber> Layer<S> for Written {
        fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// One test, because the number of suppressed lines is the process's.
    #[test]
    fn each_kind_of_line_has_a_limit_of_its_own_and_a_game_has_none() {
        let limit = LogLimiter::default();
        let admits = |target, line: &'static Line, second| limit.admits(target, Identifier(line), second);
        let count = |target, line, second| (0..1_000).filter(|_| admits(target, line, second)).count();
        for second in [0, 1, 5] {
            // A library's target is one kind, whatever the line.
            assert_eq!(count("lightyear_transport::plugin", &KICK, second), 20);
            assert_eq!(count("lightyear_transport::plugin", &STRIKE, second), 0);
            assert_eq!(count("a_game", &KICK, second), 1_000);
        }
        // A full server may leave at once; sustained, there are 20 lines per second.
        assert_eq!(count("lightyear_guard::kicks", &KICK, 5), 300);
        assert_eq!(count("lightyear_guard::kicks", &KICK, 6), 20);
        assert_eq!(count("lightyear_guard::kicks", &KICK, 8), 40);
        // The flood suppresses no other line of the same target, nor another target of the libraries.
        assert!(admits("lightyear_guard::kicks", &STRIKE, 8));
        assert!(admits("lightyear_replication::plugin", &KICK, 8));
        assert_eq!(suppressed_log_lines(), 3 * (980 + 1_000) + 700 + 980 + 960);

        // So it is with real events, of one target here.
        let written = Arc::new(AtomicU64::new(0));
        let subscriber = Registry::default().with(Written(written.clone())).with(limit);
        with_default(subscriber, || {
            for _ in 0..1_000 {
                warn!("join refused");
            }
            assert_eq!(written.swap(0, Ordering::Relaxed), 300);
            warn!("client has strikes");
            warn!("datagrams and packets refused");
        });
        assert_eq!(written.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn no_two_kinds_share_a_budget_until_there_are_too_many() {
        let mut budgets = Budgets::new(BURST);
        let mut count = |kind: usize| (0..1_000).filter(|_| budgets.take(kind, 0)).count();
        assert!((0..KINDS).all(|kind| count(kind) == 300));
        // Those beyond share one, and the others keep theirs.
        assert_eq!(count(KINDS), 300);
        assert_eq!(count(KINDS + 1), 0);
        assert_eq!(budgets.own.len(), KINDS);
        assert!(budgets.take(0, 1));
    }
}
