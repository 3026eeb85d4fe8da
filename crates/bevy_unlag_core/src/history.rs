//! Bounded history of a pawn's snapshots.

use std::collections::VecDeque;

use bevy::prelude::*;

use crate::{
    base_poses::BaseView,
    pose_sample::PoseSample,
    sampler::PoseSampler,
    snapshot::Snapshot,
    tick::{Tick, ViewTime},
    view::ViewStamp,
};

/// Bounded history of one pawn's snapshots in tick order. A client stores received snapshots, the server
/// sent ones; the same [`PoseSampler`] computes poses from both.
#[doc(alias = "CInterpolatedVar")]
#[doc(alias = "ConfirmedHistory")]
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct SnapshotHistory {
    snapshots: VecDeque<Snapshot>,
    capacity: usize,
}

impl Default for SnapshotHistory {
    /// Creates a history of 64 snapshots: about three seconds at 20 updates per second.
    fn default() -> Self {
        Self::new(64)
    }
}

impl SnapshotHistory {
    /// Creates a history of at most `capacity` snapshots, at least 2, of 52 bytes each.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self::growing(capacity, capacity)
    }

    /// Creates a history of at most `capacity` snapshots like [`new`](Self::new), with memory for the first `reserved`
    /// only.
    #[must_use]
    pub fn growing(reserved: usize, capacity: usize) -> Self {
        Self { snapshots: VecDeque::with_capacity(reserved.min(capacity)), capacity: capacity.max(2) }
    }

    /// Inserts a snapshot in tick order. Returns whether it is new: a duplicate, or one older than all
    /// snapshots of a full history, is not.
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

    /// Removes all snapshots.
    pub fn clear(&mut self) {
        self.snapshots.clear();
    }

    /// Returns the snapshots, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Snapshot> + ExactSizeIterator {
        self.snapshots.iter()
    }

    /// Returns the newest snapshot.
    #[must_use]
    pub fn newest(&self) -> Option<&Snapshot> {
        self.snapshots.back()
    }

    /// Returns the snapshot of exactly this tick.
    #[must_use]
    pub fn get(&self, tick: Tick) -> Option<&Snapshot> {
        let index = self.count_until(tick).checked_sub(1)?;
        self.snapshots.get(index).filter(|s| s.tick == tick)
    }

    /// Returns the number of snapshots at or before `tick`. Callers look for recent ticks, so the newest few
    /// are searched first.
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

    /// Returns the stamp of a pose at `time`: between the two snapshots around it, or beyond the newest.
    /// `None` if `time` is before the oldest snapshot or the history is empty.
    #[must_use]
    pub fn stamp(&self, time: ViewTime) -> Option<ViewStamp> {
        let after = self.count_until(time.tick);
        let from = self.snapshots.get(after.checked_sub(1)?)?.tick;
        Some(match self.snapshots.get(after) {
            Some(to) => ViewStamp::Interpolated { from, to: to.tick, time },
            None => ViewStamp::Extrapolated { from, time },
        })
    }

    /// Returns whether a pose with this stamp is relative to a movement base.
    #[must_use]
    pub fn is_on_base(&self, stamp: ViewStamp) -> bool {
        let on = |tick: Tick| self.get(tick).is_some_and(|snapshot| snapshot.base != 0);
        match stamp {
            ViewStamp::Interpolated { from, to, .. } => on(from) || on(to),
            ViewStamp::Extrapolated { from, .. } => on(from),
            ViewStamp::Present => self.newest().is_some_and(|newest| newest.base != 0),
        }
    }

    /// Returns the pose with this stamp, or `None` if a snapshot that it names is not in the history.
    /// `bases` holds the poses of movement bases as the screen shows or showed them.
    #[must_use]
    pub fn pose(&self, stamp: ViewStamp, sampler: &PoseSampler, bases: &BaseView<'_>) -> Option<PoseSample> {
        match stamp {
            ViewStamp::Interpolated { from, to, time } => {
                let index = self.count_until(from).checked_sub(1)?;
                let from = self.snapshots.get(index).filter(|s| s.tick == from)?;
                // Usually the next one.
                let to = self.snapshots.get(index + 1).filter(|s| s.tick == to).or_else(|| self.get(to))?;
                Some(sampler.interpolate(from, to, time, bases))
            }
            ViewStamp::Extrapolated { from, time } => Some(sampler.extrapolate(self.get(from)?, time, bases)),
            ViewStamp::Present => self.newest().map(|newest| newest.pose(bases)),
        }
    }

    /// Returns the pose at `time`: that of the [`stamp`](Self::stamp) for it, with one search instead of two.
    #[must_use]
    pub fn pose_at(&self, time: ViewTime, sampler: &PoseSampler, bases: &BaseView<'_>) -> Option<PoseSample> {
        let after = self.count_until(time.tick);
        let from = self.snapshots.get(after.checked_sub(1)?)?;
        Some(match self.snapshots.get(after) {
            Some(to) => sampler.interpolate(from, to, time, bases),
            None => sampler.extrapolate(from, time, bases),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(tick: u32) -> Snapshot {
        Snapshot::new(Tick(tick), Vec3::X * tick as f32, Vec3::ZERO)
    }

    #[test]
    fn history_stays_sorted_and_bounded_for_any_arrival_order() {
        let mut history = SnapshotHistory::new(4);
        for tick in [10, 4, 7, 7, 1, 13, 2] {
            history.insert(at(tick));
        }
        let ticks: Vec<_> = history.iter().map(|s| s.tick.0).collect();
        assert_eq!(ticks, [4, 7, 10, 13], "2 arrived when the history was full of newer ones");
    }

    #[test]
    fn stamp_names_the_two_snapshots_around_the_time() {
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

    #[test]
    fn pose_at_a_time_is_the_pose_of_its_stamp() {
        let (mut history, sampler, bases) =
            (SnapshotHistory::default(), PoseSampler::default(), BaseView::default());
        for tick in [4, 7, 10, 40] {
            history.insert(Snapshot::new(Tick(tick), Vec3::X * (tick * tick) as f32, Vec3::Z));
        }
        for ticks in 0..200 {
            let time = ViewTime::after(Tick(0), f64::from(ticks) * 0.3);
            let stamped = history.stamp(time).and_then(|stamp| history.pose(stamp, &sampler, &bases));
            assert_eq!(history.pose_at(time, &sampler, &bases), stamped, "{time:?}");
            assert_eq!(stamped.is_some(), time.tick.0 >= 4);
        }
    }
}
