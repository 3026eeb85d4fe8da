//! How far back a shot may reach.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{Tick, ViewTime};

/// Whether shots are judged in the shooter's past at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum RewindMode {
    /// Targets are posed as the shooter saw them.
    #[default]
    On,
    /// Targets are posed as they are now. The control of every measurement: players must lead.
    Off,
}

/// How far back a shot may reach.
#[derive(Resource, Clone, Copy, Debug)]
pub struct RewindLimits {
    /// Whether to rewind at all. Default: on.
    pub mode: RewindMode,
    /// The oldest view that is honoured, as of the moment at which the shot arrived. Default
    /// 400 ms: 200 ms of round trip at 20 snapshots a second are about 375. Raising it lets players on worse links hit, and lets them hit
    /// players who have been in cover for longer.
    pub max_age: Duration,
}

impl Default for RewindLimits {
    fn default() -> Self {
        Self { mode: RewindMode::On, max_age: Duration::from_millis(400) }
    }
}

/// Why a view time is not honoured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RewindRefusal {
    /// It lies further back than [`RewindLimits::max_age`].
    TooOld,
    /// It lies ahead of the server: nobody has seen it.
    FromTheFuture,
}

impl RewindLimits {
    /// Whether a view at `time` is honoured when its shot arrived at `now`.
    ///
    /// # Errors
    /// The reason when it is not.
    pub fn check(&self, time: ViewTime, now: Tick, tick_seconds: f32) -> Result<(), RewindRefusal> {
        let age = -time.ticks_since(now) * tick_seconds;
        if age > self.max_age.as_secs_f32() {
            Err(RewindRefusal::TooOld)
        } else if age < 0.0 {
            Err(RewindRefusal::FromTheFuture)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_recent_past_is_honoured() {
        let limits = RewindLimits::default();
        let check = |tick| limits.check(ViewTime::at(Tick(tick)), Tick(1_000), 1.0 / 64.0);
        assert_eq!(check(990), Ok(()));
        assert_eq!(check(900), Err(RewindRefusal::TooOld));
        assert_eq!(check(1_001), Err(RewindRefusal::FromTheFuture));
    }
}
