//! Client-side estimate of the server's time.

mod exchange_sample;
mod offset_line;
mod offset_windows;

use bevy::prelude::*;
use bevy_unlag_core::{Tick, ViewTime};
use exchange_sample::ExchangeSample;
use offset_line::OffsetLine;
use offset_windows::OffsetWindows;

/// Settings of [`ServerClock`]. The defaults suit 5 to 10 exchanges per second. To change them insert a
/// [`ServerClock::new`] before connecting; reconnections keep them.
#[doc(alias = "SyncConfig")]
#[derive(Clone, Copy, PartialEq, Debug, Reflect)]
pub struct ServerClockConfig {
    /// Length in seconds of a window in which the fastest uplink and the fastest downlink sample are kept.
    /// Default: 4. Raising it finds faster samples, and averages less on a link without fast ones.
    pub window_seconds: f64,
    /// Number of windows that are remembered, at most 64. Default: 20, which is 80 s with the default
    /// `window_seconds`. Raising it improves the estimate of the drift, but a time step too small to be
    /// detected takes longer to be followed.
    pub max_windows: usize,
    /// Maximum deviation of the published time's speed from real time while it corrects an error, as a
    /// fraction. Default: 0.01. Raising it corrects sooner, and everything that is placed by it visibly
    /// changes speed.
    pub slew: f64,
    /// Error in seconds beyond which the published time jumps. Default: 0.25. Lowering it causes more jumps,
    /// also of everything that is placed by it.
    pub snap: f64,
    /// Number of initial exchanges during which the published time follows the estimate at once. Default: 5.
    /// Raising it reaches the correct time sooner, but the time is unsteady for longer.
    pub settle: u32,
}

impl Default for ServerClockConfig {
    fn default() -> Self {
        Self { window_seconds: 4.0, max_windows: 20, slew: 0.01, snap: 0.25, settle: 5 }
    }
}

/// Estimate of the server's current time from small exchanges: a two-sided minimum filter, and a mean where no
/// packet is fast.
///
/// Jitter and full buffers only ever increase the latency, and of each direction separately. Therefore the
/// minimum uplink and the minimum downlink samples of each window of a few seconds are kept, and a line
/// through them yields the offset and its drift. Where the minima are scattered, because hardly any packet is free
/// of jitter, a line through the means of all samples is more accurate and prevails; where one direction varies more
/// than the other, it is not and does not. The published time runs at most
/// [`slew`](ServerClockConfig::slew) faster or slower than real time and never backward, except for a step
/// of a second or more, which is another time line.
///
/// No exchange can detect an asymmetry of the minimum latencies: half of their difference is in every
/// estimate. [`uncertainty`](Self::uncertainty) is the bound of that error.
#[doc(alias = "GetServerWorldTimeSeconds")]
#[doc(alias = "RemoteTimeline")]
#[derive(Resource, Clone, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct ServerClock {
    config: ServerClockConfig,
    tick_seconds: f64,
    // A buffer of samples.
    #[reflect(ignore, default = "OffsetWindows::new")]
    windows: OffsetWindows,
    line: Option<OffsetLine>,
    // The floor of the estimate, not the estimate.
    #[reflect(ignore)]
    published: Option<Published>,
    /// Newest accepted exchange.
    newest: Option<[f64; 4]>,
    samples: u64,
    /// Exchanges since the start or the last jump.
    settled: u32,
    contradictions: u32,
    rejected: u64,
    restarts: u32,
    jumps: u64,
}

/// Last published time, and the floor below which no later one may be.
#[derive(Clone, Copy, Debug)]
struct Published {
    at: f64,
    offset: f64,
    floor: f64,
}

impl Default for ServerClock {
    /// Creates a clock for 64 ticks per second.
    fn default() -> Self {
        Self::new(ServerClockConfig::default(), 1.0 / 64.0)
    }
}

