//! What a client knows about how one proxy is updated and drawn.

use bevy::prelude::*;
use bevy_unlag_core::{SUB_TICKS, Tick, ViewTime};

use crate::{PlayoutConfig, playout::Playout};

/// How many spaces between updates are remembered.
const SPACES: usize = 5;

/// When a pawn of somebody else is drawn, and how often it is updated.
#[derive(Component, Clone, Copy, Debug)]
pub struct ProxyTime {
    /// The moment of the server's past at which it was drawn last: of its own, when it is updated at
    /// another rate than most or simulated to the present. `None` before it could be drawn.
    pub drawn: Option<ViewTime>,
    /// Ticks between its updates that its playout clock reckons with.
    interval: u16,
    spaces: [u16; SPACES],
    known: u8,
    /// The tick of its newest update.
    newest: Option<Tick>,
    /// When that came, in this machine's seconds, and how long after the one before.
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
            spaces: [0; SPACES],
            known: 0,
            newest: None,
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
        self.newest
    }

    /// Forgets what another server said.
    pub(crate) fn restart(&mut self) {
        *self = Self { interval: self.interval, ..Self::default() };
    }

    /// An update came that is newer than all before. `usual` counts until two are known.
    pub(crate) fn updated(&mut self, tick: Tick, usual: u16, now: f64) {
        if let Some(newest) = self.newest {
            let space = tick.since(newest).clamp(1, i32::from(u16::MAX)) as u16;
            self.spaces.rotate_right(1);
            self.spaces[0] = space;
            self.known = (self.known + 1).min(SPACES as u8);
        }
        self.newest = Some(tick);
        self.waited = if self.known > 0 { now - self.updated_at } else { 0.0 };
        self.updated_at = now;
        let mut spaces = self.spaces;
        let known = &mut spaces[..usize::from(self.known)];
        known.sort_unstable();
        let interval = known.get(known.len() / 2).map_or(usual, |middle| Playout::class(*middle));
        if interval != self.interval && self.known != 2 {
            // Two of them are no majority.
            self.interval = interval;
        }
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
        (interval, clock): (u16, ViewTime),
        seconds: f64,
        config: &PlayoutConfig,
        tick_seconds: f64,
    ) -> ViewTime {
        let went = seconds / tick_seconds;
        let before = self.drawn.filter(|_| self.drawn_by != 0);
        if self.drawn_by != interval
            && let Some(before) = before
        {
            self.shift = before.since(clock) as f64 / SUB + went;
            if self.shift.abs() * tick_seconds > config.snap {
                self.shift = 0.0;
            }
        }
        self.drawn_by = interval;
        let pace = if self.shift > 0.0 { 1.0 - config.min_speed } else { config.max_speed - 1.0 };
        let step = (pace.max(0.0) * went).min(self.shift.abs());
        self.shift -= step.copysign(self.shift);
        let mut time = clock.later((self.shift * SUB) as i64);
        // Never backward by a rounding.
        if let Some(before) = before.filter(|before| (0..SUB_TICKS).contains(&before.since(time))) {
            time = before;
        }
        self.drawn = Some(time);
        time
    }
}

const SUB: f64 = SUB_TICKS as f64;
