//! The client's estimate of the server's time.

mod spells;

use bevy::prelude::*;
use bevy_unlag_core::{Tick, ViewTime};
use spells::{Legs, Line, Spells};

/// How [`ServerClock`] estimates. The defaults suit 5 to 10 exchanges a second. To use others, insert a
/// [`ServerClock::new`] with them before connecting: reconnections keep them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ServerClockConfig {
    /// Seconds of which the fastest way up and the fastest way down are kept. Default: 4. Raising it
    /// finds faster ones, and averages less over a link on which none is fast.
    pub spell: f64,
    /// How many such spells are remembered, at most 64. Default: 20, which is 80 s with the default
    /// `spell`. Raising it makes drift better known, and a step that is too small to be seen takes longer
    /// to be believed.
    pub spells: usize,
    /// How much faster or slower than real time the published time runs to make up for an error, in parts.
    /// Default: 0.01. Raising it makes up sooner, and everything that is placed by it visibly changes speed.
    pub slew: f64,
    /// An error beyond this many seconds is jumped over. Default: 0.25. Lowering it jumps more often, and
    /// everything that is placed by it with it.
    pub snap: f64,
    /// Over how many exchanges at the beginning the published time follows the estimate at once.
    /// Default: 5. Raising it is right sooner, and restless for longer.
    pub settle: u32,
}

impl Default for ServerClockConfig {
    fn default() -> Self {
        Self { spell: 4.0, spells: 20, slew: 0.01, snap: 0.25, settle: 5 }
    }
}

/// What time it is on the server: a two-sided minimum filter over small exchanges.
///
/// The lowest way up and the lowest way down of every few seconds are kept separately, because jitter and
/// full buffers only ever make a way longer, and each for itself. A line through them is the offset and its
/// drift. What is published runs at most [`slew`](ServerClockConfig::slew) faster or slower than real
/// time and never backward, but for a step of a second or more: that is another time line.
///
/// What no exchange can tell is by how much one way is longer than the other at best: half of the
/// difference is in every estimate. [`uncertainty`](Self::uncertainty) is the bound for that.
#[derive(Resource, Clone, Debug)]
pub struct ServerClock {
    config: ServerClockConfig,
    tick_seconds: f64,
    spells: Spells,
    line: Option<Line>,
    published: Option<Published>,
    samples: u64,
    /// Exchanges since it began or jumped.
    settled: u32,
    contradictions: u32,
    rejected: u64,
    restarts: u32,
    jumps: u64,
}

/// What was published when, and what must not be undercut from then on.
#[derive(Clone, Copy, Debug)]
struct Published {
    at: f64,
    offset: f64,
    floor: f64,
}

impl Default for ServerClock {
    /// For 64 ticks a second.
    fn default() -> Self {
        Self::new(ServerClockConfig::default(), 1.0 / 64.0)
    }
}

impl ServerClock {
    /// Beyond this a time is no time: 30 years.
    const MOST_SECONDS: f64 = 1e9;
    /// An exchange that took longer tells nothing.
    const LONGEST: f64 = 10.0;
    /// How much a frame's time stamp may be beside the truth, in seconds.
    const GRAIN: f64 = 5e-3;
    /// After this many exchanges in a row that exclude the estimate, it is the estimate that is wrong.
    const CONTRADICTIONS: u32 = 3;
    /// A step back that is shorter is waited for: nothing runs backward.
    const RESTART: f64 = 1.0;

    /// A clock that knows nothing yet. A tick that is no length counts as 1/64 s.
    #[must_use]
    pub fn new(config: ServerClockConfig, tick_seconds: f64) -> Self {
        Self {
            config,
            tick_seconds: if tick_seconds.is_finite() && tick_seconds > 0.0 {
                tick_seconds
            } else {
                1.0 / 64.0
            },
            spells: Spells::new(),
            line: None,
            published: None,
            samples: 0,
            settled: 0,
            contradictions: 0,
            rejected: 0,
            restarts: 0,
            jumps: 0,
        }
    }

    /// How it estimates.
    #[must_use]
    pub fn config(&self) -> &ServerClockConfig {
        &self.config
    }

    /// Changes how it estimates. Another length of a tick makes it forget what it learnt; one that is no
    /// length is ignored.
    pub fn configure(&mut self, config: ServerClockConfig, tick_seconds: f64) {
        self.config = config;
        if tick_seconds.is_finite() && tick_seconds > 0.0 && tick_seconds != self.tick_seconds {
            *self = Self::new(config, tick_seconds);
        }
    }

    /// An exchange has come back: this machine sent at `t0` and had the answer at `t3`, in seconds of
    /// [`Time<Real>`]; the server had it at `t1` and answered at `t2`, in ticks since tick 0 times the
    /// seconds in a tick. Says whether it was taken in. What is no time, or cannot have happened in this
    /// order, is dropped and counted.
    pub fn sample(&mut self, t0: f64, t1: f64, t2: f64, t3: f64) -> bool {
        let taken = self.take(t0, t1, t2, t3);
        self.rejected += u64::from(!taken);
        taken
    }

