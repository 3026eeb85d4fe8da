//! The moment of the server's past at which proxies of one rate are drawn.

use bevy_unlag_core::{Tick, ViewTime};

use crate::{PlayoutConfig, link::LinkMeter};

/// Only snapshots far from where they are expected, for this many seconds: it is another server.
/// A single one may be the old state of something that slept.
const STRAY_SECONDS: f64 = 0.5;

/// One view time for all proxies that are updated at one rate, so that what is seen together also was
/// together; [`Playout`](crate::Playout) has one for each rate. It knows nothing of round trips or pings:
/// it learns from arrivals alone, so the latency of the link cannot starve it.
///
/// It runs at real time, at most a little slower or faster to change its delay, and never
/// backward. Only an error beyond [`PlayoutConfig::snap`] and a restart of the server are jumped.
#[derive(Clone, Debug)]
pub struct PlayoutClock {
    config: PlayoutConfig,
    tick_seconds: f64,
    /// Ticks from one update to the next.
    interval: u16,
    /// The delay until enough is known, when there is a better guess than the configuration's.
    guess: Option<f64>,
    /// Whether pawns come over to it that were drawn before: they would see it leap.
    joins: bool,
    run: Option<Run>,
    starved: u64,
    restarts: u32,
    jumps: u64,
}

/// What belongs to one run of one server.
#[derive(Clone, Debug)]
struct Run {
    /// The first tick seen. All seconds below are since then, on the server's time line, but for
    /// `*_at`, which are on this machine's.
    origin: Tick,
    newest: f64,
    link: LinkMeter,
    arrived_at: f64,
    stray_at: Option<f64>,
    /// (position, when it was set).
    position: Option<(f64, f64)>,
    speed: f64,
}

impl Run {
    fn new(origin: Tick, now: f64, interval: f64) -> Self {
        Self {
            origin,
            newest: 0.0,
            link: LinkMeter::new(now, interval),
            arrived_at: now,
            stray_at: None,
            position: None,
            speed: 1.0,
        }
    }

    /// When a tick was, and whether that is so far from where arrivals are expected that it belongs to
    /// another server, or to nobody.
    fn slot(&self, tick: Tick, tick_seconds: f64, now: f64, config: &PlayoutConfig) -> (f64, bool) {
        let slot = f64::from(tick.since(self.origin)) * tick_seconds;
        (slot, (slot - (now - self.link.base())).abs() > config.restart)
    }

    fn target_delay(&self, config: &PlayoutConfig, guess: Option<f64>) -> f64 {
        let known = self.link.delay().map(|delay| delay + config.margin);
        let delay = match (known, guess) {
            // A few gaps say little.
            (Some(known), Some(guess)) if self.link.is_young() => known.max(guess),
            (Some(known), _) => known,
            (None, guess) => guess.unwrap_or(config.initial_delay),
        };
        // Not clamp: it panics on bounds that make no sense.
        delay.min(config.max_delay).max(0.0)
    }
}

impl Default for PlayoutClock {
    fn default() -> Self {
        Self::new(PlayoutConfig::default())
    }
}

impl PlayoutClock {
    /// A clock that has seen nothing yet, for 64 ticks a second.
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

    /// Changes how it runs. Another length of a tick makes it forget what it learnt; one that is
    /// no length is ignored.
    pub fn configure(&mut self, config: PlayoutConfig, tick_seconds: f64) {
        self.config = config;
        if tick_seconds.is_finite() && tick_seconds > 0.0 && tick_seconds != self.tick_seconds {
            self.tick_seconds = tick_seconds;
            self.run = None;
        }
    }

    /// This clock, for updates every so many ticks. Default: 3.
    #[must_use]
    pub fn every(mut self, interval: u16) -> Self {
        self.interval = interval;
        self
    }

    /// A delay, in seconds, to begin with.
    pub(crate) fn begin_with(&mut self, guess: f64, joins: bool) {
        self.guess = Some(guess);
        self.joins = joins;
    }

    /// An update of `tick` arrived, of a pawn whose newest one before was `previous`. Call it once per
    /// pair and frame, the newest tick first: what a frame finds waiting is one arrival, or a hitch of
    /// this machine would look like jitter. Older than the pawn's newest, it teaches nothing: do not
    /// call it. Says whether the tick belongs to this server: a stray one should be dropped.
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
            // Playout was last held up by the missing snapshot in the last frame without it.
            run.position.map_or(now, |(_, at)| at.min(now)) - slot_of(run, previous).0
        });
        run.link.take(now, slot, gap, &self.config);
        run.newest = run.newest.max(slot);
        true
    }

    /// Runs on to `now_seconds` and says what moment is to be drawn. `None` before the first
    /// arrival. A time that is no number, or goes back, changes nothing.
    pub fn advance(&mut self, now_seconds: f64) -> Option<ViewTime> {
        let now = now_seconds;
        let config = &self.config;
        let run = self.run.as_mut()?;
        let target = now - run.link.base() - run.target_delay(config, self.guess);
        let (position, at) = *run.position.get_or_insert((target, now));
        let passed = now - at;
        if target.is_finite() && passed > 0.0 {
            let error = target - (position + passed);
            let rate = if error < 0.0 { config.attack } else { config.release };
            // No more than the error in this frame, however long the frame was.
            let speed =
                (1.0 + error * rate.min(1.0 / passed)).min(config.max_speed).max(config.min_speed).max(0.0);
            let mut next = position + passed * speed;
            if error.abs() > config.snap {
                next = target;
                self.jumps += 1;
            } else if position < 0.0 && !self.joins {
                // Nothing has been drawn yet, so nobody sees the delay being learnt.
                next = next.max(target);
            }
            run.speed = speed;
            run.position = Some((next, now));
            self.starved += u64::from(next > run.newest);
        }
        let (position, _) = run.position?;
        position.is_finite().then(|| ViewTime::after(run.origin, position / self.tick_seconds))
    }

    /// Whether a tick is so far from where arrivals are expected that it belongs to another server, or
    /// to nobody.
    #[must_use]
    pub fn is_stray(&self, tick: Tick, now_seconds: f64) -> bool {
        self.run.as_ref().is_some_and(|run| run.slot(tick, self.tick_seconds, now_seconds, &self.config).1)
    }

    /// How far playout runs behind the fastest arrival, in seconds; the link's latency is not in
    /// it. 0 before the first frame that could show something.
    #[must_use]
    pub fn delay_seconds(&self) -> f64 {
        let delay = self.run.as_ref().and_then(|run| {
            let (position, at) = run.position?;
            Some(at - run.link.base() - position)
        });
        delay.unwrap_or(0.0)
    }

    /// The delay that it is on its way to, in seconds.
    #[must_use]
    pub fn target_delay_seconds(&self) -> f64 {
        self.run.as_ref().map_or(self.config.initial_delay, |run| run.target_delay(&self.config, self.guess))
    }

    /// How fast it ran last, in parts of real time.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.run.as_ref().map_or(1.0, |run| run.speed)
    }

    /// In how many frames it was beyond the newest snapshot of all.
    #[must_use]
    pub fn starved(&self) -> u64 {
        self.starved
    }

    /// How often an error was too large to chase and was jumped over.
    #[must_use]
    pub fn jumps(&self) -> u64 {
        self.jumps
    }

    /// How often it started afresh because another server counts the ticks.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.restarts
    }
}

#[cfg(test)]
mod tests;
