//! Validation of the view times of single targets.

use core::ops::Deref;

use bevy_unlag_core::{NetId, SUB_TICKS, Tick, ViewTime};

use crate::view::StampOverride;

/// Maximum number of stored targets.
const CAPACITY: usize = 64;
/// Ticks after which the view time of a target is unconstrained again.
const MAX_TARGET_AGE: i32 = 256;
/// Shift against the other remote pawns beyond which a target can only be one that is simulated to the
/// present, in 1/256 of a tick. The view time of such a target follows its newest update, and jumps.
const SIMULATED: i64 = 4 * SUB_TICKS;

/// Validated overrides of a shot.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValidatedOverrides {
    list: [StampOverride; Self::MOST],
    count: usize,
}

impl ValidatedOverrides {
    const MOST: usize = 16;

    /// Accepts all overrides of a shot, for a trusted shooter. At most 16 are kept.
    #[must_use]
    pub fn all(named: &[StampOverride]) -> Self {
        let mut all = Self::default();
        named.iter().for_each(|named| all.push(*named));
        all
    }

    fn push(&mut self, named: StampOverride) {
        if let Some(slot) = self.list.get_mut(self.count) {
            *slot = named;
            self.count += 1;
        }
    }
}

impl Deref for ValidatedOverrides {
    type Target = [StampOverride];

    fn deref(&self) -> &[StampOverride] {
        &self.list[..self.count]
    }
}

/// Shot with the limits on how fast the shift of a target may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShiftLimits {
    /// View time of the remote pawns.
    pub time: ViewTime,
    /// Shooter's own tick.
    pub shooter_tick: Tick,
    /// Maximum drift between two playout clocks, in 1/256 of a tick per tick.
    pub drift: i64,
    /// Maximum distance of a frame from its move, in 1/256 of a tick.
    pub blur: i64,
    /// Whether the screen's view time may change over to the clock of another rate.
    pub interval_spread: bool,
}

/// Target with a view time of its own.
#[derive(Clone, Copy, Debug)]
struct TargetViewTime {
    target: NetId,
    shift: i64,
    /// Its view time.
    time: ViewTime,
    shooter_tick: Tick,
}

impl TargetViewTime {
    /// Returns the shift nearest to `shift` that the target can have by now.
    fn nearest(&self, shift: i64, pace: &ShiftLimits) -> i64 {
        let passed = pace.shooter_tick.since(self.shooter_tick).max(0);
        let drift = pace.drift * (i64::from(passed) * SUB_TICKS + pace.blur) / SUB_TICKS;
        let near = shift.clamp(self.shift - drift, self.shift + drift);
        // If the view time changes over to another clock, all shifts change, but the targets are still drawn at
        // the same moments.
        let behind = |tick: Tick, time: ViewTime| ViewTime::at(tick).since(time);
        let went = behind(pace.shooter_tick, pace.time.later(shift)) - behind(self.shooter_tick, self.time);
        let stayed = pace.interval_spread && went.abs() <= drift + pace.blur;
        if passed > MAX_TARGET_AGE || stayed { shift } else { near }
    }
}

/// Targets with a view time of their own, newest first.
#[derive(Clone, Debug, Default)]
pub(super) struct TargetViewTimes(Vec<TargetViewTime>);

impl TargetViewTimes {
    /// Validates the overrides of a shot. `complete` tells whether the shot would have named every target
    /// with another view time, `is_drawn` whether the client draws a target, and `was_hidden` whether it was hidden
    /// from the client between two ticks: such a target appears again at any moment.
    pub fn validate(
        &mut self,
        pace: &ShiftLimits,
        named: &[StampOverride],
        complete: bool,
        is_drawn: impl Fn(&StampOverride) -> bool,
        was_hidden: impl Fn(NetId, Tick, Tick) -> bool,
    ) -> ValidatedOverrides {
        self.0.retain(|seen| !was_hidden(seen.target, seen.time.tick, pace.time.tick));
        let mut believed = ValidatedOverrides::default();
        for one in named {
            let (target, shift) = (one.target, i64::from(one.shift));
            let as_it_is = one.to.is_none() && shift > SIMULATED;
            if as_it_is || !is_drawn(one) {
                believed.push(*one);
                continue;
            }
            let before = self.0.iter().find(|seen| seen.target == target);
            let near = before.map_or(shift, |seen| seen.nearest(shift, pace));
            believed.push(if near == shift { *one } else { StampOverride::at_moment(target, near as i16) });
            self.remember(TargetViewTime {
                target,
                shift: near,
                time: pace.time.later(near),
                shooter_tick: pace.shooter_tick,
            });
        }
        if complete {
            let unnamed = |seen: &&TargetViewTime| named.iter().all(|one| one.target != seen.target);
            for seen in self.0.iter().filter(unnamed) {
                let near = seen.nearest(0, pace);
                if near != 0 {
                    believed.push(StampOverride::at_moment(seen.target, near as i16));
                }
            }
        }
        believed
    }

    fn remember(&mut self, seen: TargetViewTime) {
        match self.0.iter().position(|known| known.target == seen.target) {
            Some(at) => self.0[..=at].rotate_right(1),
            None if self.0.len() < CAPACITY => self.0.insert(0, seen),
            None => self.0.rotate_right(1),
        }
        if let Some(first) = self.0.first_mut() {
            *first = seen;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: NetId = NetId(7);

    /// Shift that is believed of a target that was shifted by two ticks at tick 100, and is not named by the next shot.
    fn believed(was_hidden: impl Fn(NetId, Tick, Tick) -> bool) -> Option<i16> {
        let mut times = TargetViewTimes::default();
        let at = |tick: u32| ShiftLimits {
            time: ViewTime::at(Tick(tick)),
            shooter_tick: Tick(tick + 10),
            drift: 32,
            blur: 0,
            interval_spread: false,
        };
        let named = StampOverride::at_moment(ID, 512);
        assert_eq!(times.validate(&at(100), &[named], true, |_| true, |_, _, _| false).len(), 1);
        let second = times.validate(&at(104), &[], true, |_| true, was_hidden);
        second.first().map(|seen| seen.shift)
    }

    #[test]
    fn shift_of_a_target_that_was_hidden_since_is_forgotten() {
        assert_eq!(believed(|_, _, _| false), Some(512 - 4 * 32), "it can have changed by so much");
        assert_eq!(believed(|id, from, to| (id, from, to) == (ID, Tick(102), Tick(104))), None);
    }
}
