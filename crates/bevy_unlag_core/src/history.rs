//! A short memory of snapshots, newest last.

use std::collections::VecDeque;

use bevy::prelude::*;

use crate::{BaseView, PoseSample, Sampler, Snapshot, Tick, ViewStamp, ViewTime};

/// A bounded memory of one pawn's snapshots in tick order. On a client it holds what arrived, on
/// the server what was sent; the same [`Sampler`] poses from both.
#[derive(Component, Clone, Debug)]
pub struct SnapshotHistory {
    snapshots: VecDeque<Snapshot>,
    capacity: usize,
}

impl Default for SnapshotHistory {
    /// Room for 64 snapshots: about three seconds at 20 a second.
    fn default() -> Self {
        Self::new(64)
    }
}

impl SnapshotHistory {
    /// A memory of at most `capacity` snapshots; raising it costs 52 bytes each.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { snapshots: VecDeque::with_capacity(capacity), capacity: capacity.max(2) }
    }

    /// Takes a snapshot in, wherever it belongs. Says whether it is news: one that is already
    /// here, or older than all that a full memory holds, is not.
    pub fn insert(&mut self, snapshot: Snapshot) -> bool {
        let index = self.snapshots.partition_point(|s| snapshot.tick.is_newer_than(s.tick));
        if self.snapshots.get(index).is_some_and(|s| s.tick == snapshot.tick) {
            return false;
        }
        if self.snapshots.len() == self.capacity {
            if index == 0 {
                return false;
            }
            self.snapshots.pop_front();
            self.snapshots.insert(index - 1, snapshot);
        } else {
            self.snapshots.insert(index, snapshot);
        }
        true
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.snapshots.clear();
    }

    /// The snapshots, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Snapshot> + ExactSizeIterator {
        self.snapshots.iter()
    }

    /// The newest snapshot.
    #[must_use]
    pub fn newest(&self) -> Option<&Snapshot> {
        self.snapshots.back()
    }

    /// The snapshot of exactly this tick.
    #[must_use]
    pub fn get(&self, tick: Tick) -> Option<&Snapshot> {
        let index = self.count_until(tick).checked_sub(1)?;
        self.snapshots.get(index).filter(|s| s.tick == tick)
    }

    /// How many snapshots are of `tick` or older. Whoever asks looks at the last few, so it looks at them
    /// first.
    #[must_use]
    pub fn count_until(&self, tick: Tick) -> usize {
        const FEW: usize = 12;
        let len = self.snapshots.len();
        for newer in 0..len.min(FEW) {
            if self.snapshots[len - 1 - newer].tick.since(tick) <= 0 {
                return len - newer;
            }
        }
        self.snapshots.partition_point(|s| s.tick.since(tick) <= 0)
    }

    /// How a pose at `time` comes about from this memory: between the two snapshots around it,
    /// or beyond the newest. `None` when `time` lies before the oldest, or nothing is known.
    #[must_use]
    pub fn stamp(&self, time: ViewTime) -> Option<ViewStamp> {
        let after = self.count_until(time.tick);
        let from = self.snapshots.get(after.checked_sub(1)?)?.tick;
        Some(match self.snapshots.get(after) {
            Some(to) => ViewStamp::Interpolated { from, to: to.tick, time },
            None => ViewStamp::Extrapolated { from, time },
        })
    }

    /// Whether a pose with this stamp is relative to a movement base.
    #[must_use]
    pub fn is_on_base(&self, stamp: ViewStamp) -> bool {
        let on = |tick: Tick| self.get(tick).is_some_and(|snapshot| snapshot.base != 0);
        match stamp {
            ViewStamp::Interpolated { from, to, .. } => on(from) || on(to),
            ViewStamp::Extrapolated { from, .. } => on(from),
            ViewStamp::Present => self.newest().is_some_and(|newest| newest.base != 0),
        }
    }

    /// The pose that `stamp` names; `None` when it names a snapshot that is not here. `bases` says
    /// where movement bases are on the screen that is drawn, or was.
    #[must_use]
    pub fn pose(&self, stamp: ViewStamp, sampler: &Sampler, bases: &BaseView<'_>) -> Option<PoseSample> {
        match stamp {
            ViewStamp::Interpolated { from, to, time } => {
                let index = self.count_until(from).checked_sub(1)?;
                let from = self.snapshots.get(index).filter(|s| s.tick == from)?;
                // Mostly it is the next one.
                let to = self.snapshots.get(index + 1).filter(|s| s.tick == to).or_else(|| self.get(to))?;
                Some(sampler.between(from, to, time, bases))
            }
            ViewStamp::Extrapolated { from, time } => Some(sampler.beyond(self.get(from)?, time, bases)),
            ViewStamp::Present => self.newest().map(|newest| newest.pose(bases)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(tick: u32) -> Snapshot {
        Snapshot::new(Tick(tick), Vec3::X * tick as f32, Vec3::ZERO)
    }

    #[test]
    fn order_and_bound_hold_for_any_arrival() {
        let mut history = SnapshotHistory::new(4);
        for tick in [10, 4, 7, 7, 1, 13, 2] {
            history.insert(at(tick));
        }
        let ticks: Vec<_> = history.iter().map(|s| s.tick.0).collect();
        assert_eq!(ticks, [4, 7, 10, 13], "2 came after the memory was full of newer ones");
    }

    #[test]
    fn a_stamp_names_the_pair_around_the_time() {
        let mut history = SnapshotHistory::default();
        for tick in [4, 7, 10] {
            history.insert(at(tick));
        }
        let time = |tick| ViewTime { tick: Tick(tick), fraction: 128 };
        assert_eq!(history.stamp(time(3)), None);
        assert_eq!(
            history.stamp(time(7)),
            Some(ViewStamp::Interpolated { from: Tick(7), to: Tick(10), time: time(7) })
        );
        assert_eq!(history.stamp(time(12)), Some(ViewStamp::Extrapolated { from: Tick(10), time: time(12) }));
    }
}