impl ServerClock {
    /// Maximum absolute time in seconds that is accepted: 30 years.
    const MOST_SECONDS: f64 = 1e9;
    /// Maximum duration of a usable exchange, in seconds.
    const LONGEST: f64 = 10.0;
    /// Accuracy of a frame's time stamp, in seconds.
    const GRAIN: f64 = 5e-3;
    /// Number of consecutive exchanges that must contradict the estimate before it is discarded.
    const CONTRADICTIONS: u32 = 3;
    /// Longest frame whose wait is taken into account, in seconds.
    const LONGEST_FRAME: f64 = 0.1;
    /// Steps back of less than this many seconds are waited for, because the time never runs backward.
    const RESTART: f64 = 1.0;

    /// Creates a clock without samples. An invalid tick duration is replaced by 1/64 s.
    #[must_use]
    pub fn new(config: ServerClockConfig, tick_seconds: f64) -> Self {
        Self {
            config,
            tick_seconds: if tick_seconds.is_finite() && tick_seconds > 0.0 {
                tick_seconds
            } else {
                1.0 / 64.0
            },
            windows: OffsetWindows::new(),
            line: None,
            published: None,
            newest: None,
            samples: 0,
            settled: 0,
            contradictions: 0,
            rejected: 0,
            restarts: 0,
            jumps: 0,
        }
    }

    /// Returns the settings.
    #[must_use]
    pub fn config(&self) -> &ServerClockConfig {
        &self.config
    }

    /// Changes the settings. A different tick duration resets the clock; an invalid one is ignored.
    pub fn configure(&mut self, config: ServerClockConfig, tick_seconds: f64) {
        self.config = config;
        if tick_seconds.is_finite() && tick_seconds > 0.0 && tick_seconds != self.tick_seconds {
            *self = Self::new(config, tick_seconds);
        }
    }

    /// Adds an exchange: this machine sent at `t0` and received the reply at `t3`, in unsteered
    /// seconds of [`GameClock`](bevy_unlag_core::GameClock); the server received at `t1` and replied at `t2`, in
    /// seconds since its tick 0. Returns whether it was accepted. Non-finite times and impossible orders are dropped
    /// and counted.
    pub fn sample(&mut self, t0: f64, t1: f64, t2: f64, t3: f64) -> bool {
        self.sample_in_frames([t0, t1, t2, t3], 0.0, 0.0)
    }

    /// Adds an exchange like [`sample`](Self::sample). `server_frame` and `own_frame` are the durations in seconds of
    /// the frames in which the request and the reply were found: on average they had waited for half of it, which
    /// would be an asymmetry where the frames of the two machines differ.
    pub fn sample_in_frames(&mut self, exchange: [f64; 4], server_frame: f64, own_frame: f64) -> bool {
        let wait = |frame: f64| if frame > 0.0 { frame.min(Self::LONGEST_FRAME) / 2.0 } else { 0.0 };
        let taken = self.add_sample(exchange, (wait(server_frame), wait(own_frame)));
        self.rejected += u64::from(!taken);
        if taken {
            self.newest = Some(exchange);
        }
        taken
    }

    fn add_sample(&mut self, [t0, t1, t2, t3]: [f64; 4], waits: (f64, f64)) -> bool {
        if [t0, t1, t2, t3].iter().any(|t| !t.is_finite() || t.abs() > Self::MOST_SECONDS) {
            return false;
        }
        let held = t2 - t1;
        let went_back = self.published.is_some_and(|published| t3 < published.at);
        if t3 < t0 || t3 - t0 > Self::LONGEST || held < 0.0 || held > t3 - t0 + Self::GRAIN || went_back {
            return false;
        }
        // Ticks wrap around: choose the time closest to the expected one.
        let expected = self.line.map_or(t1, |line| t3 + line.offset_at(t3));
        let turn = f64::from(u32::MAX) * self.tick_seconds + self.tick_seconds;
        let turns = ((expected - t1) / turn).round() * turn;
        let legs = ExchangeSample { at: t3, up: t1 + turns - t0, down: t3 - t2 - turns, waits };
        if let Some(line) = self.line {
            let doubt = Self::GRAIN + (t3 - line.at) * 5e-4;
            if legs.distance_outside(line.offset_at(t3)) > doubt {
                self.contradictions += 1;
                if self.contradictions < Self::CONTRADICTIONS {
                    return false;
                }
                // The server's time line has moved; earlier samples belong to another one.
                self.windows.clear();
                self.restarts = self.restarts.wrapping_add(1);
            }
        }
        self.contradictions = 0;
        self.windows.add_sample(&legs, &self.config);
        self.samples += 1;
        self.settled = self.settled.saturating_add(1);
        if let Some(line) = self.windows.line(t3) {
            self.publish(line);
        }
        true
    }

