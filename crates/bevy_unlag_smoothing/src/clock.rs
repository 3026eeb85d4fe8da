//! Adaptive playout clock of all proxies with one update rate.

use bevy::prelude::*;
use bevy_unlag_core::{Tick, ViewTime};

use crate::{arrival_stats::ArrivalStats, config::PlayoutConfig};

/// Seconds for which only implausible ticks must arrive until they count as another server's. A single one
/// may be the old state of an entity that slept.
const STRAY_SECONDS: f64 = 0.5;

/// Playout clock of all proxies that are updated at one rate. They share one view time, so that pawns are
/// drawn as they were at the same moment; [`PlayoutClocks`](crate::PlayoutClocks) has one clock per rate.
///
/// It learns the playout delay (interpolation delay) from arrival times alone and uses no round trip or
/// ping, so the latency of the link cannot starve it. It runs at the speed of its time, slightly slower or
/// faster to change its delay, and never backward. It jumps only across an error beyond
/// [`PlayoutConfig::snap`] and after a restart of the server.
///
/// Its time is that of the [`GameClock`](bevy_unlag_core::GameClock): in slow motion and in a pause of the
/// whole game it runs as slowly as the server's ticks, and the delay lasts as many ticks.
#[doc(alias = "InterpolationTimeline")]
#[doc(alias = "interpolation delay")]
#[doc(alias = "render delay")]
#[derive(Clone, Debug, Reflect)]
pub struct PlayoutClock {
    config: PlayoutConfig,
    tick_seconds: f64,
    /// Ticks between two updates.
    interval: u16,
    /// Initial delay in seconds, if there is a better guess than the configured one.
    guess: Option<f64>,
    /// Whether pawns that were drawn before move to this clock, so that a leap of it would be visible.
    joins: bool,
    // A buffer of arrivals.
    #[reflect(ignore)]
    run: Option<Run>,
    starved: u64,
    restarts: u32,
    jumps: u64,
}

/// State of one run with one server.
#[derive(Clone, Debug)]
struct Run {
    /// First tick received. All seconds below count from it on the server's time line, except for `*_at`,
    /// which are on this machine's.
    origin: Tick,
    newest: f64,
    link: ArrivalStats,
    arrived_at: f64,
    stray_at: Option<f64>,
    /// Position and the time at which it was set.
    position: Option<(f64, f64)>,
    speed: f64,
}

impl Run {
    fn new(origin: Tick, now: f64, interval: f64) -> Self {
        Self {
            origin,
            newest: 0.0,
            link: ArrivalStats::new(now, interval),
            arrived_at: now,
            stray_at: None,
            position: None,
            speed: 1.0,
        }
    }

    /// Returns the time of a tick, and whether it is so far from the expected one that it is another
    /// server's or invalid.
    fn slot(&self, tick: Tick, tick_seconds: f64, now: f64, config: &PlayoutConfig) -> (f64, bool) {
        let slot = f64::from(tick.since(self.origin)) * tick_seconds;
        (slot, (slot - (now - self.link.base())).abs() > config.restart)
    }

    fn target_delay(&self, config: &PlayoutConfig, guess: Option<f64>, repeated_after: f64) -> f64 {
        let known = self.link.delay(repeated_after).map(|delay| delay + config.margin);
        let delay = match (known, guess) {
            // A few gaps are no reliable statistics.
            (Some(known), Some(guess)) if self.link.is_young() => known.max(guess),
            (Some(known), _) => known,
            (None, guess) => guess.unwrap_or(config.initial_delay),
        };
        // Not clamp: it panics if the bounds are inconsistent.
        delay.min(config.max_delay).max(0.0)
    }
}

impl Default for PlayoutClock {
    fn default() -> Self {
        Self::new(PlayoutConfig::default())
    }
}

impl PlayoutClock {
    /// Creates a clock without history, for 64 ticks per second.
    #[must_use]
    pub fn new(config: PlayoutConfig) -> Self {
        Self {
            config,
            tick_seconds: 1.0 / 64.0,
            interval: 3,
            guess: None,
            joins: false,
            run: None,
            starved: 0,
            restarts: 0,
            jumps: 0,
        }
    }

    /// Changes the configuration. A different tick duration resets the clock; an invalid one is ignored.
    pub fn configure(&mut self, config: PlayoutConfig, tick_seconds: f64) {
        self.config = config;
        if tick_seconds.is_finite() && tick_seconds > 0.0 && tick_seconds != self.tick_seconds {
            self.tick_seconds = tick_seconds;
            self.run = None;
        }
    }

    /// Sets the interval between updates, in ticks. Default: 3.
    #[must_use]
    pub fn with_interval(mut self, interval: u16) -> Self {
        self.interval = interval;
        self
    }

    /// Sets the initial delay, in seconds.
    pub(crate) fn set_initial_delay(&mut self, guess: f64, joins: bool) {
        self.guess = Some(guess);
        self.joins = joins;
    }

