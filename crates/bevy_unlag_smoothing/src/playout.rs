//! Playout clocks, one per update rate.

use bevy::prelude::*;
use bevy_unlag_core::{Tick, ViewTime};

use crate::{clock::PlayoutClock, config::PlayoutConfig};

/// Maximum number of rates with their own clock. A pawn with another rate uses the next slower one.
const MAX_RATES: usize = 8;
/// Seconds after which an unused clock is removed.
const UNUSED_SECONDS: f64 = 10.0;
/// Update intervals in ticks that are distinguished. An interval in between counts as the next longer one.
const INTERVALS: [u16; 16] = [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 24, 32, 48, 64, 96, 128];

/// View times at which proxies are drawn. All pawns that are updated at one rate share a playout clock, so
/// that pawns are drawn as they were at the same moment. The rates are separate, because a pawn that is
/// updated once a second must not delay all others by a second.
#[doc(alias = "interpolation delay")]
#[derive(Resource, Clone, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct PlayoutClocks {
    rates: Vec<RateClock>,
}

#[derive(Clone, Debug, Reflect)]
struct RateClock {
    interval: u16,
    clock: PlayoutClock,
    used_at: f64,
    pawns: u32,
    time: Option<ViewTime>,
    restarted: bool,
}

/// State of a clock in the current frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockReading {
    pub(crate) interval: u16,
    pub(crate) time: ViewTime,
    pub(crate) speed: f64,
}

impl PlayoutClocks {
    /// Returns the clock of most pawns. `None` before the first update.
    #[must_use]
    pub fn primary(&self) -> Option<&PlayoutClock> {
        self.most_used().map(|rate| &rate.clock)
    }

    /// Returns the clock of pawns that are updated every `interval` ticks, if there is one.
    #[must_use]
    pub fn clock(&self, interval: u16) -> Option<&PlayoutClock> {
        self.rates.iter().find(|rate| rate.interval == interval).map(|rate| &rate.clock)
    }

    /// Returns the intervals that have a clock, in ticks.
    pub fn intervals(&self) -> impl Iterator<Item = u16> {
        self.rates.iter().map(|rate| rate.interval)
    }

    fn most_used(&self) -> Option<&RateClock> {
        self.rates.iter().max_by_key(|rate| (rate.pawns, core::cmp::Reverse(rate.interval)))
    }

    /// Returns the time of the most common clock.
    pub(crate) fn main_time(&self) -> Option<ViewTime> {
        self.most_used()?.time
    }

    /// Returns the interval as which a spacing of this many ticks counts.
    pub(crate) fn interval_class(spacing: u16) -> u16 {
        INTERVALS.into_iter().find(|interval| *interval >= spacing).unwrap_or(INTERVALS[INTERVALS.len() - 1])
    }

    fn rate(
        &mut self,
        interval: u16,
        config: &PlayoutConfig,
        tick_seconds: f64,
        now: f64,
    ) -> Option<&mut RateClock> {
        if let Some(at) = self.used(interval) {
            return self.rates.get_mut(at);
        }
        // All rates share the link, so its known lateness is a good first guess.
        let late = self.most_used().map_or(0.0, |most_used| {
            most_used.clock.target_delay_seconds() - f64::from(most_used.interval) * tick_seconds
        });
        let guess = f64::from(interval) * tick_seconds + late.max(config.margin);
        let mut clock = PlayoutClock::new(*config).with_interval(interval);
        clock.configure(*config, tick_seconds);
        clock.set_initial_delay(guess, !self.rates.is_empty());
        self.rates.push(RateClock { interval, clock, used_at: now, pawns: 0, time: None, restarted: false });
        self.rates.last_mut()
    }

    /// Begins a frame: applies the configuration and resets the counts of pawns.
    pub(crate) fn begin(&mut self, config: &PlayoutConfig, tick_seconds: f64, now: f64) {
        self.rates.retain(|rate| rate.pawns > 0 || now - rate.used_at < UNUSED_SECONDS);
        for rate in &mut self.rates {
            rate.clock.configure(*config, tick_seconds);
            rate.pawns = 0;
            rate.restarted = false;
        }
    }

    /// Returns the index of the clock for pawns of this interval: their own, or if the maximum number is
    /// reached the next slower one, or the slowest.
    fn used(&self, interval: u16) -> Option<usize> {
        let own = self.rates.iter().position(|rate| rate.interval == interval);
        own.or_else(|| {
            let full = self.rates.len() == MAX_RATES;
            let nearest = |(_, rate): &(usize, &RateClock)| {
                (rate.interval < interval, rate.interval.abs_diff(interval))
            };
            self.rates.iter().enumerate().filter(|_| full).min_by_key(nearest).map(|(at, _)| at)
        })
    }

    /// Counts a pawn that uses this rate.
    pub(crate) fn count(&mut self, interval: u16, now: f64) {
        if let Some(rate) = self.used(interval).and_then(|at| self.rates.get_mut(at)) {
            rate.pawns += 1;
            rate.used_at = now;
        }
    }

    /// See [`PlayoutClock::arrived`].
    pub(crate) fn arrived(
        &mut self,
        (interval, tick, previous): (u16, Tick, Option<Tick>),
        (config, tick_seconds): (&PlayoutConfig, f64),
        now: f64,
    ) {
        let Some(rate) = self.rate(interval, config, tick_seconds, now) else { return };
        let restarts = rate.clock.restarts();
        rate.clock.arrived(tick, previous, now);
        rate.used_at = now;
        if rate.clock.restarts() != restarts {
            rate.restarted = true;
        }
    }

    /// Returns whether a tick is so far from this rate's that it is another server's or invalid.
    pub(crate) fn is_stray(&self, interval: u16, tick: Tick, now: f64) -> bool {
        let clock = self.clock(interval).or_else(|| self.primary());
        clock.is_some_and(|clock| clock.is_stray(tick, now))
    }

    /// Returns whether the clock of this rate has just switched to another server.
    pub(crate) fn restarted(&self, interval: u16) -> bool {
        self.used(interval).and_then(|at| self.rates.get(at)).is_some_and(|rate| rate.restarted)
    }

    /// Advances all clocks.
    pub(crate) fn advance(&mut self, now: f64) {
        for rate in &mut self.rates {
            rate.time = rate.clock.advance(now);
        }
    }

    /// Returns the view time of this rate in the current frame, with the interval and the speed of the clock
    /// that it comes from. A clock without a view time yet is replaced by the one of most pawns.
    pub(crate) fn time(&self, interval: u16) -> Option<ClockReading> {
        let of = |rate: &RateClock| {
            Some(ClockReading { interval: rate.interval, time: rate.time?, speed: rate.clock.speed() })
        };
        let own = self.used(interval).and_then(|at| self.rates.get(at));
        own.and_then(of).or_else(|| of(self.most_used()?))
    }
}