    fn take(&mut self, t0: f64, t1: f64, t2: f64, t3: f64) -> bool {
        if [t0, t1, t2, t3].iter().any(|t| !t.is_finite() || t.abs() > Self::MOST_SECONDS) {
            return false;
        }
        let held = t2 - t1;
        let went_back = self.published.is_some_and(|published| t3 < published.at);
        if t3 < t0 || t3 - t0 > Self::LONGEST || held < 0.0 || held > t3 - t0 + Self::GRAIN || went_back {
            return false;
        }
        // Ticks wrap. Which of all times that look alike is meant is the one next to what is expected.
        let expected = self.line.map_or(t1, |line| t3 + line.offset_at(t3));
        let turn = f64::from(u32::MAX) * self.tick_seconds + self.tick_seconds;
        let turns = ((expected - t1) / turn).round() * turn;
        let legs = Legs { at: t3, up: t1 + turns - t0, down: t3 - t2 - turns };
        if let Some(line) = self.line {
            let doubt = Self::GRAIN + (t3 - line.at) * 5e-4;
            if legs.excludes(line.offset_at(t3)) > doubt {
                self.contradictions += 1;
                if self.contradictions < Self::CONTRADICTIONS {
                    return false;
                }
                // The time line has been moved: what was learnt before belongs to another one.
                self.spells.clear();
                self.restarts = self.restarts.wrapping_add(1);
            }
        }
        self.contradictions = 0;
        self.spells.take(&legs, &self.config);
        self.samples += 1;
        self.settled = self.settled.saturating_add(1);
        if let Some(line) = self.spells.line(t3) {
            self.publish(line);
        }
        true
    }

    /// Takes over a new estimate. What is published stays where it is, and goes towards it from now on.
    fn publish(&mut self, line: Line) {
        let now = line.at;
        let before = self.published_offset(now);
        let follows = self.settled <= self.config.settle;
        let jumps = before.is_some_and(|before| (line.offset - before).abs() > self.config.snap);
        if jumps && !follows {
            // The first exchanges after a jump are no better than the first of all.
            self.settled = 1;
            self.jumps += 1;
        }
        let offset = before.filter(|_| !jumps && !follows).unwrap_or(line.offset);
        let back = before.map_or(0.0, |before| before - offset);
        let floor = self.published.map_or(f64::NEG_INFINITY, |published| published.floor);
        let floor = match back {
            back if back >= Self::RESTART => f64::NEG_INFINITY,
            back if back > 0.0 => floor.max(now + offset + back),
            _ => floor,
        };
        self.published = Some(Published { at: now, offset, floor });
        self.line = Some(line);
    }

    /// The offset that is published at `client_seconds`: on its way to the estimate, no faster than it may.
    fn published_offset(&self, client_seconds: f64) -> Option<f64> {
        let (line, published) = (self.line?, self.published?);
        let passed = (client_seconds - published.at).max(0.0);
        // More than half of real time would be no slewing any more.
        let most = passed * self.config.slew.clamp(0.0, 0.5);
        let error = line.offset_at(published.at + passed) - published.offset;
        Some(published.offset + error.max(-most).min(most))
    }

    /// The server's time at `client_seconds` of [`Time<Real>`], in seconds since its tick 0. `None` before
    /// the first exchange, and for what is no time. It never runs backward for times that do not.
    #[must_use]
    pub fn seconds(&self, client_seconds: f64) -> Option<f64> {
        let offset = self.published_offset(client_seconds)?;
        client_seconds.is_finite().then_some((client_seconds + offset).max(self.published?.floor))
    }

    /// The same in ticks, from 0 up to where ticks wrap.
    #[must_use]
    pub fn now(&self, client_seconds: f64) -> Option<f64> {
        let wrap = f64::from(u32::MAX) + 1.0;
        self.seconds(client_seconds).map(|seconds| (seconds / self.tick_seconds).rem_euclid(wrap))
    }

    /// The same as a [`ViewTime`], in 1/256 of a tick.
    #[must_use]
    pub fn view_time(&self, client_seconds: f64) -> Option<ViewTime> {
        self.now(client_seconds).map(|ticks| ViewTime::after(Tick(0), ticks))
    }

    /// What the estimate is at `client_seconds` before it is slewed: server − client, in seconds.
    #[must_use]
    pub fn offset(&self, client_seconds: f64) -> Option<f64> {
        self.line.map(|line| line.offset_at(client_seconds)).filter(|offset| offset.is_finite())
    }

    /// How much faster the server's clock runs than this machine's, in seconds a second. 0 until known.
    #[must_use]
    pub fn drift(&self) -> f64 {
        self.line.map_or(0.0, |line| line.drift)
    }

    /// How far, in seconds, the estimate can be wrong if the two ways are not equally long: half of the
    /// smallest round trip that is remembered. `None` before the first exchange.
    #[must_use]
    pub fn uncertainty(&self) -> Option<f64> {
        self.spells.best().map(|(round_trip, _)| (round_trip / 2.0).max(0.0))
    }

    /// How many exchanges were taken in.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// How many exchanges were dropped because they cannot have happened, or contradict all others.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// How often the server's time line turned out to be another.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// How often the published time jumped after it had settled.
    #[must_use]
    pub fn jumps(&self) -> u64 {
        self.jumps
    }
}

#[cfg(test)]
mod tests;
