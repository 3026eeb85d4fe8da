//! How far back a shot may reach.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{SUB_TICKS, Tick, ViewTime, sub_ticks};

use crate::CoverProtection;

/// Whether shots are judged in the shooter's past at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum RewindMode {
    /// Targets are posed as the shooter saw them.
    #[default]
    On,
    /// Targets are posed as they are now. The control of every measurement: players must lead.
    Off,
}

/// How far back a shot may reach. The resource holds for every query without limits of its own; a weapon
/// or a mode of play may bring its own in [`View::limits`](crate::View::limits).
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct RewindLimits {
    /// Whether to rewind at all. Default: on.
    pub mode: RewindMode,
    /// The oldest view that is honoured, as of the moment at which the shot arrived. What is older is
    /// judged as of this age, and the answer says that it was clamped. Default 400 ms: 200 ms of round
    /// trip at 20 snapshots a second are about 375. Raising it lets players on worse links hit, and lets
    /// them hit players who have been in cover for longer; and it costs memory.
    pub max_age: Duration,
    /// A shot with a view older than this is refused: it comes from before an outage. Default: 1 s.
    pub refuse_beyond: Duration,
    /// How far a target may have gone since the moment at which it is judged, in metres. Who is further
    /// away by now is not hit. Default: no limit.
    pub max_distance: f32,
    /// How rewind gives way as the shooter's round trip grows. Default: it does not.
    pub high_ping: Option<HighPing>,
    /// Whether a target that has been despawned since can be hit where it was seen. Default: yes; its entity
    /// is gone, so what the hit does is up to the game.
    pub hit_despawned: bool,
    /// Protects who has reached cover from views in which it had not yet. Default: off. On, a hit with an old
    /// view costs up to a ray for every hit box of the victim and tick of grace.
    pub cover: Option<CoverProtection>,
}

impl Default for RewindLimits {
    fn default() -> Self {
        Self {
            mode: RewindMode::On,
            max_age: Duration::from_millis(400),
            refuse_beyond: Duration::from_secs(1),
            max_distance: f32::INFINITY,
            high_ping: None,
            hit_despawned: true,
            cover: None,
        }
    }
}

/// How rewind gives way as a shooter's round trip grows, for the sake of everyone it shoots at: the age of
/// the view that is honoured goes down evenly from all of it to nothing. With both values equal it is a
/// cut, as in the games that switch rewind off above a ping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HighPing {
    /// The round trip up to which a view is honoured in full.
    pub fade_from: Duration,
    /// The round trip from which on targets are judged as they are now.
    pub stop_at: Duration,
}

impl HighPing {
    /// The part of a view's age that is honoured, 0 to 1.
    #[must_use]
    pub fn honoured(&self, round_trip: Duration) -> f64 {
        if round_trip <= self.fade_from {
            1.0
        } else if round_trip >= self.stop_at {
            0.0
        } else {
            let width = (self.stop_at - self.fade_from).as_secs_f64();
            (self.stop_at - round_trip).as_secs_f64() / width
        }
    }
}

/// Why a view is not honoured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RewindRefusal {
    /// It lies further back than [`RewindLimits::refuse_beyond`], or before [`RoundStart`].
    TooOld,
    /// It lies ahead of the server: nobody has seen it.
    FromTheFuture,
}

/// When the match began: nothing before it can be shot at any more, however old a view may be. `None` for a match
/// that was never begun anew. A transport that does so sets it.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RoundStart(pub Option<Tick>);

impl RoundStart {
    /// Whether a moment belongs to a match before this one.
    #[must_use]
    pub fn is_before(self, time: ViewTime) -> bool {
        self.0.is_some_and(|start| time.since(ViewTime::at(start)) < 0)
    }
}

impl RewindLimits {
    /// The moment at which a view at `time` is judged when its shot arrived at `now`, from a shooter
    /// whose round trip is this long.
    ///
    /// # Errors
    /// The reason when it is not judged.
    pub fn admit(
        &self,
        time: ViewTime,
        now: Tick,
        tick_seconds: f32,
        round_trip: Option<Duration>,
    ) -> Result<ViewTime, RewindRefusal> {
        let now = ViewTime::at(now);
        let age = now.since(time);
        if age < 0 {
            return Err(RewindRefusal::FromTheFuture);
        }
        if age > sub_ticks(self.refuse_beyond.max(self.max_age), tick_seconds) {
            return Err(RewindRefusal::TooOld);
        }
        let honoured = age.min(sub_ticks(self.max_age, tick_seconds));
        Ok(now.later(-self.faded(honoured, round_trip)))
    }

    /// The oldest moment that is honoured of a shot that arrived at `now`, of whatever target.
    pub(crate) fn oldest(&self, now: Tick, tick_seconds: f32, round_trip: Option<Duration>) -> ViewTime {
        let oldest = sub_ticks(self.max_age, tick_seconds);
        ViewTime::at(now).later(-self.faded(oldest, round_trip))
    }

    /// What is left of an age when the round trip is this long.
    fn faded(&self, age: i64, round_trip: Option<Duration>) -> i64 {
        let Some((rule, round_trip)) = self.high_ping.zip(round_trip) else { return age };
        (age as f64 * rule.honoured(round_trip)) as i64
    }

    /// Ticks that have to be remembered for these limits.
    pub(crate) fn ticks(&self, tick_seconds: f32) -> i32 {
        let ticks = (sub_ticks(self.max_age, tick_seconds) + SUB_TICKS - 1) / SUB_TICKS;
        ticks.clamp(1, 1_000) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(limits: &RewindLimits, tick: u32, ping: u64) -> Result<ViewTime, RewindRefusal> {
        let ping = Some(Duration::from_millis(ping));
        limits.admit(ViewTime::at(Tick(tick)), Tick(1_000), 1.0 / 64.0, ping)
    }

    #[test]
    fn only_the_recent_past_is_honoured() {
        let limits = RewindLimits::default();
        let at = |tick| Ok(ViewTime::at(Tick(tick)));
        assert_eq!(admit(&limits, 990, 0), at(990));
        let oldest = ViewTime::after(Tick(1_000), -25.6);
        assert!(admit(&limits, 970, 0).is_ok_and(|used| used.since(oldest).abs() <= 1), "clamped");
        assert_eq!(admit(&limits, 900, 0), Err(RewindRefusal::TooOld));
        assert_eq!(admit(&limits, 1_001, 0), Err(RewindRefusal::FromTheFuture));
    }

    #[test]
    fn nothing_before_the_round_is_honoured() {
        let at = |tick| ViewTime::at(Tick(tick));
        assert!(!RoundStart(None).is_before(at(0)));
        let start = RoundStart(Some(Tick(3)));
        assert!(start.is_before(at(2)) && start.is_before(at(u32::MAX)) && !start.is_before(at(3)));
    }

    #[test]
    fn rewind_fades_as_the_ping_grows() {
        let high_ping =
            HighPing { fade_from: Duration::from_millis(100), stop_at: Duration::from_millis(200) };
        let limits = RewindLimits { high_ping: Some(high_ping), ..default() };
        let tick = |ping| admit(&limits, 980, ping).map(|time| time.tick.0);
        assert_eq!([tick(100), tick(150), tick(200), tick(900)], [Ok(980), Ok(990), Ok(1_000), Ok(1_000)]);
    }
}