    /// Applies a new estimate. The published time stays where it is and approaches the estimate from now on.
    fn publish(&mut self, line: OffsetLine) {
        let now = line.at;
        let before = self.published_offset(now);
        let follows = self.settled <= self.config.settle;
        let jumps = before.is_some_and(|before| (line.offset - before).abs() > self.config.snap);
        if jumps && !follows {
            // After a jump the first exchanges are as unreliable as the very first ones.
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

    /// Returns the published offset at `client_seconds`, on its way to the estimate within the slew limit.
    fn published_offset(&self, client_seconds: f64) -> Option<f64> {
        let (line, published) = (self.line?, self.published?);
        let passed = (client_seconds - published.at).max(0.0);
        // More than half of real time would no longer be slewing.
        let most = passed * self.config.slew.clamp(0.0, 0.5);
        let error = line.offset_at(published.at + passed) - published.offset;
        Some(published.offset + error.max(-most).min(most))
    }

    /// Returns the server's time at `client_seconds`, unsteered, of [`GameClock`](bevy_unlag_core::GameClock), in
    /// seconds since its tick 0. `None` before the first exchange and for a non-finite time. It never decreases for
    /// increasing times, except when the server's time line changes by a second or more.
    #[must_use]
    pub fn seconds(&self, client_seconds: f64) -> Option<f64> {
        let offset = self.published_offset(client_seconds)?;
        client_seconds.is_finite().then_some((client_seconds + offset).max(self.published?.floor))
    }

    /// Returns the server's time in ticks, from 0 up to the wrap of ticks.
    #[must_use]
    pub fn now(&self, client_seconds: f64) -> Option<f64> {
        let wrap = f64::from(u32::MAX) + 1.0;
        self.seconds(client_seconds).map(|seconds| (seconds / self.tick_seconds).rem_euclid(wrap))
    }

    /// Returns the server's time as a [`ViewTime`], in 1/256 of a tick.
    #[must_use]
    pub fn view_time(&self, client_seconds: f64) -> Option<ViewTime> {
        self.now(client_seconds).map(|ticks| ViewTime::after(Tick(0), ticks))
    }

    /// Returns the estimated offset at `client_seconds` before slewing: server − client, in seconds.
    #[must_use]
    pub fn offset(&self, client_seconds: f64) -> Option<f64> {
        self.line.map(|line| line.offset_at(client_seconds)).filter(|offset| offset.is_finite())
    }

    /// Returns the drift of the server's clock relative to this machine's, in seconds per second. 0 until
    /// known.
    #[must_use]
    pub fn drift(&self) -> f64 {
        self.line.map_or(0.0, |line| line.drift)
    }

    /// Returns the maximum error of the estimate in seconds if uplink and downlink latency differ: half of
    /// the minimum round trip that is remembered. `None` before the first exchange.
    #[must_use]
    pub fn uncertainty(&self) -> Option<f64> {
        self.windows.best().map(|(round_trip, _)| (round_trip / 2.0).max(0.0))
    }

    /// Returns how far the fastest samples scatter, in seconds: about the error of an estimate by them alone.
    /// Where it is large, more exchanges make the estimate better. `None` before the first exchange.
    #[must_use]
    pub fn scatter(&self) -> Option<f64> {
        self.windows.fastest(self.line?.at).map(|estimate| estimate.error)
    }

    /// Returns the four times of the newest accepted exchange, as passed to [`sample`](Self::sample).
    #[must_use]
    pub fn newest_exchange(&self) -> Option<[f64; 4]> {
        self.newest
    }

    /// Returns the number of accepted exchanges.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Returns the number of exchanges dropped because they are impossible or contradict all others.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Returns the number of changes of the server's time line.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// Returns the number of jumps of the published time after it had settled.
    #[must_use]
    pub fn jumps(&self) -> u64 {
        self.jumps
    }
}

#[cfg(test)]
mod tests;
