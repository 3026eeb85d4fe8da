//! What a client knows about how one proxy is updated and drawn.

use bevy::prelude::*;
use bevy_unlag_core::{SUB_TICKS, Tick, ViewTime};

use crate::{
    PlayoutConfig, SmoothingStats,
    playout::{Moment, Playout},
};

/// How many updates are remembered to tell how often they come.
const TICKS: usize = 8;
/// How many updates in a row must speak for another interval.
const AGREED: u8 = 3;

/// When a pawn of somebody else is drawn, and how often it is updated.
#[derive(Component, Clone, Copy, Debug)]
pub struct ProxyTime {
    /// The moment of the server's past at which it was drawn last: of its own, when it is updated at
    /// another rate than most or simulated to the present. `None` before it could be drawn.
    pub drawn: Option<ViewTime>,
    /// Ticks between its updates that its playout clock reckons with.
    interval: u16,
    /// The interval that its updates of late speak for, and how many in a row did.
    wanted: u16,
    agreed: u8,
    /// Its newest updates, newest first, and how many are known.
    ticks: [Tick; TICKS],
    known: u8,
    /// When the newest came, in this machine's seconds, and how long after the one before.
    pub(crate) updated_at: f64,
    pub(crate) waited: f64,
    /// The interval of the clock by which it was drawn last; 0 when it was by none.
    drawn_by: u16,
    /// Ticks that it is ahead of the clock that it changes over to.
    shift: f64,
}

impl Default for ProxyTime {
    fn default() -> Self {
        Self {
            drawn: None,
            interval: 0,
            wanted: 0,
            agreed: 0,
            ticks: [Tick(0); TICKS],
            known: 0,
            updated_at: 0.0,
            waited: 0.0,
            drawn_by: 0,
            shift: 0.0,
        }
    }
}

impl ProxyTime {
    /// Ticks between its updates that its playout clock reckons with: what is usual of late; lost ones
    /// do not change it. 0 before the first.
    #[must_use]
    pub fn interval(&self) -> u16 {
        self.interval
    }

    /// The tick of its newest update.
    pub(crate) fn newest(&self) -> Option<Tick> {
        self.ticks[..usize::from(self.known)].first().copied()
    }

    /// Forgets what another server said.
    pub(crate) fn restart(&mut self) {
        *self = Self { interval: self.interval, ..Self::default() };
    }

    /// An update came. `usual` counts as its interval until two are known.
    pub(crate) fn updated(&mut self, tick: Tick, usual: u16, now: f64) {
        let newest = self.newest();
        self.remember(tick);
        // Loss and disorder make spaces longer, moves that come late to the server a few of them shorter.
        let mut spaces = [u16::MAX; TICKS - 1];
        let known = usize::from(self.known);
        for (space, pair) in spaces.iter_mut().zip(self.ticks[..known].windows(2)) {
            *space = pair[0].since(pair[1]).clamp(1, i32::from(u16::MAX)) as u16;
        }
        spaces.sort_unstable();
        let wanted = match known {
            0 | 1 => usual,
            2 | 3 => Playout::class(spaces[0]),
            4..=6 => Playout::class(spaces[1]),
            _ => Playout::class(spaces[2]),
        };
        self.agreed = if wanted == self.wanted { self.agreed.saturating_add(1) } else { 1 };
        self.wanted = wanted;
        // A clock is changed for a new rate, not for a bad second.
        if self.agreed >= AGREED || self.interval == 0 || known < TICKS {
            self.interval = wanted;
        }
        if newest.is_none_or(|newest| tick.is_newer_than(newest)) {
            self.waited = if newest.is_some() { now - self.updated_at } else { 0.0 };
            self.updated_at = now;
        }
    }

    /// Puts a tick among the newest ones, newest first.
    fn remember(&mut self, tick: Tick) {
        let known = usize::from(self.known);
        let at = self.ticks[..known].iter().position(|other| !other.is_newer_than(tick)).unwrap_or(known);
        if at >= TICKS || self.ticks[..known].get(at) == Some(&tick) {
            return;
        }
        self.ticks[at..].rotate_right(1);
        self.ticks[at] = tick;
        self.known = (self.known + 1).min(TICKS as u8);
    }

    /// It is drawn by no clock in this frame, at this moment.
    pub(crate) fn draw_at(&mut self, time: ViewTime) -> ViewTime {
        self.drawn = Some(time);
        self.drawn_by = 0;
        self.shift = 0.0;
        time
    }

    /// Its moment in this frame, given that of its clock. After a change of clocks it comes over as
    /// slowly as a clock changes its delay.
    pub(crate) fn draw_by(
        &mut self,
        Moment { interval, time: clock, speed }: Moment,
        seconds: f64,
        config: &PlayoutConfig,
        tick_seconds: f64,
        stats: &mut SmoothingStats,
    ) -> ViewTime {
        let went = seconds / tick_seconds;
        let before = self.drawn.filter(|_| self.drawn_by != 0);
        if self.drawn_by != interval
            && let Some(before) = before
        {
            self.shift = before.since(clock) as f64 / SUB + went;
            if self.shift.abs() * tick_seconds > config.snap {
                // Too far to walk: it stands until its clock is there, or jumps forward.
                self.shift = 0.0;
                stats.resyncs += 1;
            }
        }
        self.drawn_by = interval;
        // Together they are no slower and no faster than a clock may be.
        let pace = if self.shift > 0.0 { speed - config.min_speed } else { config.max_speed - speed };
        let step = (pace.max(0.0) * went).min(self.shift.abs());
        self.shift -= step.copysign(self.shift);
        let mut time = clock.later((self.shift * SUB) as i64);
        // Never backward; only a clock that is far off has found another server.
        let far = (config.restart / tick_seconds * SUB) as i64;
        if let Some(before) = before.filter(|before| (0..far).contains(&before.since(time))) {
            stats.resyncs += u64::from(before.since(time) > SUB_TICKS);
            time = before;
        }
        self.drawn = Some(time);
        time
    }
}

const SUB: f64 = SUB_TICKS as f64;