    /// Records the arrival of an update of `tick`, from a pawn whose newest update before was `previous`.
    /// Returns whether the tick belongs to this server; drop the update if it does not.
    ///
    /// Call it once per pair and frame, the newest tick first: all updates that a frame finds count as one
    /// arrival, otherwise a hitch of this machine would look like jitter. Do not call it for an update older
    /// than the pawn's newest, from which nothing can be learnt.
    pub fn arrived(&mut self, tick: Tick, previous: Option<Tick>, now_seconds: f64) -> bool {
        let now = now_seconds;
        if !now.is_finite() {
            return false;
        }
        let interval = f64::from(self.interval) * self.tick_seconds;
        let Some(run) = &mut self.run else {
            self.run = Some(Run::new(tick, now, interval));
            return true;
        };
        if now < run.arrived_at {
            return false;
        }
        run.arrived_at = now;
        let slot_of = |run: &Run, tick| run.slot(tick, self.tick_seconds, now, &self.config);
        let (slot, stray) = slot_of(run, tick);
        if stray {
            if now - *run.stray_at.get_or_insert(now) >= STRAY_SECONDS {
                *run = Run::new(tick, now, interval);
                self.restarts = self.restarts.wrapping_add(1);
                return true;
            }
            return false;
        }
        run.stray_at = None;
        let gap = previous.map(|previous| {
            // The last frame without the missing snapshot is the last one in which it held up playout.
            run.position.map_or(now, |(_, at)| at.min(now)) - slot_of(run, previous).0
        });
        // Those that late moves shorten are not missing.
        let missed =
            previous.is_some_and(|previous| 2 * tick.since(previous) >= 3 * i32::from(self.interval));
        run.link.record((now, slot), (gap, missed), &self.config);
        run.newest = run.newest.max(slot);
        true
    }

    /// Advances the clock to `now_seconds` and returns the view time to draw. `None` before the first
    /// arrival. A non-finite or earlier time has no effect.
    pub fn advance(&mut self, now_seconds: f64) -> Option<ViewTime> {
        let now = now_seconds;
        let repeated_after = self.repeated_after();
        let config = &self.config;
        let run = self.run.as_mut()?;
        let target = now - run.link.base() - run.target_delay(config, self.guess, repeated_after);
        let (position, at) = *run.position.get_or_insert((target, now));
        let passed = now - at;
        if target.is_finite() && passed > 0.0 {
            let error = target - (position + passed);
            let rate = if error < 0.0 { config.slow_down_rate } else { config.speed_up_rate };
            // At most the whole error in this frame, however long the frame was.
            let speed =
                (1.0 + error * rate.min(1.0 / passed)).min(config.max_speed).max(config.min_speed).max(0.0);
            let mut next = position + passed * speed;
            if error.abs() > config.snap {
                next = target;
                self.jumps += 1;
            } else if position < 0.0 && !self.joins {
                // Nothing has been drawn yet, so a change of the delay is not visible.
                next = next.max(target);
            }
            run.speed = speed;
            run.position = Some((next, now));
            self.starved += u64::from(next > run.newest);
        }
        let (position, _) = run.position?;
        position.is_finite().then(|| ViewTime::after(run.origin, position / self.tick_seconds))
    }

    /// Returns whether a tick is so far from the expected one that it is another server's or invalid.
    #[must_use]
    pub fn is_stray(&self, tick: Tick, now_seconds: f64) -> bool {
        self.run.as_ref().is_some_and(|run| run.slot(tick, self.tick_seconds, now_seconds, &self.config).1)
    }

    /// Returns the current playout delay relative to the fastest arrival, in seconds. It excludes the
    /// latency of the link. 0 before the first frame that can show anything, and while the fastest arrival is
    /// later than what is shown, as on a machine whose clock runs much too fast.
    #[must_use]
    pub fn delay_seconds(&self) -> f64 {
        let delay = self.run.as_ref().and_then(|run| {
            let (position, at) = run.position?;
            Some(at - run.link.base() - position)
        });
        delay.unwrap_or(0.0).max(0.0)
    }

    /// Returns the target of the playout delay, in seconds.
    #[must_use]
    pub fn target_delay_seconds(&self) -> f64 {
        let target = |run: &Run| run.target_delay(&self.config, self.guess, self.repeated_after());
        self.run.as_ref().map_or(self.config.initial_delay, target)
    }

    /// Returns the seconds after which the server repeats an update: a tick, but pawns that are sent in every tick need
    /// no repetition.
    fn repeated_after(&self) -> f64 {
        if self.interval > 1 { self.tick_seconds } else { 0.0 }
    }

    /// Returns the current speed relative to real time.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.run.as_ref().map_or(1.0, |run| run.speed)
    }

    /// Returns the number of frames in which playout was beyond the newest snapshot.
    #[must_use]
    pub fn starved(&self) -> u64 {
        self.starved
    }

    /// Returns the number of jumps across errors that were too large to correct gradually.
    #[must_use]
    pub fn jumps(&self) -> u64 {
        self.jumps
    }

    /// Returns the number of restarts after the ticks of another server appeared.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.restarts
    }
}

#[cfg(test)]
mod tests;
