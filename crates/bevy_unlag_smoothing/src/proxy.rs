//! Update interval and view time of a single proxy.

use bevy::prelude::*;
use bevy_unlag_core::{SUB_TICKS, Tick, ViewTime};

use crate::{
    config::PlayoutConfig,
    playout::{ClockReading, PlayoutClocks},
    stats::SmoothingStats,
};

/// Number of updates from which the interval is derived.
const TICKS: usize = 8;
/// Number of consecutive updates that must indicate a new interval.
const AGREED: u8 = 3;

/// View time and update interval of a remote pawn.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct ProxyTime {
    /// View time at which the pawn was drawn last: its own if it is updated at another rate than most or
    /// simulated to the present. `None` before it could be drawn.
    pub drawn: Option<ViewTime>,
    /// Ticks between updates that its playout clock assumes.
    interval: u16,
    /// Interval that the recent updates indicate, and the number of consecutive ones that did.
    wanted: u16,
    agreed: u8,
    /// Ticks of the newest updates, newest first, and their number.
    ticks: [Tick; TICKS],
    known: u8,
    /// Arrival of the newest update in this machine's seconds, and the time since the one before.
    pub(crate) updated_at: f64,
    pub(crate) since_previous: f64,
    /// Interval of the clock of the last frame; 0 if no clock was used.
    drawn_by: u16,
    /// Ticks by which the pawn is ahead of the clock to which it is changing.
    shift: f64,
}

impl ProxyTime {
    /// Returns the ticks between updates that its playout clock assumes: the usual recent interval, which
    /// lost updates do not change. 0 before the first update.
    #[must_use]
    pub fn interval(&self) -> u16 {
        self.interval
    }

    /// Returns the tick of the newest update.
    pub(crate) fn newest(&self) -> Option<Tick> {
        self.ticks[..usize::from(self.known)].first().copied()
    }

    /// Returns whether no update of this tick was recorded, although it lies among the recorded ones.
    pub(crate) fn missed(&self, tick: Tick) -> bool {
        let recent = &self.ticks[..usize::from(self.known)];
        recent.last().is_some_and(|oldest| tick.is_newer_than(*oldest)) && !recent.contains(&tick)
    }

    /// Clears the updates of another server.
    pub(crate) fn restart(&mut self) {
        *self = Self { interval: self.interval, ..Self::default() };
    }

    /// Continues with the update of `first`, after a time in which the server withheld them: that is neither an update
    /// interval nor a gap of the link. The measured interval stays, because two or three updates are no
    /// measure of it, and a pawn that is often hidden would be drawn by another clock each time.
    pub(crate) fn resume(&mut self, first: Tick, now: f64, tick_seconds: f64) {
        let Some(newest) = self.newest() else { return };
        let interval = self.interval.max(1);
        let gap = first.since(newest).saturating_sub(interval.into());
        if gap > 0 {
            self.ticks.iter_mut().for_each(|tick| *tick = tick.offset(gap));
            self.updated_at = now - f64::from(interval) * tick_seconds;
        }
    }

    /// Records an update. `usual` is the assumed interval until two updates have arrived.
    pub(crate) fn updated(&mut self, tick: Tick, usual: u16, now: f64) {
        let newest = self.newest();
        self.remember(tick);
        // Loss and reordering lengthen spaces; moves that reach the server late shorten a few.
        let mut spaces = [u16::MAX; TICKS - 1];
        let known = usize::from(self.known);
        for (space, pair) in spaces.iter_mut().zip(self.ticks[..known].windows(2)) {
            *space = pair[0].since(pair[1]).clamp(1, i32::from(u16::MAX)) as u16;
        }
        spaces.sort_unstable();
        let wanted = match known {
            0 | 1 => usual,
            2 | 3 => PlayoutClocks::interval_class(spaces[0]),
            4..=6 => PlayoutClocks::interval_class(spaces[1]),
            _ => PlayoutClocks::interval_class(spaces[2]),
        };
        self.agreed = if wanted == self.wanted { self.agreed.saturating_add(1) } else { 1 };
        self.wanted = wanted;
        // Change the clock for a new rate, not for a bad second.
        if self.agreed >= AGREED || self.interval == 0 || known < TICKS {
            self.interval = wanted;
        }
        if newest.is_none_or(|newest| tick.is_newer_than(newest)) {
            self.since_previous = if newest.is_some() { now - self.updated_at } else { 0.0 };
            self.updated_at = now;
        }
    }

    /// Inserts a tick, newest first.
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

    /// Draws the pawn at `time`, without a clock.
    pub(crate) fn draw_at(&mut self, time: ViewTime) -> ViewTime {
        self.drawn = Some(time);
        self.drawn_by = 0;
        self.shift = 0.0;
        time
    }

    /// Returns the view time in this frame for the given clock. After a change of clocks it approaches the
    /// new one as slowly as a clock changes its delay.
    pub(crate) fn draw_by(
        &mut self,
        ClockReading { interval, time: clock, speed }: ClockReading,
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
                // Too far to catch up gradually: stop until the clock is there, or jump forward.
                self.shift = 0.0;
                stats.resyncs += 1;
            }
        }
        self.drawn_by = interval;
        // The sum of both stays within the speed limits of a clock.
        let pace = if self.shift > 0.0 { speed - config.min_speed } else { config.max_speed - speed };
        let step = (pace.max(0.0) * went).min(self.shift.abs());
        self.shift -= step.copysign(self.shift);
        let mut time = clock.later((self.shift * SUB) as i64);
        // Never backward, unless the clock is so far off that it has switched to another server.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_a_pawn_that_was_hidden_is_not_measured_from_its_first_updates() {
        let shown_for = |updates: u32| {
            let mut proxy = ProxyTime::default();
            (0..updates).for_each(|update| proxy.updated(Tick(7 + update * 3), 3, 0.0));
            proxy
        };
        // The second update after that time has the moves of a tick before: one of them was late.
        let reappear = |proxy: &mut ProxyTime| {
            proxy.updated(Tick(500), 3, 0.0);
            proxy.updated(Tick(502), 3, 0.0);
            proxy.interval()
        };
        let mut hidden = shown_for(20);
        hidden.resume(Tick(500), 10.0, 1.0 / 64.0);
        assert_eq!((hidden.newest(), hidden.updated_at), (Some(Tick(497)), 10.0 - 3.0 / 64.0));
        assert_eq!(reappear(&mut hidden), 3);
        // Control: two updates alone.
        let mut forgetful = shown_for(20);
        forgetful.restart();
        assert_eq!(reappear(&mut forgetful), 2);
    }

    #[test]
    fn pawn_that_continues_with_a_tick_of_another_match_is_not_shifted() {
        for first in [Tick(0), Tick((1 << 31) + 64), Tick(u32::MAX)] {
            let mut proxy = ProxyTime::default();
            (0..20).for_each(|update| proxy.updated(Tick(7 + update * 3), 3, 0.0));
            proxy.resume(first, 10.0, 1.0 / 64.0);
            assert_eq!((proxy.newest(), proxy.interval(), proxy.updated_at), (Some(Tick(64)), 3, 0.0));
        }
    }
}
