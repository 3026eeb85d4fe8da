//! At which moments of their own a client's screen showed targets.

use core::ops::Deref;

use bevy_unlag_core::{NetId, SUB_TICKS, Tick};

use crate::StampOverride;

/// Targets that are remembered.
const REMEMBERED: usize = 64;
/// Ticks after which a target may be drawn at any moment again.
const FORGOTTEN: i32 = 256;
/// How much later than everyone else only those are drawn that are simulated to the present, in 1/256 of a
/// tick: their moment follows the newest update, and jumps.
const SIMULATED: i64 = 4 * SUB_TICKS;

/// The overrides of a shot as they are believed.
#[derive(Clone, Copy, Debug, Default)]
pub struct BelievedOverrides {
    list: [StampOverride; Self::MOST],
    count: usize,
}

impl BelievedOverrides {
    const MOST: usize = 16;

    /// As a shot says: of a shooter who is believed. More than 16 are cut off.
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

impl Deref for BelievedOverrides {
    type Target = [StampOverride];

    fn deref(&self) -> &[StampOverride] {
        &self.list[..self.count]
    }
}

/// A shot, and how fast moments may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The shooter's own tick.
    pub own: Tick,
    /// How far everyone else was drawn behind it, in 1/256 of a tick.
    pub behind: i64,
    /// By how much two clocks run apart in a tick, in 1/256 of it.
    pub drift: i64,
    /// How far from its move a frame may be, in 1/256 of a tick.
    pub blur: i64,
    /// Whether the screen's main clock may change over to another rate.
    pub mixed: bool,
}

/// A target that was drawn at a moment of its own.
#[derive(Clone, Copy, Debug)]
struct Seen {
    target: NetId,
    shift: i64,
    own: Tick,
    /// How far everyone else was behind then.
    behind: i64,
}

impl Seen {
    /// What is nearest to a shift of those that it can have by now.
    fn nearest(&self, shift: i64, pace: &Pace) -> i64 {
        let passed = pace.own.since(self.own).max(0);
        let drift = pace.drift * (i64::from(passed) * SUB_TICKS + pace.blur) / SUB_TICKS;
        let near = shift.clamp(self.shift - drift, self.shift + drift);
        // When the main clock changes over, everyone's shift does; but they are drawn as before.
        let went = (pace.behind - shift) - (self.behind - self.shift);
        let stayed = pace.mixed && went.abs() <= drift + pace.blur;
        if passed > FORGOTTEN || stayed { shift } else { near }
    }
}

/// Who was drawn at which moment of its own, newest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments(Vec<Seen>);

impl Moments {
    /// `complete` says whether a target that was drawn at another moment would have been named.
    pub fn admit(
        &mut self,
        pace: &Pace,
        named: &[StampOverride],
        complete: bool,
        known: impl Fn(NetId) -> bool,
    ) -> BelievedOverrides {
        let mut believed = BelievedOverrides::default();
        for one in named {
            let (target, shift) = (one.target, i64::from(one.shift));
            let as_it_is = one.to.is_none() && shift > SIMULATED;
            if as_it_is || !known(target) {
                believed.push(*one);
                continue;
            }
            let before = self.0.iter().find(|seen| seen.target == target);
            let near = before.map_or(shift, |seen| seen.nearest(shift, pace));
            believed.push(if near == shift { *one } else { StampOverride::at_moment(target, near as i16) });
            self.remember(Seen { target, shift: near, own: pace.own, behind: pace.behind });
        }
        if complete {
            let unnamed = |seen: &&Seen| named.iter().all(|one| one.target != seen.target);
            for seen in self.0.iter().filter(unnamed) {
                let near = seen.nearest(0, pace);
                if near != 0 {
                    believed.push(StampOverride::at_moment(seen.target, near as i16));
                }
            }
        }
        believed
    }

    fn remember(&mut self, seen: Seen) {
        match self.0.iter().position(|known| known.target == seen.target) {
            Some(at) => self.0[..=at].rotate_right(1),
            None if self.0.len() < REMEMBERED => self.0.insert(0, seen),
            None => self.0.rotate_right(1),
        }
        if let Some(first) = self.0.first_mut() {
            *first = seen;
        }
    }
}
