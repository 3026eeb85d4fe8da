//! A playout clock for each rate at which pawns are updated.

use bevy::prelude::*;
use bevy_unlag_core::{Tick, ViewTime};

use crate::{PlayoutClock, PlayoutConfig};

/// Rates that get a clock of their own at most; a pawn at yet another rate uses the next slower one.
const MAX_RATES: usize = 8;
/// Seconds after which a clock that no pawn uses is forgotten.
const UNUSED_SECONDS: f64 = 10.0;
/// Intervals, in ticks, that are told apart: what lies between counts as the next longer one.
const INTERVALS: [u16; 16] = [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 24, 32, 48, 64, 96, 128];

/// The moments of the server's past at which proxies are drawn. All pawns that are updated at one
/// rate share one moment, so that what is seen together also was together; a pawn that is updated
/// once a second must not make everyone else a second late.
#[derive(Resource, Clone, Debug, Default)]
pub struct Playout {
    rates: Vec<Rate>,
}

#[derive(Clone, Debug)]
struct Rate {
    interval: u16,
    clock: PlayoutClock,
    used_at: f64,
    pawns: u32,
    time: Option<ViewTime>,
    restarted: bool,
}

/// What a clock says in a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) interval: u16,
    pub(crate) time: ViewTime,
    pub(crate) speed: f64,
}

impl Playout {
    /// The clock of most pawns. `None` before the first update.
    #[must_use]
    pub fn primary(&self) -> Option<&PlayoutClock> {
        self.main().map(|rate| &rate.clock)
    }

    /// The clock of pawns that are updated every so many ticks, if there is one.
    #[must_use]
    pub fn clock(&self, interval: u16) -> Option<&PlayoutClock> {
        self.rates.iter().find(|rate| rate.interval == interval).map(|rate| &rate.clock)
    }

    /// The intervals that have a clock, in ticks.
    pub fn intervals(&self) -> impl Iterator<Item = u16> {
        self.rates.iter().map(|rate| rate.interval)
    }

    fn main(&self) -> Option<&Rate> {
        self.rates.iter().max_by_key(|rate| (rate.pawns, core::cmp::Reverse(rate.interval)))
    }

    /// The moment that most pawns are drawn at.
    pub(crate) fn main_time(&self) -> Option<ViewTime> {
        self.main()?.time
    }

    /// The interval that one of so many ticks counts as.
    pub(crate) fn class(spacing: u16) -> u16 {
        INTERVALS.into_iter().find(|interval| *interval >= spacing).unwrap_or(INTERVALS[INTERVALS.len() - 1])
    }

    fn rate(
        &mut self,
        interval: u16,
        config: &PlayoutConfig,
        tick_seconds: f64,
        now: f64,
    ) -> Option<&mut Rate> {
        if let Some(at) = self.used(interval) {
            return self.rates.get_mut(at);
        }
        // The way is the same for all rates: what lateness is known of it is a good first guess.
        let late = self
            .main()
            .map_or(0.0, |main| main.clock.target_delay_seconds() - f64::from(main.interval) * tick_seconds);
        let guess = f64::from(interval) * tick_seconds + late.max(config.margin);
        let mut clock = PlayoutClock::new(*config).every(interval);
        clock.configure(*config, tick_seconds);
        clock.begin_with(guess, !self.rates.is_empty());
        self.rates.push(Rate { interval, clock, used_at: now, pawns: 0, time: None, restarted: false });
        self.rates.last_mut()
    }

    /// Begins a frame: configurations are taken over, pawns counted anew.
    pub(crate) fn begin(&mut self, config: &PlayoutConfig, tick_seconds: f64, now: f64) {
        self.rates.retain(|rate| rate.pawns > 0 || now - rate.used_at < UNUSED_SECONDS);
        for rate in &mut self.rates {
            rate.clock.configure(*config, tick_seconds);
            rate.pawns = 0;
            rate.restarted = false;
        }
    }

    /// The clock that pawns of this interval use: their own, and when there are too many the next slower
    /// one, or the slowest.
    fn used(&self, interval: u16) -> Option<usize> {
        let own = self.rates.iter().position(|rate| rate.interval == interval);
        own.or_else(|| {
            let full = self.rates.len() == MAX_RATES;
            let nearest =
                |(_, rate): &(usize, &Rate)| (rate.interval < interval, rate.interval.abs_diff(interval));
            self.rates.iter().enumerate().filter(|_| full).min_by_key(nearest).map(|(at, _)| at)
        })
    }

    /// A pawn uses this rate.
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

    /// Whether a tick is so far from where this rate's are that it is another server's, or nonsense.
    pub(crate) fn is_stray(&self, interval: u16, tick: Tick, now: f64) -> bool {
        let clock = self.clock(interval).or_else(|| self.primary());
        clock.is_some_and(|clock| clock.is_stray(tick, now))
    }

    /// Whether this rate's clock has just found another server.
    pub(crate) fn restarted(&self, interval: u16) -> bool {
        self.used(interval).and_then(|at| self.rates.get(at)).is_some_and(|rate| rate.restarted)
    }

    /// Runs all clocks on.
    pub(crate) fn advance(&mut self, now: f64) {
        for rate in &mut self.rates {
            rate.time = rate.clock.advance(now);
        }
    }

    /// The moment of this rate in this frame, with the interval and the speed of the clock that says so:
    /// one that is so new that it knows nothing leaves it to the one of most pawns.
    pub(crate) fn time(&self, interval: u16) -> Option<Moment> {
        let of = |rate: &Rate| {
            Some(Moment { interval: rate.interval, time: rate.time?, speed: rate.clock.speed() })
        };
        let own = self.used(interval).and_then(|at| self.rates.get(at));
        own.and_then(of).or_else(|| of(self.main()?))
    }
}
